/**
 * Numbers rounded to half precision together. Rounded one by one, the kernels' weights and the transform's factors have
 * random errors, which show towards the horizon, where the kernels' response is a few per cent. Chosen in turn, each
 * compensating for those before it, the remaining error in the image is half as large.
 */
import { fromHalfBits, halfBits } from './half.js';
import type { ImagePlan } from '../../../plan.js';

/** Veltkamp's method: keeps 11 of a double's 53 bits, to nearest. Subnormal halves take the slow path. */
function nearestHalf(value: number): number {
  if (Math.abs(value) < 2 ** -14) return fromHalfBits(halfBits(value));
  const shifted = value * (2 ** 42 + 1);
  return shifted - (shifted - value);
}

/**
 * Halves near `values` whose error e makes eᵀ·(L·Lᵀ)·e small: the last first, each rounded from its optimum given the
 * errors already made (Babai's nearest plane).
 */
export function roundTogether(
  lower: Float64Array,
  values: Float64Array,
  rounded: Float64Array = new Float64Array(values.length),
): Float64Array {
  const size = values.length;
  for (let i = size - 1; i >= 0; i--) {
    let pull = 0;
    for (let j = i + 1; j < size; j++) pull += lower[j * size + i] * (rounded[j] - values[j]);
    rounded[i] = nearestHalf(values[i] - pull / lower[i * size + i]);
  }
  return rounded;
}

/** L with L·Lᵀ = matrix, lower triangle (Cholesky). */
function cholesky(matrix: Float64Array, size: number): Float64Array {
  const lower = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j];
      for (let k = 0; k < j; k++) sum -= lower[i * size + k] * lower[j * size + k];
      lower[i * size + j] = i === j ? Math.sqrt(sum) : sum / lower[j * size + j];
    }
  }
  return lower;
}

/** eᵀ·(L·Lᵀ)·e of the error e = rounded − values. */
function errorOf(lower: Float64Array, values: Float64Array, rounded: Float64Array): number {
  const size = values.length;
  let error = 0;
  for (let i = 0; i < size; i++) {
    let sum = 0;
    for (let j = i; j < size; j++) sum += lower[j * size + i] * (rounded[j] - values[j]);
    error += sum * sum;
  }
  return error;
}

/**
 * taps : [c][s][row][column] complex, all halves: chosen for the least error of the antennas' responses over the field,
 * with the taper taken out.
 */
export function roundTaps(
  plan: Pick<ImagePlan, 'pixels' | 'kernelSize' | 'taps' | 'correction' | 'shown'>,
): Float64Array {
  const count = plan.kernelSize ** 2;
  const lower = cholesky(fieldGram(plan), count);
  const rounded = new Float64Array(plan.taps.length);
  const [values, halves] = [new Float64Array(count), new Float64Array(count)];
  for (let first = 0; first < plan.taps.length; first += 2 * count) {
    for (let part = 0; part < 2; part++) {
      for (let k = 0; k < count; k++) values[k] = plan.taps[first + 2 * k + part];
      roundTogether(lower, values, halves);
      for (let k = 0; k < count; k++) rounded[first + 2 * k + part] = halves[k];
    }
  }
  return rounded;
}

/** gram[k][j]: how errors of two cells of a kernel combine over the shown pixels, weighted for the taper's removal. */
function fieldGram({
  pixels,
  kernelSize: size,
  correction,
  shown,
}: Pick<ImagePlan, 'pixels' | 'kernelSize' | 'correction' | 'shown'>): Float64Array {
  const apart = 2 * size - 1;
  const turns = Float64Array.from({ length: 2 * apart * pixels }, (_, n) => {
    const [distance, pixel] = [Math.floor(n / 2 / pixels) - size + 1, (n >> 1) % pixels];
    const angle = (2 * Math.PI * distance * (pixel - pixels / 2)) / pixels;
    return n % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
  });
  const byDistance = new Float64Array(apart * apart);
  const alongRow = new Float64Array(2 * apart);
  for (let m = 0; m < pixels; m++) {
    alongRow.fill(0);
    for (let l = 0; l < pixels; l++) {
      const at = m * pixels + l;
      if (shown[at] === 0) continue;
      for (let d = 0; d < apart; d++) {
        alongRow[2 * d] += correction[at] * turns[2 * (d * pixels + l)];
        alongRow[2 * d + 1] += correction[at] * turns[2 * (d * pixels + l) + 1];
      }
    }
    for (let dRow = 0; dRow < apart; dRow++) {
      const [c, s] = turns.subarray(2 * (dRow * pixels + m));
      for (let d = 0; d < apart; d++)
        byDistance[dRow * apart + d] += c * alongRow[2 * d] - s * alongRow[2 * d + 1];
    }
  }
  const count = size * size;
  const largest = byDistance[(size - 1) * apart + size - 1];
  return Float64Array.from({ length: count * count }, (_, n) => {
    const [k, j] = [Math.floor(n / count), n % count];
    const dRow = Math.floor(k / size) - Math.floor(j / size) + size - 1;
    const d = (k % size) - (j % size) + size - 1;
    return byDistance[dRow * apart + d] + (k === j ? RIDGE * largest : 0);
  });
}

