/** What recordings that arrive already channelised (GUPPI RAW, DADA) share: bands and bytes. */
import { refuse } from '../../core/errors.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import { formatHz } from '../../core/units.js';
import type { FrameTally } from '../format.js';

interface Band {
  readonly centreFrequencyHz: number;
  /** Negative when the file's channels fall in frequency. */
  readonly bandwidthHz: number;
  readonly channels: number;
}

/** Rising, as everywhere in the house. */
export function channelFrequencies(
  path: string,
  band: Band,
): { frequenciesHz: Float64Array; channelWidthHz: number } {
  const channelWidthHz = Math.abs(band.bandwidthHz) / band.channels;
  if (!(channelWidthHz > 0) || !Number.isFinite(channelWidthHz) || !Number.isFinite(band.centreFrequencyHz)) {
    refuse(
      path,
      `its band is ${band.bandwidthHz} Hz around ${band.centreFrequencyHz} Hz`,
      'the header is damaged',
    );
  }
  const frequenciesHz = Float64Array.from(
    { length: band.channels },
    (_, c) => band.centreFrequencyHz + (c - (band.channels - 1) / 2) * channelWidthHz,
  );
  return { frequenciesHz, channelWidthHz };
}

/** As often as a band is wide its complex samples come; up to twice as often where a filterbank oversamples. */
const MOST_OVERSAMPLED = 2;
const ABOUT = 0.01;

/** Refuses a header whose clock and band are not of one recording. `clock` and `band` are the keys that say so. */
export function refuseOtherRate(
  path: string,
  { rateHz, clock }: { readonly rateHz: number; readonly clock: string },
  { widthHz, band }: { readonly widthHz: number; readonly band: string },
): void {
  const ratio = rateHz / widthHz;
  if (ratio >= 1 - ABOUT && ratio <= MOST_OVERSAMPLED * (1 + ABOUT)) return;
  refuse(
    path,
    `its header contradicts itself: ${clock} makes a band of ${formatHz(rateHz)}, ${band} one of ${formatHz(widthHz)}`,
    'correct the one that is wrong',
  );
}

/** Bits of each part of a complex sample. */
export type PairBits = 4 | 8 | 16;

/** A run of bytes to samples of one channel and input. */
interface Copy {
  readonly from: Uint8Array;
  readonly fromIndex: number;
  /** Bytes from one sample to the next. */
  readonly step: number;
  readonly count: number;
  readonly to: Int8Array | Float32Array;
  readonly toIndex: number;
}

/** How the bytes hold their pairs (re, im), two's complement throughout. */
const pairs: Readonly<
  Record<PairBits, Readonly<Record<'re' | 'im', (bytes: Uint8Array, at: number) => number>>>
> = {
  4: { re: (bytes, at) => highNibble(bytes[at]), im: (bytes, at) => lowNibble(bytes[at]) },
  8: { re: (bytes, at) => (bytes[at] << 24) >> 24, im: (bytes, at) => (bytes[at + 1] << 24) >> 24 },
  16: {
    re: (bytes, at) => ((bytes[at] | (bytes[at + 1] << 8)) << 16) >> 16,
    im: (bytes, at) => ((bytes[at + 2] | (bytes[at + 3] << 8)) << 16) >> 16,
  },
};

/**
 * Copies complex integers. A band that falls in frequency was mixed with its sidebands swapped, so its samples are
 * the conjugates of what a rising band would hold. −128, which spectra of bytes never hold, becomes −127 and is counted.
 */
export function copyComplex(
  copy: Copy,
  as: { readonly bits: PairBits; readonly sideband: 'upper' | 'lower'; readonly tally: FrameTally },
): void {
  const { from, to, step } = copy;
  const { re: readRe, im: readIm } = pairs[as.bits];
  const lowest = as.bits === 16 ? -Infinity : -127;
  let at = copy.fromIndex;
  let out = copy.toIndex;
  for (let t = 0; t < copy.count; t++, at += step) {
    let re = readRe(from, at);
    let im = readIm(from, at);
    if (re < lowest) {
      re = lowest;
      as.tally.saturated++;
    }
    if (im < lowest) {
      im = lowest;
      as.tally.saturated++;
    }
    to[out++] = re;
    to[out++] = as.sideband === 'lower' ? -im : im;
  }
}
