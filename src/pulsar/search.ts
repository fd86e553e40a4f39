/**
 * Searches a filterbank for single pulses: dedispersed over a range of DM, summed over boxcars. Simple, on one thread.
 */
import { refuse } from '../core/errors.js';
import type { Filterbank } from '../formats/index.js';
import { channelLevels, forEachValue } from './channels.js';
import { DISPERSION_S_MHZ2 } from '../core/units.js';
import { bottomHz, channelFrequenciesHz, dispersionS, topHz } from './dispersion.js';

interface SearchOptions {
  readonly lowDm: number;
  readonly highDm: number;
  /** By default one sample of delay across the band. */
  readonly dmStep?: number;
  /** Longest boxcar. */
  readonly widestS?: number;
  /** Minimum signal-to-noise ratio of candidates. */
  readonly snr: number;
}

interface Candidate {
  /** From the start of the file to the centre of the pulse at `timesAtHz`. */
  readonly timeS: number;
  readonly dm: number;
  readonly widthS: number;
  readonly snr: number;
}

export interface Searched {
  /** The centre of the highest channel. */
  readonly timesAtHz: number;
  /** Strongest first; weaker ones that overlap a stronger one in time are left out. */
  readonly candidates: readonly Candidate[];
  readonly dms: Float64Array;
  /** [dm], the best signal-to-noise ratio at each. */
  readonly bestSnr: Float64Array;
}

/** Limit of floats in memory. */
const MOST_NUMBERS = 2 ** 29;
const MOST_DMS = 20_000;
const WIDEST_S = 0.1;

export async function searchFilterbank(file: Filterbank, options: SearchOptions): Promise<Searched> {
  const { header, values } = file;
  const { channels, valueS } = header;
  if (values * channels > MOST_NUMBERS)
    refuse(
      file.path,
      `${values} values of ${channels} channels are more than this search takes at once`,
      'cut it into shorter files, or average it in time or channels',
    );
  const dms = trialsOf(file, options);
  const spectra = await normalised(file);
  const frequenciesHz = channelFrequenciesHz(header);
  const widest = Math.max(
    1,
    Math.min(Math.floor(values / 4), Math.round((options.widestS ?? WIDEST_S) / valueS)),
  );
  const found: Candidate[] = [];
  const bestSnr = new Float64Array(dms.length);
  const series = new Float64Array(values);
  for (const [k, dm] of dms.entries()) {
    const shifts = frequenciesHz.map((one) => Math.round(dispersionS(dm, one, topHz(header)) / valueS));
    const length = values - Math.max(...shifts);
    if (length < 16) continue;
    series.fill(0, 0, length);
    for (let c = 0; c < channels; c++) {
      const row = spectra.subarray(c * values + shifts[c], c * values + shifts[c] + length);
      for (let t = 0; t < length; t++) series[t] += row[t];
    }
    bestSnr[k] = boxcars(series.subarray(0, length), widest, (first, width, snr) => {
      if (snr >= options.snr)
        found.push({ timeS: (first + width / 2) * valueS, dm, widthS: width * valueS, snr });
    });
  }
  return { timesAtHz: topHz(header), candidates: apart(found, file), dms, bestSnr };
}

function trialsOf(
  { header, path, values }: Filterbank,
  { lowDm, highDm, dmStep }: SearchOptions,
): Float64Array {
  if (!(lowDm >= 0 && highDm >= lowDm))
    refuse('search', `DM from ${lowDm} to ${highDm} is no range`, 'give 0 or more');
  const [low, top] = [bottomHz(header), topHz(header)];
  const perDmS = DISPERSION_S_MHZ2 * ((1e6 / low) ** 2 - (1e6 / top) ** 2);
  const step = dmStep ?? header.valueS / perDmS;
  if (!(step > 0)) refuse('search', `a step of ${step} in DM is none`, 'give more than 0');
  const count = Math.floor((highDm - lowDm) / step + 1e-9) + 1;
  if (count > MOST_DMS)
    refuse('search', `${count} values of DM are too many`, `take a wider step, ${MOST_DMS} at most`);
  if (lowDm * perDmS > (values - 16) * header.valueS)
    refuse(
      path,
      `is shorter than the delay of DM ${lowDm} across its band`,
      'search lower DMs, or a longer file',
    );
  return Float64Array.from({ length: count }, (_, k) => lowDm + k * step);
}

/** spectra : [c][t], each channel with mean 0 and deviation 1; 0 if a channel is left out. */
async function normalised(file: Filterbank): Promise<Float32Array> {
  const { values, header } = file;
  const { mean, deviation } = await channelLevels(file);
  const spectra = new Float32Array(header.channels * values);
  await forEachValue(file, (value, row) => {
    for (let c = 0; c < header.channels; c++)
      if (deviation[c] > 0 && Number.isFinite(row[c]))
        spectra[c * values + value] = (row[c] - mean[c]) / deviation[c];
  });
  return spectra;
}

/** Calls `take` for the best position of each width in windows of that width; returns the best of all. */
function boxcars(
  series: Float64Array,
  widest: number,
  take: (first: number, width: number, snr: number) => void,
): number {
  const sorted = Float64Array.from(series).sort();
  const median = sorted[Math.floor(sorted.length / 2)];
  // From the quartiles, so that pulses do not count as noise.
  const deviation =
    (sorted[Math.floor(0.75 * (sorted.length - 1))] - sorted[Math.floor(0.25 * (sorted.length - 1))]) / 1.349;
  if (!(deviation > 0)) return 0;
  const sums = new Float64Array(series.length + 1);
  for (let t = 0; t < series.length; t++) sums[t + 1] = sums[t] + series[t] - median;
  let best = 0;
  for (
    let width = 1;
    width <= Math.min(widest, series.length);
    width = Math.max(width + 1, Math.floor(width * 1.4))
  )
    for (let first = 0; first + width <= series.length;) {
      const end = Math.min(series.length - width, first + width);
      let [at, most] = [first, -Infinity];
      for (; first <= end; first++) {
        const sum = sums[first + width] - sums[first];
        if (sum > most) [at, most] = [first, sum];
      }
      const snr = most / (deviation * Math.sqrt(width));
      take(at, width, snr);
      best = Math.max(best, snr);
    }
  return best;
}

/**
 * The strongest of overlapping candidates: a pulse also appears at wrong DMs, shifted in time by the difference in
 * delay.
 */
function apart(found: readonly Candidate[], { header }: Filterbank): readonly Candidate[] {
  const kept: Candidate[] = [];
  const [low, top] = [bottomHz(header), topHz(header)];
  for (const one of [...found].sort((x, y) => y.snr - x.snr)) {
    const isAlone = kept.every(
      (other) =>
        Math.abs(one.timeS - other.timeS) >
        (one.widthS + other.widthS) / 2 + Math.abs(dispersionS(one.dm - other.dm, low, top)),
    );
    if (isAlone) kept.push(one);
  }
  return kept;
}