/** Keeps the matrices positive definite where a field is so narrow that neighbouring cells are nearly dependent. */
const RIDGE = 1e-9;

export interface HalfTurns {
  /** turns : [pixel][depth] bits of halves: cos at depth < box/2, then −sin, of 2π·pixel·(depth mod box/2 + ½)/n, scaled. */
  readonly turns: Uint16Array;
  /** unscale : [pixel], the factor for a product of two fields. */
  readonly unscale: Float64Array;
}

/** Scales tried for each pixel's factors: some round better than others. */
const SCALES = 64;

/** The transform's factors as halves, for a box of `size` cells. */
export function halfTurns(plan: Pick<ImagePlan, 'pixels' | 'kernelSize' | 'taps'>, size: number): HalfTurns {
  const { pixels } = plan;
  const half = size / 2;
  const alike = kernelCorrelation(plan);
  const gram = (sign: 1 | -1): Float64Array =>
    Float64Array.from({ length: half * half }, (_, n) => {
      const [i, j] = [Math.floor(n / half), n % half];
      const apart = alike[Math.abs(i - j)] ?? 0;
      return apart + sign * (alike[i + j + 1] ?? 0) + (i === j ? 1e-6 * alike[0] : 0);
    });
  // Cells at +u and −u share a factor: even parts add, odd parts subtract.
  const lowers = [cholesky(gram(1), half), cholesky(gram(-1), half)];
  const turns = new Uint16Array(pixels * size);
  const unscale = new Float64Array(pixels);
  const [exact, values, tried] = [0, 1, 2].map(() => [new Float64Array(half), new Float64Array(half)]);
  for (let pixel = 0; pixel < pixels; pixel++) {
    for (let u = 0; u < half; u++) {
      const angle = (2 * Math.PI * pixel * (u + 0.5)) / pixels;
      exact[0][u] = Math.cos(angle);
      exact[1][u] = -Math.sin(angle);
    }
    let best = Infinity;
    for (let n = 0; n < SCALES; n++) {
      const scale = 2 ** (-n / SCALES);
      let error = 0;
      for (const [part, lower] of lowers.entries()) {
        for (let u = 0; u < half; u++) values[part][u] = scale * exact[part][u];
        roundTogether(lower, values[part], tried[part]);
        error += errorOf(lower, values[part], tried[part]) / scale ** 2;
      }
      if (error >= best) continue;
      best = error;
      unscale[pixel] = scale ** -2;
      for (let depth = 0; depth < size; depth++)
        turns[pixel * size + depth] = halfBits(tried[Math.floor(depth / half)][depth % half]);
    }
  }
  return { turns, unscale };
}

/** [distance]: Σ tap · conj(tap that many cells further), along rows and columns alike, over every kernel. */
function kernelCorrelation({ kernelSize: size, taps }: Pick<ImagePlan, 'kernelSize' | 'taps'>): Float64Array {
  const sums = new Float64Array(size);
  const count = size * size;
  for (let first = 0; first < taps.length; first += 2 * count) {
    for (let k = 0; k < count; k++) {
      for (const [step, room] of [
        [1, size - (k % size)],
        [size, size - Math.floor(k / size)],
      ]) {
        for (let d = 0; d < room; d++) {
          const [a, b] = [first + 2 * k, first + 2 * (k + d * step)];
          sums[d] += taps[a] * taps[b] + taps[a + 1] * taps[b + 1];
        }
      }
    }
  }
  return sums;
}
