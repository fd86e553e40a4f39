/** Folds a filterbank at a period: the profile, over time and over frequency. Times are topocentric. */
import { refuse, wholeNumber } from '../core/errors.js';
import { secondsBetween, type Instant } from '../core/instant.js';
import type { Filterbank } from '../formats/index.js';
import { channelLevels, forEachValue } from './channels.js';
import { channelFrequenciesHz, dispersionS, topHz } from './dispersion.js';

interface FoldOptions {
  /** Spin frequency at the epoch, and its derivative. */
  readonly frequencyHz: number;
  readonly frequencyRateHzS?: number;
  /** Of the pulsar's phase 0; by default the start of the file. */
  readonly epoch?: Instant;
  readonly dm: number;
  readonly bins: number;
  readonly subIntegrations: number;
  readonly subBands: number;
}

export interface Folded {
  readonly bins: number;
  /** [bin], in standard deviations of its noise, mean 0. */
  readonly profile: Float64Array;
  /** [sub-integration][bin] and [sub-band][bin], in the same unit; sub-bands from the lowest frequency upwards. */
  readonly overTime: Float64Array;
  readonly overFrequency: Float64Array;
  /** Of the best boxcar. */
  readonly snr: number;
  /** Its centre, 0 to 1, and its width in turns. */
  readonly phase: number;
  readonly width: number;
}

export async function foldFilterbank(file: Filterbank, options: FoldOptions): Promise<Folded> {
  const { header } = file;
  const { dm, subIntegrations, subBands, frequencyHz, frequencyRateHzS = 0, epoch = header.start } = options;
  const bins = wholeNumber('fold', 'bins', options.bins, 4, 2 ** 16);
  if (!(frequencyHz > 0)) refuse('fold', `a period of ${1 / frequencyHz} s is none`, 'give more than 0');
  if (2 * header.valueS * frequencyHz > 1)
    refuse(
      'fold',
      `a period of ${1 / frequencyHz} s has fewer than two values of ${header.valueS} s`,
      'fold a finer file',
    );
  const levels = await channelLevels(file);
  const { channels } = header;
  const frequenciesHz = channelFrequenciesHz(header);
  const delays = frequenciesHz.map((one) => dispersionS(dm, one, topHz(header)));
  const used = Array.from({ length: channels }, (_, c) => c).filter((c) => levels.deviation[c] > 0);
  if (used.length === 0) refuse(file.path, 'no channel ever changes', 'fold another file');
  const isFalling = header.channelStepHz < 0;
  const bandOf = (c: number): number =>
    Math.floor(((isFalling ? channels - 1 - c : c) * subBands) / channels);
  const sums = new Float64Array(subIntegrations * subBands * bins);
  const counts = new Float64Array(sums.length);
  const sinceS = secondsBetween(epoch, header.start);
  await forEachValue(file, (value, row) => {
    const part = Math.floor((value * subIntegrations) / file.values);
    for (const c of used) {
      if (!Number.isFinite(row[c])) continue;
      const timeS = sinceS + (value + 0.5) * header.valueS - delays[c];
      const turns = timeS * frequencyHz + (timeS * timeS * frequencyRateHzS) / 2;
      const bin = Math.min(bins - 1, Math.floor((turns - Math.floor(turns)) * bins));
      const at = (part * subBands + bandOf(c)) * bins + bin;
      sums[at] += (row[c] - levels.mean[c]) / levels.deviation[c];
      counts[at]++;
    }
  });
  const joined = (rows: number, rowOf: (part: number, band: number) => number): Float64Array => {
    const [sum, count] = [new Float64Array(rows * bins), new Float64Array(rows * bins)];
    for (let part = 0; part < subIntegrations; part++)
      for (let band = 0; band < subBands; band++)
        for (let bin = 0; bin < bins; bin++) {
          const from = (part * subBands + band) * bins + bin;
          sum[rowOf(part, band) * bins + bin] += sums[from];
          count[rowOf(part, band) * bins + bin] += counts[from];
        }
    return sum.map((one, n) => (count[n] > 0 ? one / Math.sqrt(count[n]) : 0));
  };
  const profile = joined(1, () => 0);
  return {
    bins,
    profile,
    ...bestBoxcar(profile),
    overTime: joined(subIntegrations, (part) => part),
    overFrequency: joined(subBands, (_, band) => band),
  };
}

/** The circular boxcar with the highest signal-to-noise ratio against the bins outside it, whose noise is 1. */
export function bestBoxcar(profile: Float64Array): Pick<Folded, 'snr' | 'phase' | 'width'> {
  const bins = profile.length;
  const total = profile.reduce((sum, one) => sum + one, 0);
  let best = { snr: -Infinity, phase: 0, width: 0 };
  for (let wide = 1; wide <= bins / 2; wide = Math.max(wide + 1, Math.floor(wide * 1.2)))
    for (let first = 0, inside = sumOf(profile, 0, wide); first < bins; first++) {
      const outside = bins - wide;
      const snr = (inside / wide - (total - inside) / outside) / Math.sqrt(1 / wide + 1 / outside);
      if (snr > best.snr) best = { snr, phase: ((first + wide / 2) / bins) % 1, width: wide / bins };
      inside += profile[(first + wide) % bins] - profile[first];
    }
  return best;
}

const sumOf = (values: Float64Array, first: number, count: number): number =>
  values.subarray(first, first + count).reduce((sum, one) => sum + one, 0);
