/**
 * Sources of the catalogue that are bright, up and not in the model, searched for at their places: an independent check
 * of the gains.
 */
import type { Calibration, CalibrationPlan } from '../../calibrate/index.js';
import { baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { productCount } from '../../core/product-counts.js';
import { DEGREES_PER_RADIAN, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, normalise, scale, type Vector3 } from '../../core/vector.js';
import { sourcesUp, type SourceUp } from '../../sky/above.js';
import type { SkyFrame } from '../../sky/frame.js';
import { findSources } from '../../sky/sources.js';
import type { Telescope } from '../../telescope/telescope.js';
import { longestBaselineM } from '../geometry.js';

export interface OutsideSource {
  readonly name: string;
  /** From its place to the highest peak within `SEARCH_DEG`. */
  readonly offsetDeg: number;
  /** The spacing of the places that were tried, a third of the beam. */
  readonly stepDeg: number;
  /** That peak over the catalogue's flux, through the beam. */
  readonly overFlux: number;
  /** That peak over the rms in the search area. */
  readonly significance: number;
}

interface OutsideData {
  readonly telescope: Telescope;
  readonly integration: Integration;
  readonly calibration: Calibration;
  readonly plan: CalibrationPlan;
  readonly stationsM: readonly Vector3[];
  readonly frequenciesHz: Float64Array;
  /** Sources of the model, subtracted before the search. */
  readonly modelled: readonly SourceUp[];
  /** The diffuse sky of the model, Stokes I of a channel and a baseline. */
  readonly diffuse?: (channel: number, baseline: number) => readonly [re: number, im: number];
}

/** Lower sources are seen through a part of the beam that is poorly known. */
const LEAST_ALTITUDE_DEG = 15;
/** Relative to the model's brightest. */
const LEAST_FLUX = 0.05;
/** Noise alone has peaks of four times its rms: of a lower peak no position is reported. */
const LEAST_SIGNIFICANCE = 5;
/** Nearer than this, 10°, a source of the model leaves too large a residual. */
const FAR_ENOUGH = Math.cos((10 * Math.PI) / 180);
/** The largest offset that is searched. */
const SEARCH_DEG = 12;
/** Steps a beam, and the most along a side: a wide array is searched over a smaller area. */
const STEPS_A_BEAM = 3;
const MOST_STEPS = 41;

/** Each with where it was found; empty where none is bright enough. */
export function outsideModel(frame: SkyFrame, data: OutsideData): OutsideSource[] {
  const { telescope, frequenciesHz, modelled } = data;
  const frequencyHz = frequenciesHz[Math.floor(frequenciesHz.length / 2)];
  const brightest = modelled.reduce((most, { apparentFluxJy }) => Math.max(most, apparentFluxJy), 0);
  return sourcesUp(findSources('all'), frame, LEAST_ALTITUDE_DEG, { telescope, frequencyHz })
    .filter(({ apparentFluxJy }) => apparentFluxJy > LEAST_FLUX * brightest)
    .filter(({ directionEnu }) => modelled.every((one) => dot(one.directionEnu, directionEnu) < FAR_ENOUGH))
    .flatMap((source) => {
      const found = findOutside(data, source);
      return found && found.significance > LEAST_SIGNIFICANCE ? [found] : [];
    });
}

/** Where a source of the catalogue is found in the middle channel that has gains, Stokes I. */
function findOutside(data: OutsideData, source: SourceUp): OutsideSource | undefined {
  const { frequenciesHz, calibration, stationsM } = data;
  const inputs = calibration.solved.length / frequenciesHz.length;
  const middle = Math.floor(frequenciesHz.length / 2);
  const hasGains = (c: number): boolean =>
    calibration.solved.subarray(c * inputs, (c + 1) * inputs).includes(1);
  const channel = [...frequenciesHz.keys()]
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))
    .find(hasGains);
  if (channel === undefined) return undefined;
  const frequencyHz = frequenciesHz[channel];
  const pairs = calibratedPairs(data, channel);
  if (pairs.length === 0) return undefined;
  const beam = SPEED_OF_LIGHT_M_PER_S / frequencyHz / longestBaselineM(stationsM);
  const step = beam / STEPS_A_BEAM;
  const side = Math.min(Math.floor(MOST_STEPS / 2), Math.floor(SEARCH_DEG / DEGREES_PER_RADIAN / step));
  const [across, along] = axesAt(source.directionEnu);
  let [best, bestValue, sum, squares, count] = [source.directionEnu, -Infinity, 0, 0, 0];
  for (let a = -side; a <= side; a++) {
    for (let b = -side; b <= side; b++) {
      const direction = normalise(add(source.directionEnu, scale(across, a * step), scale(along, b * step)));
      if (direction.z <= 0.1) continue;
      const value = brightnessAt(pairs, stationsM, direction, frequencyHz);
      if (value > bestValue) [best, bestValue] = [direction, value];
      sum += value;
      squares += value * value;
      count++;
    }
  }
  const rms = Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
  return {
    name: source.source.name,
    offsetDeg: Math.acos(Math.min(1, dot(best, source.directionEnu))) * DEGREES_PER_RADIAN,
    stepDeg: step * DEGREES_PER_RADIAN,
    overFlux: bestValue / source.apparentFluxJy,
    significance: (bestValue - sum / count) / rms,
  };
}

