/**
 * The corner turn: from cells [sender][fragment][slot] to [c][a][t], with zeros for missing packets. This is the
 * TypeScript version; native/turn.ts does the same in C++. Tests compare both with `unpackCell`, number by number.
 */
import { allocateSpectra, allocateVoltages, type SpectraCAT, type VoltagesAT } from '../core/axes.js';
import { highNibble, lowNibble, packNibbles } from '../core/nibbles.js';
import { fragmentRange, isPresent } from '../core/presence/presence.js';
import { HIGH_LEVEL } from '../core/units.js';
import { cellNumbers, type CellOrder } from '../packets/cell.js';
import type { StreamPlan } from '../packets/packet-format.js';
import type { RingPlan } from './plan.js';
import type { ArrivedBlock } from './ring.js';

/** [c][a][t], or [a][t] of voltages, whose only channel is 0. */
export type Turned = SpectraCAT | VoltagesAT;

/** Writes every element of `target`: the slots from `first` up to, not including, `end`. */
export type CornerTurn = (
  block: ArrivedBlock,
  slots: { readonly first: number; readonly end: number },
  target: Turned,
) => Promise<void> | void;

export function allocateTurned({ type, channels, inputs }: StreamPlan, samples: number): Turned {
  return type === 'ci4'
    ? allocateSpectra(type, channels, inputs, samples)
    : allocateVoltages(type, channels * inputs, samples);
}

/** Elements per sample: nibbles stay together in a byte. */
export const elementsOf = ({ type, cell }: Pick<StreamPlan, 'type' | 'cell'>): 1 | 2 =>
  type === 'ci4' ? 1 : cell.parts;

export function turnCells({ stream, slotsPerBlock }: RingPlan): CornerTurn {
  const { cell, cellBytes, fragments, inputs, samplesPerSlot } = stream;
  const decode = cellDecoder(stream);
  const elements = elementsOf(stream);
  const steps = stepsOf(cell);
  return (block, { first, end }, target) => {
    const samples = (end - first) * samplesPerSlot;
    if (target.length !== stream.channels * inputs * samples * elements) {
      throw new Error(`corner turn: ${target.length} elements for ${samples} samples`);
    }
    stream.senders.forEach((_, sender) => {
      for (let fragment = 0; fragment < fragments; fragment++) {
        const row = sender * fragments + fragment;
        const box = fragmentRange(stream, sender, fragment);
        for (let slot = first; slot < end; slot++) {
          const start = (row * slotsPerBlock + slot) * cellBytes;
          const numbers = isPresent(block.presence, row, slot)
            ? decode(block.cells.subarray(start, start + cellBytes))
            : undefined;
          for (let c = 0; c < cell.sizes.c; c++) {
            for (let a = 0; a < cell.sizes.a; a++) {
              const line = (box.firstChannel + c) * inputs + box.firstInput + a;
              let to = (line * samples + (slot - first) * samplesPerSlot) * elements;
              let from = (c * steps.c + a * steps.a) * elements;
              for (let t = 0; t < cell.sizes.t; t++, from += steps.t * elements) {
                for (let part = 0; part < elements; part++) target[to++] = numbers?.[from + part] ?? 0;
              }
            }
          }
        }
      }
    });
  };
}

/** Samples from one index of each axis to the next. */
export function stepsOf({ axes, sizes }: CellOrder): Readonly<Record<'c' | 't' | 'a', number>> {
  const [, middle, fast] = axes;
  const steps = { c: 1, t: 1, a: 1 };
  steps[middle] = sizes[fast];
  steps[axes[0]] = sizes[fast] * sizes[middle];
  return steps;
}

/** All elements of a cell in memory order; the array is reused. */
function cellDecoder(stream: StreamPlan): (bytes: Uint8Array) => ArrayLike<number> {
  const { cell } = stream;
  const numbers = new Float32Array(cellNumbers(cell) / (stream.type === 'ci4' ? 2 : 1));
  if (cell.bits > 8) {
    return (bytes) => {
      for (let n = 0; n < numbers.length; n++) numbers[n] = levelOf(cell, wideCode(cell, bytes, n));
      return numbers;
    };
  }
  const { table, each } = levelTable(stream);
  return (bytes) => {
    for (let n = 0; n < bytes.length; n++) {
      for (let k = 0; k < each; k++) numbers[n * each + k] = table[bytes[n] * each + k];
    }
    return numbers;
  };
}

/** The values of each byte. table : [byte][each], for numbers no longer than a byte. */
export function levelTable({ type, cell }: StreamPlan): {
  readonly table: readonly number[];
  readonly each: number;
} {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  if (type === 'ci4') {
    const table = bytes.map((byte) =>
      packNibbles(Math.max(-7, highNibble(byte)), Math.max(-7, lowNibble(byte))),
    );
    return { table, each: 1 };
  }
  const each = 8 / cell.bits;
  const table = bytes.flatMap((byte) =>
    Array.from({ length: each }, (_, k) => levelOf(cell, codeIn(cell, byte, k))),
  );
  return { table, each };
}

/** Number k of a byte. */
const codeIn = ({ bits, bitsFrom }: CellOrder, byte: number, k: number): number =>
  (byte >> (bitsFrom === 'highest' ? 8 - (k + 1) * bits : k * bits)) & (2 ** bits - 1);

/** Number k where numbers are longer than a byte. */
function wideCode({ bits, bitsFrom }: CellOrder, bytes: Uint8Array, k: number): number {
  const first = k * bits;
  const at = first >> 3;
  const [one, two, three] = [bytes[at], bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
  const word =
    bitsFrom === 'highest'
      ? ((one << 16) | (two << 8) | three) >> (24 - (first & 7) - bits)
      : ((three << 16) | (two << 8) | one) >> (first & 7);
  return word & (2 ** bits - 1);
}

const HIGH = Math.fround(HIGH_LEVEL);

function levelOf({ bits, code: kind, levels }: CellOrder, code: number): number {
  const half = 2 ** (bits - 1);
  if (kind === 'offset') {
    if (bits === 1) return code === 0 ? -1 : 1;
    if (bits === 2) return [-HIGH, -1, 1, HIGH][code];
    return code - half;
  }
  const value = code >= half ? code - 2 * half : code;
  return levels === 'symmetric' && value === -half ? value + 1 : value;
}
