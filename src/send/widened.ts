/** 8-bit real voltages as those of a digitiser with more bits, kept in 16 bits: the same numbers. */
import { voltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import type { VoltageSource } from '../core/sources.js';

export function widenedSource(source: VoltageSource, format: string, bits: number): VoltageSource {
  const most = 2 ** (bits - 1) - 1;
  async function* blocks(blockSamples: number): AsyncGenerator<VoltageBlock> {
    for await (const block of source.blocks(blockSamples)) {
      const { inputs, samples, voltages } = block;
      const wide = Int16Array.from(voltages);
      const beyond = wide.find((value) => Math.abs(value) > most);
      if (beyond !== undefined)
        refuse(
          format,
          `a sample is ${beyond}, and its packets hold ${bits} bits, ±${most}`,
          `send a recording of type i8, or one that was made with ${bits} bits`,
        );
      yield { ...block, type: 'i16', voltages: voltagesAT(wide, 'i16', inputs, samples) };
    }
  }
  return { ...source, type: 'i16', bits, blocks };
}
