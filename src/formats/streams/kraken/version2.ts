/**
 * Version 2 of the KrakenSDR's firmware: packets sent without requests. Eight big-endian words, then for each channel
 * frequency and gain as little-endian float32, then unsigned bytes I, Q, channel by channel, of which 128 is zero. No
 * counter, no time, no sample rate, no overdrive flag: loss cannot be detected.
 */
import type { KrakenFrame } from './frame.js';

export const WORDS_BYTES = 32;
/** "MCHQ". */
export const MAGIC = 0x4d434851;
const CHANNEL_BYTES = 8;
/** State of the receiver's phase calibration: finished. */
const CONVERGED = 4;

export interface Version2Words extends Pick<
  KrakenFrame,
  'kind' | 'channels' | 'samples' | 'isSynchronised' | 'isRetuning'
> {
  /** How often the receiver was retuned. */
  readonly changes: number;
}

/** Undefined if the magic word is wrong. */
export function readWords(bytes: Uint8Array): Version2Words | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, WORDS_BYTES);
  const word = (n: number): number => view.getUint32(4 * n, false);
  if (word(0) !== MAGIC) return undefined;
  return {
    kind: word(4) === 0 ? 'data' : 'calibration',
    channels: word(1),
    samples: word(2),
    isSynchronised: word(3) === CONVERGED,
    isRetuning: word(7) !== 0,
    changes: word(5),
  };
}

/** After the words: the channel descriptions, then the samples. */
export const restBytes = ({ channels, samples }: Pick<Version2Words, 'channels' | 'samples'>): number =>
  CHANNEL_BYTES * channels + 2 * channels * samples;

export const samplesFrom = (channels: number): number => CHANNEL_BYTES * channels;

/** Of the first channel: float32, so that 1575.42 MHz reads as 1575.420032 MHz. */
export const frequencyOf = (rest: Uint8Array): number =>
  new DataView(rest.buffer, rest.byteOffset, CHANNEL_BYTES).getFloat32(0, true);

/** Everything before the samples. */
export function writeWords({
  channels,
  samples,
  frequencyHz,
  isNoise = false,
}: Pick<KrakenFrame, 'channels' | 'samples' | 'frequencyHz'> & { readonly isNoise?: boolean }): Uint8Array {
  const bytes = new Uint8Array(WORDS_BYTES + CHANNEL_BYTES * channels);
  const view = new DataView(bytes.buffer);
  [MAGIC, channels, samples, isNoise ? 1 : CONVERGED, isNoise ? 1 : 0, 0, 0, 0].forEach((value, n) => {
    view.setUint32(4 * n, value, false);
  });
  for (let a = 0; a < channels; a++) view.setFloat32(WORDS_BYTES + CHANNEL_BYTES * a, frequencyHz, true);
  return bytes;
}
