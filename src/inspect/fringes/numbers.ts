/**
 * Fringe data: for each baseline amplitude and phase over time, lags and the expected fringe of a source; for each
 * triangle the closure phase; for each input its power over time and frequency.
 */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import { planFft } from '../../core/fft.js';
import { addSeconds, formatInstant, secondsBetween } from '../../core/instant.js';
import { median } from '../../core/median.js';
import { DEGREES_PER_RADIAN, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';
import { skyFrame } from '../../sky/frame.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import { isUnplaced, refuseUnplaced } from '../../telescope/unplaced.js';
import type { FringeSeries } from './collect.js';
import { fitBaseline, wrapped, type FittedBaseline, type NotFitted } from './fit.js';

/** Rest frequency of the hydrogen line. */
export const HYDROGEN_HZ = 1_420_405_751.768;

export interface Lags {
  /** How much earlier a wave reaches the first station; with a source, relative to its expected delay. */
  readonly lagsS: Float64Array;
  /** Root mean square over time. */
  readonly amplitudes: Float64Array;
  /** Present if a peak is above the noise. */
  readonly peakS?: number;
}

export interface BaselineFringe {
  readonly stations: readonly [i: number, j: number];
  readonly name: string;
  readonly product: string;
  readonly lengthM?: number;
  /** V_ij over the band after removing the peak's lag: [t], at the band centre; NaN without weight. */
  readonly amplitudes: Float64Array;
  readonly phasesDeg: Float64Array;
  readonly lags?: Lags;
  /**
   * Expected phase of the source, NaN below the horizon; fitted if there is a fit, else from the positions with phase
   * 0.
   */
  readonly expectedDeg?: Float64Array;
  readonly fit?: FittedBaseline;
  readonly notFitted?: NotFitted;
}

export interface ClosureFringe {
  readonly stations: readonly [i: number, j: number, k: number];
  readonly name: string;
  readonly product: string;
  /** [t], of V_ij V_jk V_ki. */
  readonly phasesDeg: Float64Array;
  readonly meanDeg: number;
  readonly errorDeg: number;
}

export interface InputPower {
  readonly name: string;
  /** [t], means over the band. */
  readonly powers: Float64Array;
  /** [c], means over time. */
  readonly spectrum: Float64Array;
}

export interface Fringes {
  readonly startUtc: string;
  /** Centres of the integrations, from the start of the first. */
  readonly timesS: Float64Array;
  readonly frequencyHz: number;
  readonly frequenciesHz: Float64Array;
  /** Radial velocities of hydrogen by the radio convention, topocentric, if the band contains its line. */
  readonly velocitiesKmPerS?: Float64Array;
  readonly source?: { readonly name: string; readonly altitudesDeg: Float64Array };
  readonly baselines: readonly BaselineFringe[];
  readonly closures: readonly ClosureFringe[];
  readonly powers: readonly InputPower[];
}

/** Directions of a source over time; below the horizon it counts as down. */
interface Followed {
  readonly name: string;
  readonly directions: readonly Vector3[];
}

/** Fits baselines to the fringe of a source, unless only its expected phase is `asked` for. */
export function fringesOf(
  series: FringeSeries,
  source?: PhaseCentre,
  asked: 'fit' | 'expect' = 'fit',
): Fringes {
  const { telescope, polarisations, rows, groupsHz, frequenciesHz, channelWidthHz, spectra } = series;
  if (source) refuseUnplaced('--fringe-of', telescope, 'there is no fringe to expect');
  const stations = telescope.stations.length;
  const inputs = stations * polarisations;
  const middles = rows.map(({ start, durationS }) => addSeconds(start, durationS / 2));
  const followed: Followed | undefined = source && {
    name: source.name,
    directions: middles.map((middle) => source.directionEnu(skyFrame(telescope.site, middle))),
  };
  const frequencyHz = groupsHz.reduce((sum, one) => sum + one, 0) / groupsHz.length;
  const letters = series.feeds === 'circular' ? 'RL' : 'XY';
  const baselines: BaselineFringe[] = [];
  const closures: ClosureFringe[] = [];
  for (let p = 0; p < polarisations; p++) {
    const product = letters[p] + letters[p];
    const values = new Map<number, Float64Array>();
    for (let i = 1; i < stations; i++)
      for (let j = 0; j < i; j++) {
        const { fringe, band } = baselineFringe(series, [i, j, p], { product, frequencyHz, followed, asked });
        baselines.push(fringe);
        values.set(baselineIndex(i, j), band);
      }
    for (let i = 2; i < stations; i++)
      for (let j = 1; j < i; j++)
        for (let k = 0; k < j; k++)
          closures.push({
            stations: [i, j, k],
            product,
            name: [i, j, k].map((s) => telescope.stations[s].name).join('–'),
            ...closureOf(
              ...([
                [i, j],
                [j, k],
                [i, k],
              ].map(([a, b]) => values.get(baselineIndex(a, b)) ?? new Float64Array()) as Triple),
            ),
          });
  }
  const channels = frequenciesHz.length;
  const low = frequenciesHz[0] - channelWidthHz / 2;
  const high = frequenciesHz[channels - 1] + channelWidthHz / 2;
  return {
    startUtc: rows.length === 0 ? '' : formatInstant(rows[0].start),
    timesS: Float64Array.from(middles, (middle) => secondsBetween(rows[0].start, middle)),
    frequencyHz,
    frequenciesHz,
    ...(low <= HYDROGEN_HZ &&
      HYDROGEN_HZ <= high && {
        velocitiesKmPerS: frequenciesHz.map(
          (one) => ((HYDROGEN_HZ - one) / HYDROGEN_HZ) * (SPEED_OF_LIGHT_M_PER_S / 1e3),
        ),
      }),
    ...(followed && {
      source: {
        name: followed.name,
        altitudesDeg: Float64Array.from(followed.directions, ({ z }) => Math.asin(z) * DEGREES_PER_RADIAN),
      },
    }),
    baselines,
    closures,
    powers: Array.from({ length: inputs }, (_, a) => ({
      name: `${telescope.stations[Math.floor(a / polarisations)].name}${polarisations === 2 ? ` ${letters[a % 2]}` : ''}`,
      powers: powersOf(series, a),
      spectrum: spectra.subarray(a * channels, (a + 1) * channels),
    })),
  };
}

type Triple = [Float64Array, Float64Array, Float64Array];

function baselineFringe(
  series: FringeSeries,
  [i, j, p]: readonly [number, number, number],
  about: {
    readonly product: string;
    readonly frequencyHz: number;
    readonly followed?: Followed;
    readonly asked: 'fit' | 'expect';
  },
): { readonly fringe: BaselineFringe; readonly band: Float64Array } {
  const { telescope, rows, groupsHz, groupWidthHz } = series;
  const { product, frequencyHz, followed, asked } = about;
  const baselines = baselineCount(telescope.stations.length);
  const groups = groupsHz.length;
  const at = 2 * (p * baselines + baselineIndex(i, j)) * groups;
  const [one, two] = [telescope.stations[i], telescope.stations[j]];
  const baselineM = { x: one.eastM - two.eastM, y: one.northM - two.northM, z: one.upM - two.upM };
  const isUp = followed?.directions.map(({ z }) => z > 0);
  const geometricS = (t: number): number =>
    followed && isUp?.[t] === true ? dot(baselineM, followed.directions[t]) / SPEED_OF_LIGHT_M_PER_S : 0;
  // Channels with the expected delay over the band removed; the band centre is unchanged.
  const channelsOf = (t: number, lagS: number): Float64Array => {
    const values = Float64Array.from(rows[t].values.subarray(at, at + 2 * groups));
    for (let g = 0; g < groups; g++)
      rotate(values, g, -2 * Math.PI * (groupsHz[g] - frequencyHz) * (geometricS(t) + lagS));
    return values;
  };
  const lags = groups < 4 ? undefined : lagsOf(rows.length, (t) => channelsOf(t, 0), groups, groupWidthHz);
  const band = new Float64Array(2 * rows.length);
  for (const t of rows.keys()) {
    const values = channelsOf(t, lags?.peakS ?? 0);
    let [re, im, count] = [0, 0, 0];
    for (let g = 0; g < groups; g++) {
      if (Number.isNaN(values[2 * g])) continue;
      re += values[2 * g];
      im += values[2 * g + 1];
      count++;
    }
    band[2 * t] = re / count;
    band[2 * t + 1] = im / count;
  }
  const fit =
    followed && asked === 'fit'
      ? fitBaseline({
          values: band.map((value, n) => (isUp?.[n >> 1] === true ? value : Number.NaN)),
          directions: followed.directions,
          baselineM,
          frequencyHz,
          latitudeDeg: telescope.site.latitudeDeg,
        })
      : undefined;
  const phaseAt = (t: number): number =>
    typeof fit === 'object' ? fit.phasesRad[t] : 2 * Math.PI * frequencyHz * geometricS(t);
  const degreesOf = (radians: number): number => wrapped(radians) * DEGREES_PER_RADIAN;
  const perTime = (of: (t: number) => number): Float64Array =>
    Float64Array.from({ length: rows.length }, (_, t) => of(t));
  return {
    band,
    fringe: {
      stations: [i, j],
      name: `${one.name}–${two.name}`,
      product,
      ...(!isUnplaced(telescope) && { lengthM: Math.sqrt(dot(baselineM, baselineM)) }),
      amplitudes: perTime((t) => Math.hypot(band[2 * t], band[2 * t + 1])),
      phasesDeg: perTime((t) => degreesOf(Math.atan2(band[2 * t + 1], band[2 * t]))),
      lags,
      expectedDeg: followed && perTime((t) => (isUp?.[t] === true ? degreesOf(phaseAt(t)) : Number.NaN)),
      ...(typeof fit === 'object' && { fit }),
      ...(typeof fit === 'string' && { notFitted: fit }),
    },
  };
}

function rotate(values: Float64Array, n: number, angle: number): void {
  const [re, im] = [values[2 * n], values[2 * n + 1]];
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  values[2 * n] = re * c - im * s;
  values[2 * n + 1] = re * s + im * c;
}

/** Oversampling of the lags relative to the band's resolution. */
const PADDING = 4;

function lagsOf(
  times: number,
  channelsOf: (t: number) => Float64Array,
  groups: number,
  widthHz: number,
): Lags | undefined {
  const length = PADDING * 2 ** Math.ceil(Math.log2(groups));
  const fft = planFft(length);
  const powers = new Float64Array(length);
  let counted = 0;
  for (let t = 0; t < times; t++) {
    const padded = new Float64Array(2 * length);
    const values = channelsOf(t);
    let count = 0;
    for (let g = 0; g < groups; g++) {
      if (Number.isNaN(values[2 * g])) continue;
      padded.set(values.subarray(2 * g, 2 * g + 2), 2 * g);
      count++;
    }
    if (count === 0) continue;
    counted++;
    fft.forward(padded);
    for (let n = 0; n < length; n++) powers[n] += (padded[2 * n] ** 2 + padded[2 * n + 1] ** 2) / count ** 2;
  }
  if (counted === 0) return undefined;
  // From the most negative lag upwards.
  const lag = (n: number): number => (n - length / 2) / (length * widthHz);
  const amplitudes = Float64Array.from({ length }, (_, n) =>
    Math.sqrt(powers[(n + length / 2) % length] / counted),
  );
  const peak = amplitudes.reduce((best, value, n) => (value > amplitudes[best] ? n : best), 0);
  // Powers of pure noise have a gamma distribution of `counted` squares.
  const noise = median(amplitudes.map((one) => one ** 2)) / (1 - 1 / (3 * counted));
  const isPeak = amplitudes[peak] ** 2 > noise * (1 + 6 / Math.sqrt(counted) + 8 / counted);
  const [before, here, after] = [-1, 0, 1].map((step) => amplitudes[(peak + step + length) % length]);
  const bend = before - 2 * here + after;
  const offset = bend < 0 ? (0.5 * (before - after)) / bend : 0;
  return {
    lagsS: Float64Array.from({ length }, (_, n) => lag(n)),
    amplitudes,
    ...(isPeak && { peakS: lag(peak + offset) }),
  };
}

function closureOf(
  ij: Float64Array,
  jk: Float64Array,
  ik: Float64Array,
): Pick<ClosureFringe, 'phasesDeg' | 'meanDeg' | 'errorDeg'> {
  const times = ij.length / 2;
  const products = new Float64Array(ij.length);
  let [re, im] = [0, 0];
  for (let t = 0; t < times; t++) {
    const [a, b] = [
      ij[2 * t] * jk[2 * t] - ij[2 * t + 1] * jk[2 * t + 1],
      ij[2 * t] * jk[2 * t + 1] + ij[2 * t + 1] * jk[2 * t],
    ];
    products[2 * t] = a * ik[2 * t] + b * ik[2 * t + 1];
    products[2 * t + 1] = b * ik[2 * t] - a * ik[2 * t + 1];
    if (Number.isNaN(products[2 * t])) continue;
    re += products[2 * t];
    im += products[2 * t + 1];
  }
  const mean = Math.atan2(im, re);
  let squares = 0;
  for (let t = 0; t < times; t++) {
    const across = products[2 * t + 1] * Math.cos(mean) - products[2 * t] * Math.sin(mean);
    if (!Number.isNaN(across)) squares += across ** 2;
  }
  return {
    phasesDeg: Float64Array.from(
      { length: times },
      (_, t) => Math.atan2(products[2 * t + 1], products[2 * t]) * DEGREES_PER_RADIAN,
    ),
    meanDeg: mean * DEGREES_PER_RADIAN,
    errorDeg: Math.min(180, (Math.sqrt(squares) / Math.hypot(re, im)) * DEGREES_PER_RADIAN),
  };
}

function powersOf(series: FringeSeries, a: number): Float64Array {
  const { telescope, polarisations, rows, groupsHz } = series;
  const groups = groupsHz.length;
  const s = Math.floor(a / polarisations);
  const at =
    2 * ((a % polarisations) * baselineCount(telescope.stations.length) + baselineIndex(s, s)) * groups;
  return Float64Array.from(rows, ({ values }) => {
    let [sum, count] = [0, 0];
    for (let g = 0; g < groups; g++) {
      const value = values[at + 2 * g];
      if (Number.isNaN(value)) continue;
      sum += value;
      count++;
    }
    return sum / count;
  });
}
