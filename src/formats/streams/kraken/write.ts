/** Blocks of voltages as KrakenSDR frames. */
import type { VoltageBlock } from '../../../core/blocks.js';
import { refuse } from '../../../core/errors.js';
import type { Instant } from '../../../core/instant.js';
import type { VoltageSource } from '../../../core/sources.js';
import { MOST_CHANNELS } from './frame.js';
import { HEADER_BYTES, writeHeader } from './version1.js';
import { writeWords } from './version2.js';

/** Full scale of integers, which is 1 in version 1. */
const fullScales = { ci8: 128, ci16: 32_768, cf32: 1 } as const;

/** Makes a frame of a block: a copy. */
export function krakenFrames(
  source: VoltageSource,
  version: 1 | 2,
): (block: VoltageBlock, index: number, start: Instant) => Uint8Array {
  const { type, inputs, sampleRateHz, centreFrequencyHz: frequencyHz } = source;
  if (inputs > MOST_CHANNELS)
    refuse(
      'kraken',
      `${inputs} inputs`,
      `a KrakenSDR has at most ${MOST_CHANNELS} channels: choose as many stations`,
    );
  if (type !== 'ci8' && type !== 'ci16' && type !== 'cf32')
    refuse(
      'kraken',
      `samples of type ${type} are real numbers`,
      'its samples are complex: ci8, ci16 or cf32',
    );
  if (version === 2 && type !== 'ci8')
    refuse('kraken2', `samples of type ${type}`, 'version 2 has 8 bits: send ci8');
  const scale = fullScales[type];
  return ({ voltages, samples }, index, start) => {
    const facts = { channels: inputs, samples, frequencyHz };
    if (version === 2) {
      const bytes = joined(writeWords(facts), voltages.length);
      const first = bytes.length - voltages.length;
      for (let n = 0; n < voltages.length; n++) bytes[first + n] = voltages[n] + 128;
      return bytes;
    }
    const timeMs = Math.round(1000 * (start.unixSeconds + start.fraction));
    const header = writeHeader({ ...facts, kind: 'data', sampleRateHz, index, timeMs });
    const bytes = joined(header, 4 * voltages.length);
    const values = new Float32Array(bytes.buffer, HEADER_BYTES);
    for (let n = 0; n < voltages.length; n++) values[n] = voltages[n] / scale;
    return bytes;
  };
}

function joined(head: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(head.length + bytes);
  all.set(head);
  return all;
}
