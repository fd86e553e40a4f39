/**
 * Discrete Fourier transforms of any length in float64: Stockham's self-sorting form, one pass per prime
 * factor (fours taken together). A prime factor p costs p²/2 per butterfly: slow for large primes, right for all.
 *
 *   forward: X[k] = Σ_n x[n] e^(−2πi nk/N)        inverse: x[n] = Σ_k X[k] e^(+2πi nk/N), no 1/N
 */
import { wholeNumber } from './errors.js';

export interface Fft {
  readonly length: number;
  /** In place over `length` complex values (re, im interleaved) starting at complex index `start`. */
  forward(values: Float64Array, start?: number): void;
  inverse(values: Float64Array, start?: number): void;
}

export function factorise(length: number): number[] {
  const factors: number[] = [];
  let rest = length;
  while (rest % 4 === 0) {
    factors.push(4);
    rest /= 4;
  }
  for (let prime = 2; prime * prime <= rest; prime++) {
    while (rest % prime === 0) {
      factors.push(prime);
      rest /= prime;
    }
  }
  if (rest > 1) factors.push(rest);
  return factors;
}

export function planFft(length: number): Fft {
  wholeNumber('fft', 'length', length, 1, 2 ** 26);
  const factors = factorise(length).map((radix) => ({
    radix,
    odd: radix % 2 === 1 ? prepareOddRadix(radix) : undefined,
  }));
  const cosine = new Float64Array(length);
  const sine = new Float64Array(length);
  for (let n = 0; n < length; n++) {
    cosine[n] = Math.cos((2 * Math.PI * n) / length);
    sine[n] = Math.sin((2 * Math.PI * n) / length);
  }
  let source = new Float64Array(2 * length);
  let target = new Float64Array(2 * length);

  function forward(values: Float64Array, start = 0): void {
    const view = values.subarray(2 * start, 2 * (start + length));
    source.set(view);
    let size = length;
    let stride = 1;
    for (const { radix, odd } of factors) {
      const pass: Pass = { source, target, size, stride, cosine, sine };
      if (odd) oddRadix(pass, odd);
      else if (radix === 4) radix4(pass);
      else radix2(pass);
      [source, target] = [target, source];
      size /= radix;
      stride *= radix;
    }
    view.set(source);
  }

  /** Swapping re and im before and after turns the forward transform into the inverse. */
  function inverse(values: Float64Array, start = 0): void {
    swapParts(values, start, length);
    forward(values, start);
    swapParts(values, start, length);
  }
  return { length, forward, inverse };
}

function swapParts(values: Float64Array, start: number, length: number): void {
  for (let n = 2 * start; n < 2 * (start + length); n += 2) {
    const re = values[n];
    values[n] = values[n + 1];
    values[n + 1] = re;
  }
}

/** One pass: `size` is the length still to transform, `stride` the number of interleaved transforms. */
interface Pass {
  readonly source: Float64Array;
  readonly target: Float64Array;
  readonly size: number;
  readonly stride: number;
  /** cos and sin of 2πn/N over the whole length N. */
  readonly cosine: Float64Array;
  readonly sine: Float64Array;
}

function radix2({ source, target, size, stride, cosine, sine }: Pass): void {
  const half = size / 2;
  for (let p = 0; p < half; p++) {
    const c = cosine[p * stride];
    const s = -sine[p * stride];
    for (let q = 0; q < stride; q++) {
      const a = 2 * (q + stride * p);
      const b = a + 2 * stride * half;
      const to = 2 * (q + stride * 2 * p);
      target[to] = source[a] + source[b];
      target[to + 1] = source[a + 1] + source[b + 1];
      const re = source[a] - source[b];
      const im = source[a + 1] - source[b + 1];
      target[to + 2 * stride] = re * c - im * s;
      target[to + 2 * stride + 1] = re * s + im * c;
    }
  }
}

