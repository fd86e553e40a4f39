/** What recordings that arrive already channelised (GUPPI RAW, DADA) share: bands and bytes. */
import { refuse } from '../core/errors.js';
import type { FrameTally } from './format.js';

export interface Band {
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

/** A run of bytes to samples of one channel and input. */
export interface Copy {
  readonly from: Uint8Array;
  readonly fromIndex: number;
  /** Bytes from one sample to the next. */
  readonly step: number;
  readonly count: number;
  readonly to: Int8Array;
  readonly toIndex: number;
}

/**
 * Copies complex int8. A band that falls in frequency was mixed with its sidebands swapped, so its samples are
 * the conjugates of what a rising band would hold. −128, which spectra never hold, becomes −127 and is counted.
 */
export function copyComplexBytes(copy: Copy, sideband: 'upper' | 'lower', tally: FrameTally): void {
  const { from, to, step } = copy;
  let at = copy.fromIndex;
  let out = copy.toIndex;
  for (let t = 0; t < copy.count; t++, at += step) {
    let re = (from[at] << 24) >> 24;
    let im = (from[at + 1] << 24) >> 24;
    if (re === -128) {
      re = -127;
      tally.saturated++;
    }
    if (im === -128) {
      im = -127;
      tally.saturated++;
    }
    to[out++] = re;
    to[out++] = sideband === 'lower' ? -im : im;
  }
}
