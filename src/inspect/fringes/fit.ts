/**
 * Fits a baseline to the fringe of one source as it drifts. With e1 to the east and e2 in the plane of the equator, up
 * the meridian, the fringe is A(t) e^{i(2π/λ (b + x·e1 + y·e2)·ŝ(t) + φ)}: x, y and φ are fitted, A is the observed
 * envelope, a running mean, since beam and gain are unknown. The component along the Earth's axis only adds to φ for
 * one source, because its declination is constant: it keeps its nominal value.
 */
import { normalEquations } from '../../core/least-squares.js';
import { RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';

export interface DriftScan {
  /** values : [t] complex, NaN without data or if the source is below the horizon. */
  readonly values: Float64Array;
  /** Unit vectors towards the source, east north up. */
  readonly directions: readonly Vector3[];
  /** Nominal r_i − r_j, of V_ij. */
  readonly baselineM: Vector3;
  readonly frequencyHz: number;
  readonly latitudeDeg: number;
}

export interface FittedBaseline {
  /** Correction to the nominal baseline: east, and up the meridian in the plane of the equator. */
  readonly eastM: number;
  /** Undefined if the scan is too short for it. */
  readonly meridianM?: number;
  readonly eastErrorM: number;
  readonly meridianErrorM?: number;
  /** [[ee, em], [me, mm]], or [[ee]]. */
  readonly covarianceM2: readonly (readonly number[])[];
  /** Relative to the nominal baseline, at the mean direction of the scan. */
  readonly phaseDeg: number;
  readonly phaseErrorDeg: number;
  /** The whole baseline, east north up. */
  readonly baselineM: Vector3;
  /** Of the sum of the fringe after phase correction, over the noise. */
  readonly signalToNoise: number;
  /** envelope : [t], phasesRad : [t] of the fitted fringe. */
  readonly envelope: Float64Array;
  readonly phasesRad: Float64Array;
}

/** Why there is no fit: no fringe found; the search ended at its limit; the source moved too little. */
export type NotFitted = 'no-fringe' | 'at-rim' | 'too-short';

/** Tape measurements err by less; for long baselines the limit is proportional to length. */
const SEARCH_M = 2;
const SEARCH_PART = 0.03;
const MOST_STEPS = 30;
const MOST_BINS = 512;
/** The envelope is a running mean over this fraction of the scan. */
const ENVELOPE_PART = 1 / 16;
const LEAST_SIGNAL = 6;
const ROUNDS = 12;

export function fitBaseline(scan: DriftScan): FittedBaseline | NotFitted {
  const { values, directions, baselineM, frequencyHz, latitudeDeg } = scan;
  const wavelengthM = SPEED_OF_LIGHT_M_PER_S / frequencyHz;
  const k = (2 * Math.PI) / wavelengthM;
  const latitude = latitudeDeg * RADIANS_PER_DEGREE;
  const meridian = { x: 0, y: -Math.sin(latitude), z: Math.cos(latitude) };
  const times = directions.length;
  const used = Array.from({ length: times }, (_, t) => t).filter((t) => !Number.isNaN(values[2 * t]));
  if (used.length < 8) return 'too-short';
  const centred = (of: (direction: Vector3) => number): Float64Array => {
    const all = Float64Array.from(directions, of);
    const middle = used.reduce((sum, t) => sum + all[t], 0) / used.length;
    return all.map((one) => one - middle);
  };
  const alongEast = centred(({ x }) => x);
  const alongMeridian = centred((direction) => dot(direction, meridian));
  const nominal = Float64Array.from(directions, (direction) => k * dot(baselineM, direction));
  const searchM = Math.max(SEARCH_M, SEARCH_PART * Math.sqrt(dot(baselineM, baselineM)));
  // In time bins, with the nominal fringe removed: the residual phase changes slowly.
  const bins = binned({ values, used, nominal, alongEast, alongMeridian });
  const found = search(bins, k, wavelengthM, searchM);
  if (typeof found === 'string') return found;
  let { x, y, phase } = found;
  let isMeridian = true;
  const model = (t: number): number => nominal[t] + k * (x * alongEast[t] + y * alongMeridian[t]) + phase;
  for (;;) {
    const size = isMeridian ? 3 : 2;
    let solved: ReturnType<ReturnType<typeof normalEquations>['solve']> | undefined;
    let variance = 0;
    let envelope: Float64Array = new Float64Array(times);
    for (let round = 0; round < ROUNDS; round++) {
      envelope = envelopeOf(values, used, model);
      const normal = normalEquations(size, ['fringe fit', 'the scan does not determine the baseline', '']);
      let squares = 0;
      for (const t of used) {
        const angle = model(t);
        const residual = values[2 * t + 1] * Math.cos(angle) - values[2 * t] * Math.sin(angle);
        squares += residual ** 2;
        const row = [1, k * alongEast[t], k * alongMeridian[t]].slice(0, size);
        normal.add(
          row.map((_, n) => n),
          row.map((one) => one * envelope[t]),
          residual,
          1,
        );
      }
      variance = squares / (used.length - size);
      try {
        solved = normal.solve();
      } catch {
        solved = undefined;
        break;
      }
      phase += solved.x[0];
      x += solved.x[1];
      if (isMeridian) y += solved.x[2];
    }
    const inverse = solved?.inverse.map((one) => one * variance);
    if (isMeridian && (!inverse || Math.sqrt(inverse[8]) > searchM / 2 || Math.abs(y) > 2 * searchM)) {
      isMeridian = false;
      ({ x, phase } = found);
      y = 0;
      continue;
    }
    if (!inverse || Math.sqrt(inverse[size + 1]) > searchM / 2) return 'too-short';
    if (Math.abs(x) > searchM) return 'at-rim';
    const signal = used.reduce((sum, t) => {
      const angle = model(t);
      return sum + values[2 * t] * Math.cos(angle) + values[2 * t + 1] * Math.sin(angle);
    }, 0);
    const signalToNoise = signal / Math.sqrt(variance * used.length);
    if (!(signalToNoise > LEAST_SIGNAL)) return 'no-fringe';
    return {
      eastM: x,
      eastErrorM: Math.sqrt(inverse[size + 1]),
      ...(isMeridian && { meridianM: y, meridianErrorM: Math.sqrt(inverse[8]) }),
      covarianceM2: isMeridian
        ? [
            [inverse[4], inverse[5]],
            [inverse[7], inverse[8]],
          ]
        : [[inverse[3]]],
      phaseDeg: wrapped(phase) / RADIANS_PER_DEGREE,
      phaseErrorDeg: Math.sqrt(inverse[0]) / RADIANS_PER_DEGREE,
      baselineM: {
        x: baselineM.x + x,
        y: baselineM.y + y * meridian.y,
        z: baselineM.z + y * meridian.z,
      },
      signalToNoise,
      envelope,
      phasesRad: Float64Array.from(directions, (_, t) => model(t)),
    };
  }
}

export const wrapped = (angle: number): number => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));

