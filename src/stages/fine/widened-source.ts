/** Voltages of 8 bits as 16: their filter's taps are then floats instead of 16-bit integers, and cost more. */
import { voltagesAT } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import type { VoltageSource } from '../../core/sources.js';

const wider = { i8: 'i16', ci8: 'ci16' } as const;

/** The same numbers in the same unit; other types stay as they are. */
export function widenedSource<Source extends VoltageSource>(source: Source): Source {
  const { type } = source;
  if (type !== 'i8' && type !== 'ci8') return source;
  const made = wider[type];
  let room = new Int16Array(0);
  async function* blocks(...asked: Parameters<VoltageSource['blocks']>): AsyncGenerator<VoltageBlock> {
    for await (const block of source.blocks(...asked)) {
      const { voltages, inputs, samples } = block;
      if (room.length < voltages.length) room = new Int16Array(voltages.length);
      const numbers = room.subarray(0, voltages.length);
      numbers.set(voltages);
      yield { ...block, type: made, voltages: voltagesAT(numbers, made, inputs, samples) };
    }
  }
  // Full scale stays that of 8 bits.
  return { ...source, type: made, bits: source.bits ?? 8, blocks };
}
