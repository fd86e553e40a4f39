/**
 * Interference in visibilities, found by amplitudes above their own neighbourhood in time and frequency. First in the
 * median over all baselines: what most of them share is found far below one baseline's noise. Then in each baseline.
 * Products are searched one by one: interference in X leaves YY.
 */
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { median, middleOf } from '../../core/median.js';
import { addSeconds, secondsBetween } from '../../core/instant.js';
import { storedOf } from '../stored.js';
import { robustBackground, smoothBackground, structureOf, whitened } from './background.js';
import { findBursts, type Burst } from './bursts.js';
import { GOOD, MISSING, sumThreshold, TAKEN, type PlaneShape } from './sum-threshold.js';

export interface InterferenceSettings {
  /** χ₁, in σ of a single sample. */
  readonly sigma: number;
  /** Whether bursts that may be the sky's are flagged; reported either way. */
  readonly bursts: 'take' | 'keep';
}

interface FoundInterference {
  /** mask : [c][b][pi][pj] of each integration, 1 where flagged. */
  readonly masks: readonly Uint8Array[];
  readonly bursts: readonly Burst[];
}

/** The first pass, whose background is rough, flags only stronger samples. */
const FIRST_LOOK = 1.5;
const SMOOTH_LOOKS = 2;

/** values : [t][c], amplitudes; state : [t][c], to which new flags are added. */
export function flagPlane(values: Float64Array, state: Uint8Array, shape: PlaneShape, sigma: number): void {
  const look = (background: Float64Array, threshold: number): void => {
    const white = whitened(values, background, state);
    sumThreshold(white, state, shape, threshold, structureOf(white, state, shape));
  };
  for (const direction of ['along frequency', 'along time'] as const)
    look(robustBackground(values, state, shape, direction), FIRST_LOOK * sigma);
  for (let n = 0; n < SMOOTH_LOOKS; n++) look(smoothBackground(values, state, shape), sigma);
}

/** Consecutive integrations of one shape. */
export function findInterference(
  integrations: readonly Integration[],
  frequenciesHz: Float64Array,
  { sigma, bursts: withBursts }: InterferenceSettings,
): FoundInterference {
  const [{ channels, stations, polarisations: p }] = integrations;
  const baselines = baselineCount(stations);
  const shape: PlaneShape = { times: integrations.length, channels };
  const stored = integrations.map(storedOf);
  const planeOf = (b: number, product: number): Plane | undefined => {
    const values = new Float64Array(shape.times * channels);
    const state = new Uint8Array(values.length);
    let good = 0;
    for (let t = 0; t < shape.times; t++)
      for (let c = 0; c < channels; c++) {
        const from = (c * baselines + b) * p * p + product;
        const at = t * channels + c;
        if (!(stored[t].weights[from] > 0)) {
          state[at] = MISSING;
          continue;
        }
        const [re, im] = [stored[t].means[2 * from], stored[t].means[2 * from + 1]];
        values[at] = Math.sqrt(re * re + im * im);
        good++;
      }
    return good === 0 ? undefined : { values, state };
  };
  const crosses: number[] = [];
  const autos: number[] = [];
  for (let i = 0; i < stations; i++)
    for (let j = 0; j <= i; j++) (i === j ? autos : crosses).push(baselineIndex(i, j));
  const products = Array.from({ length: p * p }, (_, product) => product);
  const commons = products.map((product) => {
    const of = (list: readonly number[]) => list.flatMap((b) => planeOf(b, product) ?? []);
    const planes = of(crosses);
    const common = commonPlane(planes.length > 0 ? planes : of(autos), shape);
    flagPlane(common.values, common.state, shape, sigma);
    return common.state;
  });
  const either = commons[0].map((state, at) => {
    const others = products
      .filter((product) => product % (p + 1) === 0)
      .map((product) => commons[product][at]);
    return others.includes(TAKEN) ? TAKEN : state;
  });
  const middles = integrations.map(({ start, durationS }) => addSeconds(start, durationS / 2));
  const middlesS = Float64Array.from(middles, (middle) => secondsBetween(middles[0], middle));
  const bursts = findBursts(either, shape, middlesS, frequenciesHz);
  const isKept = (at: number): boolean =>
    withBursts === 'keep' && bursts.some(({ cells }) => cells[at] === 1);
  const masks = integrations.map(() => new Uint8Array(channels * baselines * p * p));
  for (const product of products) {
    for (let b = 0; b < baselines; b++) {
      const plane = planeOf(b, product);
      if (!plane) continue;
      const { values, state } = plane;
      for (let at = 0; at < state.length; at++)
        if (state[at] === GOOD && commons[product][at] === TAKEN) state[at] = TAKEN;
      flagPlane(values, state, shape, sigma);
      for (let at = 0; at < state.length; at++) {
        if (state[at] !== TAKEN || isKept(at)) continue;
        const [t, c] = [Math.floor(at / channels), at % channels];
        masks[t][(c * baselines + b) * p * p + product] = 1;
      }
    }
  }
  return { masks, bursts };
}

interface Plane {
  readonly values: Float64Array;
  readonly state: Uint8Array;
}

/** The median over baselines of amplitudes, each divided by its own median: what most baselines share. */
function commonPlane(planes: readonly Plane[], { times, channels }: PlaneShape): Plane {
  const values = new Float64Array(times * channels);
  const state = new Uint8Array(values.length).fill(MISSING);
  const levels = planes.map(({ values: own, state: ownState }) =>
    median(own.filter((_, at) => ownState[at] === GOOD)),
  );
  const seen = new Float64Array(planes.length);
  for (let at = 0; at < values.length; at++) {
    let count = 0;
    for (let n = 0; n < planes.length; n++)
      if (planes[n].state[at] === GOOD && levels[n] > 0) seen[count++] = planes[n].values[at] / levels[n];
    if (count === 0) continue;
    values[at] = middleOf(seen, count);
    state[at] = GOOD;
  }
  return { values, state };
}