interface Bin {
  re: number;
  im: number;
  east: number;
  meridian: number;
  count: number;
}

function binned(scan: {
  readonly values: Float64Array;
  readonly used: readonly number[];
  readonly nominal: Float64Array;
  readonly alongEast: Float64Array;
  readonly alongMeridian: Float64Array;
}): Bin[] {
  const { values, used, nominal, alongEast, alongMeridian } = scan;
  const times = nominal.length;
  const bins = Array.from({ length: Math.min(MOST_BINS, times) }, (): Bin => ({
    re: 0,
    im: 0,
    east: 0,
    meridian: 0,
    count: 0,
  }));
  for (const t of used) {
    const bin = bins[Math.floor((t * bins.length) / times)];
    const [c, s] = [Math.cos(nominal[t]), Math.sin(nominal[t])];
    bin.re += values[2 * t] * c + values[2 * t + 1] * s;
    bin.im += values[2 * t + 1] * c - values[2 * t] * s;
    bin.east += alongEast[t];
    bin.meridian += alongMeridian[t];
    bin.count++;
  }
  return bins
    .filter(({ count }) => count > 0)
    .map((bin) => ({ ...bin, east: bin.east / bin.count, meridian: bin.meridian / bin.count }));
}

/** Finds the largest sum of the fringe after phase correction. */
function search(
  bins: readonly Bin[],
  k: number,
  wavelengthM: number,
  searchM: number,
): { readonly x: number; readonly y: number; readonly phase: number } | NotFitted {
  const steps = (along: readonly number[]): { readonly stepM: number; readonly most: number } => {
    const range = Math.max(...along) - Math.min(...along);
    const stepM = wavelengthM / (4 * Math.max(range, 1e-9));
    return { stepM, most: Math.min(MOST_STEPS, Math.ceil(searchM / stepM)) };
  };
  const [east, north] = [steps(bins.map((one) => one.east)), steps(bins.map((one) => one.meridian))];
  // A source that moves by less than a tenth of a fringe over the whole search range has no information.
  if (east.stepM > 10 * searchM) return 'too-short';
  let best = { power: -1, x: 0, y: 0, phase: 0, atRim: false };
  // A component that the scan cannot measure keeps its nominal value.
  const mostNorth = north.stepM > searchM ? 0 : north.most;
  for (let n = -east.most; n <= east.most; n++)
    for (let m = -mostNorth; m <= mostNorth; m++) {
      let [re, im] = [0, 0];
      for (const bin of bins) {
        const angle = k * (n * east.stepM * bin.east + m * north.stepM * bin.meridian);
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        re += bin.re * c + bin.im * s;
        im += bin.im * c - bin.re * s;
      }
      const power = re * re + im * im;
      if (power <= best.power) continue;
      best = {
        power,
        x: n * east.stepM,
        y: m * north.stepM,
        phase: Math.atan2(im, re),
        atRim: (east.most > 2 && Math.abs(n) === east.most) || (mostNorth > 2 && Math.abs(m) === mostNorth),
      };
    }
  return best.atRim ? 'at-rim' : best;
}

function envelopeOf(
  values: Float64Array,
  used: readonly number[],
  model: (t: number) => number,
): Float64Array {
  const half = Math.max(1, Math.round((used.length * ENVELOPE_PART) / 2));
  const running = new Float64Array(used.length + 1);
  for (const [n, t] of used.entries()) {
    const angle = model(t);
    running[n + 1] = running[n] + values[2 * t] * Math.cos(angle) + values[2 * t + 1] * Math.sin(angle);
  }
  const envelope = new Float64Array(values.length / 2).fill(Number.NaN);
  for (const [n, t] of used.entries()) {
    const [from, to] = [Math.max(0, n - half), Math.min(used.length, n + half + 1)];
    envelope[t] = Math.max(0, (running[to] - running[from]) / (to - from));
  }
  return envelope;
}
