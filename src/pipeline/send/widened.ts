/** Real voltages of 8 bits as those of a digitiser of 10, which are kept in 16: the same numbers. */
import { voltagesAT } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import type { VoltageSource } from '../../core/sources.js';

const BITS = 10;
const MOST = 2 ** (BITS - 1) - 1;

export function widenedSource(source: VoltageSource): VoltageSource {
  async function* blocks(blockSamples: number): AsyncGenerator<VoltageBlock> {
    for await (const block of source.blocks(blockSamples)) {
      const { inputs, samples, voltages } = block;
      const wide = Int16Array.from(voltages);
      const beyond = wide.find((value) => Math.abs(value) > MOST);
      if (beyond !== undefined)
        refuse(
          'spead-digitiser',
          `a sample is ${beyond}, and its packets hold ${BITS} bits, ±${MOST}`,
          'send a recording of type i8, or one that was made with 10 bits',
        );
      yield { ...block, type: 'i16', voltages: voltagesAT(wide, 'i16', inputs, samples) };
    }
  }
  return { ...source, type: 'i16', bits: BITS, blocks };
}
