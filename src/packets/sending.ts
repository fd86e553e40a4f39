/** Shared by the formats: planning a stream to send. */
import { refuse } from '../core/errors.js';
import type { SpectraSource } from '../core/sources.js';
import { formatHz } from '../core/units.js';
import type { SpectraBand } from './packet-format.js';

/** Fits a jumbo frame with the headers of any format. */
export const MOST_PAYLOAD = 8192;

/** The largest divisor that fits; 1 if none does. */
export function largestPart(whole: number, fits: (part: number) => boolean): number {
  const divisors: number[] = [];
  for (let part = 1; part * part <= whole; part++) if (whole % part === 0) divisors.push(part, whole / part);
  return divisors.filter(fits).reduce((most, part) => Math.max(most, part), 1);
}
export const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, k) => k + from);

/** The number of the first channel, in formats that count channels from 0 Hz. */
export function firstChannelOf({ frequenciesHz }: SpectraSource, format: string, widthHz: number): number {
  const first = Math.round(frequenciesHz[0] / widthHz);
  if (Math.abs(first * widthHz - frequenciesHz[0]) > 1e-3 * widthHz)
    refuse(
      format,
      `the first channel is at ${formatHz(frequenciesHz[0])}, which is no multiple of ${formatHz(widthHz)}`,
      'choose the middle of the band so that it is',
    );
  return first;
}

/** Channels numbered from 0 Hz. */
export const numberedBand = (channels: number, firstChannel: number, widthHz: number): SpectraBand => ({
  frequenciesHz: Float64Array.from({ length: channels }, (_, c) => firstChannel * widthHz + c * widthHz),
  channelWidthHz: widthHz,
});
