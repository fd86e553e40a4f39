/**
 * Gains of inputs from satellites' waves. A satellite in the direction u has at input a the phase θ + φ_a + 2π r_a·u/λ,
 * with θ common to all inputs. Unknown directions are solved too: the ratio of two satellites does not contain φ, and
 * is the pattern of one point at the difference of their directions.
 *
 * For a flat array a tilt of the whole sky is a phase gradient over the antennas: without a known direction neither is
 * determined. The directions are then shifted so that their enclosing circle is centred on the zenith, and that is
 * reported.
 */
import { refuse } from '../core/errors.js';
import { normalEquations } from '../core/least-squares.js';
import { median } from '../core/median.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import { L1_HZ } from './codes.js';
import type { Wave } from './waves.js';

/** In direction cosines, east and north. */
export interface Cosines {
  readonly l: number;
  readonly m: number;
}

export interface SolvedSatellite extends Cosines {
  readonly prn: number;
  readonly isKnown: boolean;
  /** Between phases and model, over the inputs. */
  readonly rmsRad: number;
  /** Coherence of the inputs with one wave, 1 for perfect agreement. */
  readonly coherence: number;
}

export interface SolvedInputs {
  /** [input] complex, NaN where unsolved; the reference's is real and positive. */
  readonly gains: Float64Array;
  readonly solved: Uint8Array;
  readonly reference: number;
  readonly satellites: readonly SolvedSatellite[];
  /** residualsRad : [satellite][input], NaN where unsolved. */
  readonly residualsRad: readonly Float64Array[];
  readonly rmsRad: number;
  readonly phases: number;
  readonly unknowns: number;
  readonly tilt: 'known' | 'undetermined';
}

export const WAVENUMBER = (2 * Math.PI * L1_HZ) / SPEED_OF_LIGHT_M_PER_S;
/** Positions are seldom known to better than a thirtieth of a wavelength, which limits the weights of phases. */
const FLOOR_RAD = (2 * Math.PI) / 30;
/** An input whose waves are weaker than the median by this factor is dead. */
const DEAD = 0.1;
/** Direction cosines of the horizon, with a margin for position errors. */
const BEYOND = 1.05;
const FLAT_WAVES = 1 / 20;
const MOST_CELLS = 4e6;
export const TOO_FEW = [
  'gnss',
  'the satellites do not determine what is asked for',
  'give more of them, or more directions',
] as const;