function radix4({ source, target, size, stride, cosine, sine }: Pass): void {
  const quarter = size / 4;
  for (let p = 0; p < quarter; p++) {
    const step = p * stride;
    const c1 = cosine[step];
    const s1 = -sine[step];
    const c2 = cosine[2 * step];
    const s2 = -sine[2 * step];
    const c3 = cosine[3 * step];
    const s3 = -sine[3 * step];
    for (let q = 0; q < stride; q++) {
      const a = 2 * (q + stride * p);
      const b = a + 2 * stride * quarter;
      const c = b + 2 * stride * quarter;
      const d = c + 2 * stride * quarter;
      const sumACr = source[a] + source[c];
      const sumACi = source[a + 1] + source[c + 1];
      const differenceACr = source[a] - source[c];
      const differenceACi = source[a + 1] - source[c + 1];
      const sumBDr = source[b] + source[d];
      const sumBDi = source[b + 1] + source[d + 1];
      // −i (b − d), as in the forward transform
      const turnedBDr = source[b + 1] - source[d + 1];
      const turnedBDi = source[d] - source[b];
      const to = 2 * (q + stride * 4 * p);
      target[to] = sumACr + sumBDr;
      target[to + 1] = sumACi + sumBDi;
      const r1 = differenceACr + turnedBDr;
      const i1 = differenceACi + turnedBDi;
      target[to + 2 * stride] = r1 * c1 - i1 * s1;
      target[to + 2 * stride + 1] = r1 * s1 + i1 * c1;
      const r2 = sumACr - sumBDr;
      const i2 = sumACi - sumBDi;
      target[to + 4 * stride] = r2 * c2 - i2 * s2;
      target[to + 4 * stride + 1] = r2 * s2 + i2 * c2;
      const r3 = differenceACr - turnedBDr;
      const i3 = differenceACi - turnedBDi;
      target[to + 6 * stride] = r3 * c3 - i3 * s3;
      target[to + 6 * stride + 1] = r3 * s3 + i3 * c3;
    }
  }
}

/** For each odd prime factor: its roots, and buffers for the inputs of one butterfly, added and subtracted in pairs. */
interface OddRadix {
  readonly radix: number;
  /** cos and sin of 2πn/radix. */
  readonly cosine: Float64Array;
  readonly sine: Float64Array;
  /** sums, differences : [k − 1] complex, of inputs k and radix − k. */
  readonly sums: Float64Array;
  readonly differences: Float64Array;
}

function prepareOddRadix(radix: number): OddRadix {
  const turns = Float64Array.from({ length: radix }, (_, n) => (2 * Math.PI * n) / radix);
  return {
    radix,
    cosine: turns.map(Math.cos),
    sine: turns.map(Math.sin),
    sums: new Float64Array(radix - 1),
    differences: new Float64Array(radix - 1),
  };
}

/** Outputs j and radix − j share the cosines of the sums and the sines of the differences. */
function oddRadix(
  { source, target, size, stride, cosine, sine }: Pass,
  { radix, cosine: rootCosine, sine: rootSine, sums, differences }: OddRadix,
): void {
  const part = size / radix;
  const pairs = (radix - 1) / 2;
  for (let p = 0; p < part; p++) {
    for (let q = 0; q < stride; q++) {
      const first = 2 * (q + stride * p);
      const to = 2 * (q + stride * radix * p);
      const re = source[first];
      const im = source[first + 1];
      let allRe = re;
      let allIm = im;
      for (let k = 1; k <= pairs; k++) {
        const a = first + 2 * stride * part * k;
        const b = first + 2 * stride * part * (radix - k);
        const at = 2 * (k - 1);
        sums[at] = source[a] + source[b];
        sums[at + 1] = source[a + 1] + source[b + 1];
        differences[at] = source[a] - source[b];
        differences[at + 1] = source[a + 1] - source[b + 1];
        allRe += sums[at];
        allIm += sums[at + 1];
      }
      target[to] = allRe;
      target[to + 1] = allIm;
      for (let j = 1; j <= pairs; j++) {
        let evenRe = re;
        let evenIm = im;
        let oddRe = 0;
        let oddIm = 0;
        for (let k = 1, root = j; k <= pairs; k++) {
          const c = rootCosine[root];
          const s = rootSine[root];
          const at = 2 * (k - 1);
          evenRe += sums[at] * c;
          evenIm += sums[at + 1] * c;
          // −i times the differences, as in the forward transform
          oddRe += differences[at + 1] * s;
          oddIm -= differences[at] * s;
          root += j;
          if (root >= radix) root -= radix;
        }
        twist(
          target,
          to + 2 * stride * j,
          evenRe + oddRe,
          evenIm + oddIm,
          cosine[j * p * stride],
          sine[j * p * stride],
        );
        const other = radix - j;
        const turn = other * p * stride;
        twist(target, to + 2 * stride * other, evenRe - oddRe, evenIm - oddIm, cosine[turn], sine[turn]);
      }
    }
  }
}

/** (re, im) · (c − i s), into the target. */
function twist(target: Float64Array, to: number, re: number, im: number, c: number, s: number): void {
  target[to] = re * c + im * s;
  target[to + 1] = im * c - re * s;
}
