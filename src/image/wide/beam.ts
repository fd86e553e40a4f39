/**
 * The width of a beam: an elliptical Gaussian of height 1 in the middle, fitted by least squares to the main lobe, the
 * pixels round the middle down to 0.35 of the peak.
 *
 *   g(x, y) = exp(−½ (a x² + 2 b x y + c y²))       x east, y north, in pixels
 */
import { planeML, type PlaneML } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import type { WidePlan } from './plan.js';

export interface FittedBeam {
  /** Full widths at half maximum. */
  readonly majorDeg: number;
  readonly minorDeg: number;
  /** Of the major axis, from north through east, in [0, 180). */
  readonly positionAngleDeg: number;
}

type Pixels = Pick<WidePlan, 'pixels' | 'pixelCosine'>;

interface Shape {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

const LOWEST = 0.35;
/** Three numbers are fitted; a pixel and its mirror image are equal. */
const LEAST_PIXELS = 9;
const MOST_STEPS = 100;
const FWHM_PER_SIGMA = 2 * Math.sqrt(2 * Math.LN2);

/** beam : [m][l], 1 in the middle. */
export function fitBeam({ pixels, pixelCosine }: Pixels, beam: PlaneML): FittedBeam {
  const lobe = mainLobe(planeML(beam, pixels), pixels);
  if (lobe.length < LEAST_PIXELS) {
    refuse('image', 'the beam is narrower than its pixels', 'make the pixels three times smaller');
  }
  const { a, b, c } = fitShape(lobe);
  // The ellipse a x² + 2b xy + c y²: eigenvalues 1/σ², the smaller one along the major axis.
  const mean = (a + c) / 2;
  const apart = Math.hypot((a - c) / 2, b);
  if (!(mean - apart > 0)) {
    refuse('image', 'the beam has no peak that a Gaussian fits', 'use more baselines, or a wider field');
  }
  // From north (y) towards east (x); the major axis is where the form is least.
  const angle = Math.atan2(-2 * b, a - c) / 2;
  const degrees = (variance: number): number =>
    FWHM_PER_SIGMA * Math.sqrt(variance) * pixelCosine * DEGREES_PER_RADIAN;
  return {
    majorDeg: degrees(1 / (mean - apart)),
    minorDeg: degrees(1 / (mean + apart)),
    positionAngleDeg: (angle * DEGREES_PER_RADIAN + 180) % 180,
  };
}

interface LobePixel {
  readonly x: number;
  readonly y: number;
  readonly value: number;
}

/** Pixels that are reached from the middle of an image, from one to another beside it. */
function reachedFromMiddle(pixels: number, isReached: (next: number, from: number) => boolean): number[] {
  const middle = (pixels / 2) * pixels + pixels / 2;
  const seen = new Set<number>([middle]);
  const waiting = [middle];
  const reached: number[] = [];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    reached.push(at);
    const [row, column] = [Math.floor(at / pixels), at % pixels];
    for (const [x, y] of [
      [column - 1, row],
      [column + 1, row],
      [column, row - 1],
      [column, row + 1],
    ]) {
      const next = y * pixels + x;
      if (x < 0 || y < 0 || x >= pixels || y >= pixels || seen.has(next) || !isReached(next, at)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return reached;
}

/** Pixels above LOWEST that are connected to the middle. */
const mainLobe = (beam: PlaneML, pixels: number): LobePixel[] =>
  reachedFromMiddle(pixels, (next) => beam[next] >= LOWEST)
    .filter((at) => beam[at] >= LOWEST)
    .map((at) => ({
      x: (at % pixels) - pixels / 2,
      y: Math.floor(at / pixels) - pixels / 2,
      value: beam[at],
    }));

export interface Sidelobes {
  /** The highest sidelobe, and the deepest value, over the peak. */
  readonly highest: number;
  readonly lowest: number;
}

/**
 * The extremes of a beam outside its main lobe, which is reached from the middle without going up. beam : [m][l], 1 in
 * the middle; undefined where the main lobe fills the image or the beam has no values.
 */
export function sidelobesOf(pixels: number, beam: PlaneML): Sidelobes | undefined {
  planeML(beam, pixels);
  const isMain = new Uint8Array(beam.length);
  for (const at of reachedFromMiddle(pixels, (next, from) => beam[next] <= beam[from])) isMain[at] = 1;
  let [highest, lowest] = [-Infinity, Infinity];
  beam.forEach((value, at) => {
    if (value < lowest) lowest = value;
    if (isMain[at] === 0 && value > highest) highest = value;
  });
  return Number.isFinite(highest) ? { highest, lowest } : undefined;
}

/** Levenberg–Marquardt, starting from the fit of the logarithms, which is linear. */
function fitShape(lobe: readonly LobePixel[]): Shape {
  let shape = solve3(
    lobe.map(({ x, y, value }) => ({
      gradient: [x * x, 2 * x * y, y * y],
      rest: -2 * Math.log(value),
      weight: value * value,
    })),
    0,
  );
  let damping = 1e-3;
  let misfit = misfitOf(lobe, shape);
  for (let step = 0; step < MOST_STEPS; step++) {
    const current = shape;
    const change = solve3(
      lobe.map(({ x, y, value }) => {
        const model = gaussian(current, x, y);
        return {
          gradient: [-0.5 * x * x * model, -x * y * model, -0.5 * y * y * model],
          rest: value - model,
          weight: 1,
        };
      }),
      damping,
    );
    const next = { a: shape.a + change.a, b: shape.b + change.b, c: shape.c + change.c };
    const nextMisfit = misfitOf(lobe, next);
    if (!(nextMisfit <= misfit)) {
      damping *= 10;
      if (damping > 1e12) break;
      continue;
    }
    const isDone = misfit - nextMisfit <= 1e-14 * misfit;
    shape = next;
    misfit = nextMisfit;
    damping /= 10;
    if (isDone) break;
  }
  return shape;
}

const gaussian = ({ a, b, c }: Shape, x: number, y: number): number =>
  Math.exp(-0.5 * (a * x * x + 2 * b * x * y + c * y * y));

const misfitOf = (lobe: readonly LobePixel[], shape: Shape): number =>
  lobe.reduce((sum, { x, y, value }) => sum + (value - gaussian(shape, x, y)) ** 2, 0);

interface Equation {
  readonly gradient: readonly number[];
  readonly rest: number;
  readonly weight: number;
}

/** Least squares for three unknowns, the diagonal raised by `damping`; Cramer's rule. */
function solve3(equations: readonly Equation[], damping: number): Shape {
  const m = Array.from({ length: 3 }, () => [0, 0, 0]);
  const right = [0, 0, 0];
  for (const { gradient, rest, weight } of equations) {
    for (let i = 0; i < 3; i++) {
      right[i] += weight * gradient[i] * rest;
      for (let j = 0; j < 3; j++) m[i][j] += weight * gradient[i] * gradient[j];
    }
  }
  for (let i = 0; i < 3; i++) m[i][i] *= 1 + damping;
  const whole = determinant(m);
  const [a, b, c] = [0, 1, 2].map(
    (column) =>
      determinant(m.map((row, i) => row.map((value, j) => (j === column ? right[i] : value)))) / whole,
  );
  return { a, b, c };
}

const determinant = (m: readonly (readonly number[])[]): number =>
  m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
  m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
  m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);

/** Adds to `target` : [m][l] an image of fluxes convolved with a Gaussian of the beam's shape. */
export function addRestored(
  { pixels, pixelCosine }: Pixels,
  target: PlaneML,
  fluxes: PlaneML,
  { majorDeg, minorDeg, positionAngleDeg }: FittedBeam,
): void {
  const sigma = (fwhmDeg: number): number => fwhmDeg / DEGREES_PER_RADIAN / pixelCosine / FWHM_PER_SIGMA;
  const along = 1 / sigma(majorDeg) ** 2;
  const across = 1 / sigma(minorDeg) ** 2;
  const sine = Math.sin(positionAngleDeg / DEGREES_PER_RADIAN);
  const cosine = Math.cos(positionAngleDeg / DEGREES_PER_RADIAN);
  // The major axis points to (sin, cos) of its angle: x east, y north.
  const shape = {
    a: along * sine * sine + across * cosine * cosine,
    b: (along - across) * sine * cosine,
    c: along * cosine * cosine + across * sine * sine,
  };
  const reach = Math.ceil(6 * sigma(majorDeg));
  const side = 2 * reach + 1;
  const patch = Float64Array.from({ length: side * side }, (_, k) =>
    gaussian(shape, (k % side) - reach, Math.floor(k / side) - reach),
  );
  for (const [at, flux] of fluxes.entries()) {
    if (flux === 0 || Number.isNaN(flux)) continue;
    const column = at % pixels;
    const row = Math.floor(at / pixels);
    for (let y = Math.max(0, row - reach); y <= Math.min(pixels - 1, row + reach); y++) {
      const from = (y - row + reach) * side - column + reach;
      for (let x = Math.max(0, column - reach); x <= Math.min(pixels - 1, column + reach); x++) {
        target[y * pixels + x] += flux * patch[from + x];
      }
    }
  }
}