export function solveInputs(
  waves: readonly Wave[],
  positions: readonly Vector3[],
  known: ReadonlyMap<number, Cosines>,
): SolvedInputs {
  const inputs = positions.length;
  const amplitudes = Float64Array.from({ length: inputs }, (_, a) =>
    Math.exp(
      waves.reduce(
        (sum, { values }) => sum + Math.log(Math.max(1e-300, sizeAt(values, a)) / rmsOf(values)),
        0,
      ) / waves.length,
    ),
  );
  const middle = median(amplitudes);
  const solved = Uint8Array.from(amplitudes, (one) => (one > DEAD * middle ? 1 : 0));
  const used = [...solved.keys()].filter((a) => solved[a] === 1);
  const hasKnown = waves.some(({ prn }) => known.has(prn));
  checkDetermined(waves.length, used, positions, hasKnown);
  const reference = used[0];
  const strongestFirst = [...waves.keys()].sort(
    (x, y) => waves[y].eigenvalueRatio - waves[x].eigenvalueRatio,
  );
  const anchor = strongestFirst.find((s) => known.has(waves[s].prn)) ?? strongestFirst[0];
  const origin = known.get(waves[anchor].prn) ?? { l: 0, m: 0 };
  let directions: Cosines[] = waves.map((wave, s) =>
    s === anchor
      ? origin
      : (known.get(wave.prn) ?? searchDifference(wave, waves[anchor], positions, used, origin, hasKnown)),
  );
  const phasesRad = waves.map(({ values }) =>
    Float64Array.from({ length: inputs }, (_, a) => Math.atan2(values[2 * a + 1], values[2 * a])),
  );
  const weights = waves.map(({ values, noise }) =>
    Float64Array.from(
      { length: inputs },
      (_, a) => 1 / (FLOOR_RAD ** 2 + (noise / Math.max(noise, sizeAt(values, a))) ** 2),
    ),
  );
  const isFree = waves.map(({ prn }, s) => !known.has(prn) && (hasKnown || s !== anchor));
  // Initial phases of inputs: the mean over satellites after removing the phases of their directions.
  const inputRad = new Float64Array(inputs);
  const satelliteRad = new Float64Array(waves.length);
  const modelled = (s: number, a: number): number => WAVENUMBER * along(positions[a], directions[s]);
  for (const [s, phases] of phasesRad.entries()) satelliteRad[s] = phases[reference] - modelled(s, reference);
  for (let round = 0; round < 10; round++) {
    for (const a of used) {
      const [x, y] = phasesRad.reduce(
        ([re, im], phases, s) => {
          const left = phases[a] - modelled(s, a) - satelliteRad[s];
          return [re + weights[s][a] * Math.cos(left), im + weights[s][a] * Math.sin(left)];
        },
        [0, 0],
      );
      inputRad[a] = Math.atan2(y, x);
    }
    for (const [s, phases] of phasesRad.entries()) {
      let [x, y] = [0, 0];
      for (const a of used) {
        const left = phases[a] - modelled(s, a) - inputRad[a];
        x += weights[s][a] * Math.cos(left);
        y += weights[s][a] * Math.sin(left);
      }
      satelliteRad[s] = Math.atan2(y, x);
    }
  }
  const columnOfInput = new Map(used.filter((a) => a !== reference).map((a, k) => [a, k]));
  const free = [...isFree.keys()].filter((s) => isFree[s]);
  const satelliteAt = columnOfInput.size;
  const directionAt = satelliteAt + waves.length;
  const unknowns = directionAt + 2 * free.length;
  const residual = (s: number, a: number): number =>
    wrapped(phasesRad[s][a] - modelled(s, a) - inputRad[a] - satelliteRad[s]);
  for (let step = 0; step < STEPS; step++) {
    const normal = normalEquations(unknowns, TOO_FEW);
    for (const [s, { l, m }] of directions.entries())
      for (const a of used) {
        const columns = [satelliteAt + s];
        const row = [1];
        const column = columnOfInput.get(a);
        if (column !== undefined) {
          columns.push(column);
          row.push(1);
        }
        if (isFree[s]) {
          const { x, y, z } = positions[a];
          const n = Math.sqrt(Math.max(0.01, 1 - l * l - m * m));
          columns.push(directionAt + 2 * free.indexOf(s), directionAt + 2 * free.indexOf(s) + 1);
          row.push(WAVENUMBER * (x - (z * l) / n), WAVENUMBER * (y - (z * m) / n));
        }
        normal.add(columns, row, residual(s, a), weights[s][a]);
      }
    const { x } = normal.solve();
    for (const [a, column] of columnOfInput) inputRad[a] += x[column];
    for (const s of waves.keys()) satelliteRad[s] += x[satelliteAt + s];
    directions = directions.map(({ l, m }, s) => {
      if (!isFree[s]) return { l, m };
      const at = directionAt + 2 * free.indexOf(s);
      return { l: l + x[at], m: m + x[at + 1] };
    });
  }
  const residualsRad = waves.map((_, s) =>
    Float64Array.from({ length: inputs }, (_unused, a) => (solved[a] === 1 ? residual(s, a) : NaN)),
  );
  if (!hasKnown) directions = centred(directions, positions, inputRad, used, reference);
  const farthest = Math.max(...directions.map(({ l, m }) => Math.hypot(l, m)));
  if (farthest > BEYOND)
    refuse(
      'gnss',
      `the directions found fit into no sky (${farthest.toFixed(2)} from the zenith, 1 is the horizon)`,
      'the positions are wrong, or on a grid that leaves several skies open: give directions, or orbits',
    );
  const gains = new Float64Array(2 * inputs).fill(NaN);
  for (const a of used) {
    const turn = inputRad[a] - inputRad[reference];
    gains[2 * a] = (amplitudes[a] / middle) * Math.cos(turn);
    gains[2 * a + 1] = (amplitudes[a] / middle) * Math.sin(turn);
  }
  const rmsOver = (values: readonly number[]): number =>
    Math.sqrt(values.reduce((sum, one) => sum + one * one, 0) / Math.max(1, values.length));
  const ofUsed = residualsRad.map((values) => used.map((a) => values[a]));
  return {
    gains,
    solved,
    reference,
    residualsRad,
    unknowns,
    satellites: waves.map(({ prn }, s) => ({
      prn,
      ...directions[s],
      isKnown: known.has(prn),
      rmsRad: rmsOver(ofUsed[s]),
      coherence: Math.hypot(
        ofUsed[s].reduce((sum, one) => sum + Math.cos(one), 0) / used.length,
        ofUsed[s].reduce((sum, one) => sum + Math.sin(one), 0) / used.length,
      ),
    })),
    rmsRad: rmsOver(ofUsed.flat()),
    phases: waves.length * used.length,
    tilt: hasKnown ? 'known' : 'undetermined',
  };
}

/** The model is linear except for phase wraps and heights. */
const STEPS = 12;

