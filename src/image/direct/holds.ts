/**
 * For which arrays the direct road holds: how far its image of a lone source is from the exact one, as the plan's own
 * kernels make it. A source at ŝ, looked at in ŝ', both on a lattice over the field:
 *
 *   road    |Σ_a A_a(ŝ') conj(E_a(ŝ))|² / N²        A what a station's kernel answers, E what the station hears
 *   exact   |Σ_a E_a(ŝ') conj(E_a(ŝ))|² / N²
 *
 * The largest difference, over the source's peak, is what heights, slopes and coarse kernels cost. Where stations are weighed
 * by patterns of their own, E holds them, and the peak is that of a source where they hear best.
 */
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot, type Vector3 } from '../../core/vector.js';
import type { ImagePlan } from '../plan.js';

/** Places along either axis of the field, and round its rim, where kernels are worst. */
const DENSE = { lattice: 17, roundRim: 64 } as const;
/** For a first estimate. */
const SPARSE = { lattice: 9, roundRim: 32 } as const;
type Density = typeof DENSE | typeof SPARSE;
/**
 * For places between. Not proven to be enough: for LWA-SV at 80 MHz with 7 × 7 kernels 25 places along an axis found 0.43 %,
 * where 17 with this margin report 0.40 %. With 9 and 32, 24 stations with heights of 0.1 wavelengths had 0.30 % for 0.50 %.
 */
const MARGIN = 1.2;

/** An estimate, meant as a bound, of the difference between a direct image of one source and the exact one, over its peak. */
export const directRoadError = (plan: ImagePlan): number => MARGIN * errorOver(plan, DENSE);

/** About so much, in a twentieth of the time: no bound. */
export const directRoadEstimate = (plan: ImagePlan): number => MARGIN * errorOver(plan, SPARSE);

function errorOver(plan: ImagePlan, density: Density): number {
  const highest = plan.frequenciesHz.reduce(
    (best, frequencyHz, c) => (frequencyHz > plan.frequenciesHz[best] ? c : best),
    0,
  );
  const places = lattice(plan, density);
  const heard = places.map((place) => hears(plan, highest, place));
  const answers = places.map((place) => answered(plan, highest, place));
  let worst = 0;
  for (const source of heard) {
    for (const [k, answer] of answers.entries()) {
      const difference = Math.abs(power(answer, source) - power(heard[k], source));
      if (difference > worst) worst = difference;
    }
  }
  return worst;
}

interface Place {
  readonly l: number;
  readonly m: number;
  /** 1/taper at the pixel, of an amplitude. */
  readonly untaper: number;
}

/** Shown pixels spread over the field. */
function lattice(
  { pixels, pixelSize, shown, correction }: ImagePlan,
  { lattice: count, roundRim }: Density,
): Place[] {
  const rows = [...new Set(Array.from({ length: pixels }, (_, k) => k))].filter((row) =>
    shown.subarray(row * pixels, (row + 1) * pixels).includes(1),
  );
  const [first, last] = [rows[0], rows[rows.length - 1]];
  const steps = Array.from({ length: count }, (_, k) =>
    Math.round(first + ((last - first) * k) / (count - 1)),
  );
  const inside = steps.flatMap((row) => steps.map((column) => row * pixels + column));
  const places = [...inside, ...rimPixels(pixels, shown, roundRim)].filter((at) => shown[at] === 1);
  return [...new Set(places)].map((at) => ({
    l: ((at % pixels) - pixels / 2) * pixelSize,
    m: (Math.floor(at / pixels) - pixels / 2) * pixelSize,
    untaper: Math.sqrt(correction[at]),
  }));
}

/** The outermost shown pixels, in directions all round the centre. */
function rimPixels(pixels: number, shown: Uint8Array, count: number): number[] {
  return Array.from({ length: count }, (_, k) => {
    const angle = (2 * Math.PI * (k + 0.5)) / count;
    let found = (pixels / 2) * (pixels + 1);
    for (let radius = 0; radius < pixels; radius++) {
      const row = Math.round(pixels / 2 + radius * Math.cos(angle));
      const column = Math.round(pixels / 2 + radius * Math.sin(angle));
      if (Math.min(row, column) < 0 || Math.max(row, column) >= pixels) break;
      if (shown[row * pixels + column] === 1) found = row * pixels + column;
    }
    return found;
  });
}

/** [s] complex: e^(−2πi f r·ŝ/c) times the station's pattern; from the first station, a phase common to all. */
function hears(plan: ImagePlan, c: number, { l, m }: Place): Float64Array {
  const { stationsM, axes, frequenciesHz, patterns } = plan;
  const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
  const kinds = patterns?.weights(frequenciesHz[c], alongAxes(axes, l, m, n));
  const values = new Float64Array(2 * stationsM.length);
  for (const [s, place] of stationsM.entries()) {
    const metres = dot(place, axes.l) * l + dot(place, axes.m) * m + dot(place, axes.n) * n;
    const angle = (-2 * Math.PI * frequenciesHz[c] * metres) / SPEED_OF_LIGHT_M_PER_S;
    const { re, im } = kinds?.[patterns?.ofStation[s] ?? 0] ?? { re: 1, im: 0 };
    values[2 * s] = re * Math.cos(angle) - im * Math.sin(angle);
    values[2 * s + 1] = re * Math.sin(angle) + im * Math.cos(angle);
  }
  return values;
}

const alongAxes = ({ l, m, n }: ImagePlan['axes'], a: number, b: number, c: number): Vector3 => ({
  x: a * l.x + b * m.x + c * n.x,
  y: a * l.y + b * m.y + c * n.y,
  z: a * l.z + b * m.z + c * n.z,
});

/** [s] complex: what the cells of a station's kernel add up to in this pixel. */
function answered(plan: ImagePlan, c: number, { l, m, untaper }: Place): Float64Array {
  const { stations, kernelSize, corners, taps, pixels, pixelSize } = plan;
  const values = new Float64Array(2 * stations);
  const cell = 1 / (pixels * pixelSize);
  for (let s = 0; s < stations; s++) {
    const at = c * stations + s;
    let re = 0;
    let im = 0;
    for (let k = 0; k < kernelSize * kernelSize; k++) {
      const row = corners[2 * at] + Math.floor(k / kernelSize) - pixels / 2;
      const column = corners[2 * at + 1] + (k % kernelSize) - pixels / 2;
      const angle = -2 * Math.PI * cell * (column * l + row * m);
      const tap = 2 * (at * kernelSize * kernelSize + k);
      re += taps[tap] * Math.cos(angle) - taps[tap + 1] * Math.sin(angle);
      im += taps[tap] * Math.sin(angle) + taps[tap + 1] * Math.cos(angle);
    }
    values[2 * s] = re * untaper;
    values[2 * s + 1] = im * untaper;
  }
  return values;
}

/** |Σ x conj(y)|² / N² */
function power(x: Float64Array, y: Float64Array): number {
  let re = 0;
  let im = 0;
  for (let k = 0; k < x.length; k += 2) {
    re += x[k] * y[k] + x[k + 1] * y[k + 1];
    im += x[k + 1] * y[k] - x[k] * y[k + 1];
  }
  return (re * re + im * im) / (x.length / 2) ** 2;
}
