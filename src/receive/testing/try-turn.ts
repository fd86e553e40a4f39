/** Compares a corner turn with `unpackCell`, packet slot by slot, with bits missing and outputs full of garbage. */
import assert from 'node:assert/strict';
import { packNibbles } from '../../core/nibbles.js';
import { emptyPresence, fragmentRange, isPresent, markSlots } from '../../core/presence/presence.js';
import { randomStream } from '../../core/random.js';
import { unpackCell } from '../../packets/cell.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import { blockBytesOf, planRing, type RingPlan } from '../plan.js';
import type { ArrivedBlock } from '../ring.js';
import { allocateTurned, elementsOf, type CornerTurn } from '../turn.js';

const SLOTS = 70;

/** A block of random bytes with a quarter of its packets missing. */
export function randomBlock(plan: RingPlan, seed: number): ArrivedBlock {
  const { stream, slotsPerBlock } = plan;
  const random = randomStream(seed, 'turn', stream.format);
  const presence = emptyPresence(stream.senders.length, stream.fragments, slotsPerBlock);
  for (let row = 0; row < presence.senders * presence.fragments; row++) {
    for (let slot = 0; slot < slotsPerBlock; slot++) {
      if (random.below(4) > 0) markSlots(presence, row, slot, slot + 1, 'present');
    }
  }
  const cells = Uint8Array.from({ length: blockBytesOf(plan) }, () => random.below(256));
  return {
    cells,
    presence,
    startTick: 0n,
    session: 0,
    epoch: 0n,
    skippedBlocks: 0,
    missingCells: 0,
    arrivedUnixNs: 0n,
    release: () => undefined,
  };
}

export async function tryTurn(stream: StreamPlan, prepare: (plan: RingPlan) => CornerTurn): Promise<void> {
  const plan = planRing(stream, { slotsPerBlock: SLOTS, blocks: 8 });
  const block = randomBlock(plan, 5);
  const turn = prepare(plan);
  for (const { first, end } of [
    { first: 0, end: SLOTS },
    { first: 33, end: 66 },
    { first: 69, end: 70 },
  ]) {
    const turned = allocateTurned(stream, (end - first) * stream.samplesPerSlot);
    turned.fill(77);
    await turn(block, { first, end }, turned);
    const expected = allocateTurned(stream, (end - first) * stream.samplesPerSlot);
    expectTurned(plan, block, first, end, expected);
    assert.ok(
      Buffer.compare(bytesOf(turned), bytesOf(expected)) === 0,
      `${stream.format}, slots ${first} to ${end}`,
    );
  }
}

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Number by number, through the reference. */
function expectTurned(
  { stream, slotsPerBlock }: RingPlan,
  block: ArrivedBlock,
  first: number,
  end: number,
  target: ReturnType<typeof allocateTurned>,
): void {
  const { cell, cellBytes, fragments, inputs, samplesPerSlot } = stream;
  const samples = (end - first) * samplesPerSlot;
  const numbers = new Float32Array(cell.sizes.c * cell.sizes.a * cell.sizes.t * cell.parts);
  for (let row = 0; row < stream.senders.length * fragments; row++) {
    const box = fragmentRange(stream, Math.floor(row / fragments), row % fragments);
    for (let slot = first; slot < end; slot++) {
      if (!isPresent(block.presence, row, slot)) continue;
      const at = (row * slotsPerBlock + slot) * cellBytes;
      unpackCell(cell, block.cells.subarray(at, at + cellBytes), numbers);
      for (let c = 0; c < cell.sizes.c; c++) {
        for (let a = 0; a < cell.sizes.a; a++) {
          for (let t = 0; t < cell.sizes.t; t++) {
            const from = ((c * cell.sizes.a + a) * cell.sizes.t + t) * cell.parts;
            const line = (box.firstChannel + c) * inputs + box.firstInput + a;
            const to = line * samples + (slot - first) * samplesPerSlot + t;
            if (stream.type === 'ci4') target[to] = packNibbles(numbers[from], numbers[from + 1]);
            else {
              for (let part = 0; part < cell.parts; part++) {
                target[to * elementsOf(stream) + part] = numbers[from + part];
              }
            }
          }
        }
      }
    }
  }
}