const sizeAt = (values: Float64Array, a: number): number => Math.hypot(values[2 * a], values[2 * a + 1]);
const rmsOf = (values: Float64Array): number =>
  Math.sqrt((2 * values.reduce((sum, one) => sum + one * one, 0)) / values.length);
export const wrapped = (angle: number): number => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
/** A direction outside the sky has the height of the zenith's plane. */
export const along = ({ x, y, z }: Vector3, { l, m }: Cosines): number =>
  x * l + y * m + z * Math.sqrt(Math.max(0, 1 - l * l - m * m));

function checkDetermined(
  satellites: number,
  used: readonly number[],
  positions: readonly Vector3[],
  hasKnown: boolean,
): void {
  if (used.length < 4)
    refuse('gnss', `${used.length} inputs receive the satellites`, 'it takes four: check the others');
  if (hasKnown) return;
  if (satellites < 2)
    refuse(
      'gnss',
      'one satellite was found, and its direction is not known: it does not determine the gains',
      'give its direction, or its orbit',
    );
  const heights = used.map((a) => positions[a].z);
  const mean = heights.reduce((sum, one) => sum + one, 0) / heights.length;
  const rms = Math.sqrt(heights.reduce((sum, one) => sum + (one - mean) ** 2, 0) / heights.length);
  if (rms > (FLAT_WAVES * 2 * Math.PI) / WAVENUMBER)
    refuse(
      'gnss',
      `the array is not flat (heights differ by ${rms.toFixed(2)} m rms), and no direction is known`,
      'give the direction of one satellite or more, or orbits',
    );
}

/** The direction of a satellite relative to another: the point that best explains the ratio of their waves. */
function searchDifference(
  wave: Wave,
  anchor: Wave,
  positions: readonly Vector3[],
  used: readonly number[],
  origin: Cosines,
  hasKnown: boolean,
): Cosines {
  const xs = used.map((a) => positions[a].x);
  const ys = used.map((a) => positions[a].y);
  const widest = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
  const step = (0.1 * 2 * Math.PI) / WAVENUMBER / Math.max(widest, 0.1);
  // Two directions above the horizon differ by less than 2; from a known one the whole sky is searched.
  const reach = hasKnown ? 1 : 2;
  const side = 2 * Math.ceil(reach / step) + 1;
  if (side * side > MOST_CELLS)
    refuse(
      'gnss',
      `the array is ${widest.toFixed(0)} m wide: directions cannot be searched for`,
      'give directions of all satellites, or orbits',
    );
  const ratio = used.map((a) => {
    const [a1, b1] = [wave.values[2 * a], wave.values[2 * a + 1]];
    const [a2, b2] = [anchor.values[2 * a], anchor.values[2 * a + 1]];
    return Math.atan2(b1 * a2 - a1 * b2, a1 * a2 + b1 * b2);
  });
  // From a known direction heights are known too; the anchor's own contribution is in the ratio already.
  const own = used.map((a) => (hasKnown ? WAVENUMBER * along(positions[a], origin) : 0));
  let [best, at] = [-1, { l: 0, m: 0 }];
  const half = (side - 1) / 2;
  for (let row = -half; row <= half; row++)
    for (let column = -half; column <= half; column++) {
      const here = { l: column * step, m: row * step };
      if (Math.hypot(here.l, here.m) > reach) continue;
      let re = 0;
      let im = 0;
      for (let k = 0; k < used.length; k++) {
        const place = positions[used[k]];
        const phase =
          ratio[k] +
          own[k] -
          WAVENUMBER * (hasKnown ? along(place, here) : place.x * here.l + place.y * here.m);
        re += Math.cos(phase);
        im += Math.sin(phase);
      }
      const power = re * re + im * im;
      if (power > best) [best, at] = [power, here];
    }
  return hasKnown ? at : { l: at.l + origin.l, m: at.m + origin.m };
}

/** Shifts the smallest circle round all directions to the zenith, and corrects the phases for the shift. */
function centred(
  directions: readonly Cosines[],
  positions: readonly Vector3[],
  inputRad: Float64Array,
  used: readonly number[],
  reference: number,
): Cosines[] {
  let [l, m] = [0, 0];
  // Steps of decreasing size towards the farthest direction.
  for (let step = 1; step <= 5000; step++) {
    let [farthest, size] = [directions[0], -1];
    for (const one of directions) {
      const distance = Math.hypot(one.l - l, one.m - m);
      if (distance > size) [farthest, size] = [one, distance];
    }
    l += (farthest.l - l) / (step + 1);
    m += (farthest.m - m) / (step + 1);
  }
  for (const a of used)
    inputRad[a] +=
      WAVENUMBER *
      ((positions[a].x - positions[reference].x) * l + (positions[a].y - positions[reference].y) * m);
  return directions.map((one) => ({ l: one.l - l, m: one.m - m }));
}
