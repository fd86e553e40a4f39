/** Shared by already channelised recordings (GUPPI RAW, DADA): headers, bands and bytes. */
import { refuse } from '../../core/errors.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import { formatHz } from '../../core/units.js';
import type { FrameTally } from '../format.js';

interface Band {
  readonly centreFrequencyHz: number;
  /** Negative if the file's channels descend in frequency. */
  readonly bandwidthHz: number;
  readonly channels: number;
}

/** Ascending, as everywhere in this code. */
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

/** The complex sample rate equals the bandwidth; an oversampling filterbank has up to twice that. */
const MOST_OVERSAMPLED = 2;
const ABOUT = 0.01;

/** Refuses a header whose clock and band contradict each other. `clock` and `band` are the header keys. */
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

/** A number of a text header, or the default if the key is absent. */
export function numberOf(
  path: string,
  keys: ReadonlyMap<string, string>,
  key: string,
  otherwise?: number,
): number {
  const text = keys.get(key);
  const value = text === undefined ? otherwise : Number(text);
  if (value === undefined || !Number.isFinite(value))
    refuse(
      path,
      text === undefined ? `its header lacks ${key}` : `its header says ${key} = '${text}'`,
      'the header is damaged, or of another kind of file',
    );
  return value;
}

/** 1/3.2e-7 is 3125000 except for the last bit: a rate this close to a whole number is rounded to it. */
export const wholeIfNear = (rateHz: number): number =>
  Math.abs(rateHz - Math.round(rateHz)) <= 1e-9 * rateHz ? Math.round(rateHz) : rateHz;

/** Bits per part of a complex sample. */
export type PairBits = 4 | 8 | 16;

/** Copies a run of bytes to samples of one channel and input. */
interface Copy {
  readonly from: Uint8Array;
  readonly fromIndex: number;
  /** Bytes from one sample to the next. */
  readonly step: number;
  readonly count: number;
  readonly to: Int8Array | Float32Array;
  readonly toIndex: number;
}

/** The byte format of pairs (re, im), always two's complement. */
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
 * Copies complex integers. A band that descends in frequency was mixed with swapped sidebands, so its samples are the
 * conjugates of an ascending band's. −128, which byte spectra never contain, becomes −127 and is counted.
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
