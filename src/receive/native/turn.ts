/** The corner turn in C++ (turn.cpp), on another thread, so that the event loop continues. */
import { callApart, loadNative, type Absence } from '../../backend/cpu/library.js';
import type { RingPlan } from '../plan.js';
import { allocateTurned, elementsOf, levelTable, stepsOf, type CornerTurn } from '../turn.js';

/** Large blocks are split over some of Node's pool threads, by source. */
const SHARES = 3;
const SHARED_BYTES = 2 ** 20;

export function nativeTurn({ stream, slotsPerBlock }: RingPlan): CornerTurn | Absence {
  const library = loadNative();
  if ('what' in library) return library;
  const native = library.function(
    `int32_t corella_turn_cells(char *error, const int64_t *shape, const int64_t *boxes, int32_t bytes,
      const uint8_t *cells, const void *presence, const void *table, const int64_t *levels,
      void *target)`,
  );
  const { cell, senders, fragments, cellBytes, inputs, samplesPerSlot, channels } = stream;
  const { bits, sizes } = cell;
  const steps = stepsOf(cell);
  const elements = elementsOf(stream);
  const sample = allocateTurned(stream, 1);
  const isWide = bits > 8;
  const { table, each } = isWide ? { table: [0], each: 0 } : levelTable(stream);
  // The same array type as the target.
  const kind = sample.constructor as new (values: readonly number[]) => typeof sample;
  const levels = new kind(table);
  const turnOf = cell.code === 'offset' ? [2 ** (bits - 1), 0] : [2 ** bits, 2 ** (bits - 1)];
  if (isWide && cell.levels === 'symmetric') throw new Error('corner turn: symmetric levels of wide numbers');
  const boxes = BigInt64Array.from(
    senders.flatMap(({ firstInput, firstChannel }) => [firstInput, firstChannel]),
    BigInt,
  );
  return async (block, { first, end }, target) => {
    const samples = (end - first) * samplesPerSlot;
    if (target.length !== channels * inputs * samples * elements || first < 0 || end > slotsPerBlock) {
      throw new Error(`corner turn: ${target.length} elements for slots ${first} to ${end}`);
    }
    const shape = [
      senders.length,
      fragments,
      slotsPerBlock,
      first,
      end,
      cellBytes,
      inputs,
      samplesPerSlot,
      sizes.c,
      sizes.t,
      sizes.a,
      steps.c,
      steps.t,
      steps.a,
      elements,
      bits,
      cell.bitsFrom === 'lowest' ? 1 : 0,
      each,
      stream.type === 'ci4' ? 1 : 0,
    ];
    const part = (firstSender: number, endSender: number): Promise<void> =>
      callApart(
        'corner turn',
        native,
        BigInt64Array.from([...shape, firstSender, endSender], BigInt),
        boxes,
        sample.BYTES_PER_ELEMENT,
        block.cells,
        block.presence.bits,
        levels,
        BigInt64Array.from(turnOf, BigInt),
        target,
      );
    const parts = target.byteLength < SHARED_BYTES ? 1 : Math.min(SHARES, senders.length);
    const edges = Array.from({ length: parts + 1 }, (_, n) => Math.floor((n * senders.length) / parts));
    await Promise.all(edges.slice(1).map((endSender, n) => part(edges[n], endSender)));
  };
}