interface Pair {
  readonly i: number;
  readonly j: number;
  readonly re: number;
  readonly im: number;
  readonly weight: number;
}

/** V/(g g*) less the model, XX and YY averaged. */
function calibratedPairs(
  { integration, calibration, plan, stationsM, frequenciesHz, modelled, diffuse }: OutsideData,
  c: number,
): Pair[] {
  const { visibilities, stations, polarisations } = integration;
  const baselines = (stations * (stations + 1)) / 2;
  const { gains, solved } = calibration;
  const model = modelled.map(({ directionEnu, apparentFluxJy }) => ({
    jy: apparentFluxJy,
    turns: stationsM.map((place) => (dot(place, directionEnu) * frequenciesHz[c]) / SPEED_OF_LIGHT_M_PER_S),
  }));
  const pairs: Pair[] = [];
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j < i; j++) {
      const b = baselineIndex(i, j);
      if (plan.usedBaselines[b] === 0) continue;
      let [re, im, used, weight] = [0, 0, 0, 0];
      for (let p = 0; p < polarisations; p++) {
        const [atI, atJ] = [i, j].map((s) => (c * stations + s) * polarisations + p);
        const count = productCount(integration, c * baselines + b, p, p);
        if (!(count > 0) || solved[atI] * solved[atJ] === 0) continue;
        const value = 2 * (((c * baselines + b) * polarisations + p) * polarisations + p);
        const pairRe = gains[2 * atI] * gains[2 * atJ] + gains[2 * atI + 1] * gains[2 * atJ + 1];
        const pairIm = gains[2 * atI + 1] * gains[2 * atJ] - gains[2 * atI] * gains[2 * atJ + 1];
        const size = count * (pairRe ** 2 + pairIm ** 2);
        re += (visibilities[value] * pairRe + visibilities[value + 1] * pairIm) / size;
        im += (visibilities[value + 1] * pairRe - visibilities[value] * pairIm) / size;
        weight += count;
        used++;
      }
      if (used === 0) continue;
      let [modelRe, modelIm] = diffuse?.(c, b) ?? [0, 0];
      for (const { jy, turns } of model) {
        const angle = 2 * Math.PI * (turns[i] - turns[j]);
        modelRe += jy * Math.cos(angle);
        modelIm += jy * Math.sin(angle);
      }
      pairs.push({ i, j, re: re / used - modelRe, im: im / used - modelIm, weight: weight / used });
    }
  }
  return pairs;
}

function brightnessAt(
  pairs: readonly Pair[],
  stationsM: readonly Vector3[],
  direction: Vector3,
  frequencyHz: number,
): number {
  const phases = stationsM.map((place) => {
    const angle = (2 * Math.PI * dot(place, direction) * frequencyHz) / SPEED_OF_LIGHT_M_PER_S;
    return [Math.cos(angle), Math.sin(angle)] as const;
  });
  let [sum, weights] = [0, 0];
  for (const { i, j, re, im, weight } of pairs) {
    const [a, b] = phases[i];
    const [c, d] = phases[j];
    // The real part of V·conj(fringe).
    sum += weight * (re * (a * c + b * d) + im * (b * c - a * d));
    weights += weight;
  }
  return sum / weights;
}

const add = (...all: readonly Vector3[]): Vector3 =>
  all.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y, z: a.z + b.z }));

/** Two directions across a line of sight. */
function axesAt({ x, y, z }: Vector3): readonly [Vector3, Vector3] {
  const flat = Math.hypot(x, y);
  if (flat < 1e-9) return [{ x: 1, y: 0, z: 0 }, { x: 0, y: 1, z: 0 }]; // prettier-ignore
  return [
    { x: -y / flat, y: x / flat, z: 0 },
    { x: (-x * z) / flat, y: (-y * z) / flat, z: flat },
  ];
}
