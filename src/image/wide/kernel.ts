/**
 * The kernel that spreads a visibility over the cells around it, along u, v and w alike:
 *
 *   φ(x) = exp(β ((1 − (2x/W)²)^μ − 1))   for |x| ≤ W/2 cells, else 0
 *
 * (the exponential of a semicircle where μ = ½). A visibility at the fractional cell k, spread with φ over W cells and
 * transformed, gives e^(2πi kξ)·φ̂(ξ) and images of itself φ̂(ξ + j), j ≠ 0, with phases of their own. Dividing by φ̂
 * leaves the relative error √(Σ_j φ̂(ξ+j)²)/φ̂(ξ), its worst over the part |ξ| ≤ 1/(2σ) of the transform that is kept
 * is `alias`. For every support W and oversampling σ there is one best pair (β, μ): kernel-table.ts.
 */
export interface Kernel {
  /** W, cells. */
  readonly support: number;
  /** β */
  readonly steepness: number;
  /** μ */
  readonly exponent: number;
}

export function kernelValue({ support, steepness, exponent }: Kernel, x: number): number {
  const inside = 1 - ((2 * x) / support) ** 2;
  return inside < 0 ? 0 : Math.exp(steepness * (inside ** exponent - 1));
}

/** Gauss–Legendre nodes and weights on [0, 1]. */
function quadrature(count: number): { readonly nodes: Float64Array; readonly weights: Float64Array } {
  const nodes = new Float64Array(count);
  const weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let t = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 1;
    // Newton's steps from a start this good converge in five.
    for (let step = 0; step < 10; step++) {
      let before = 1;
      let value = t;
      for (let k = 2; k <= count; k++) {
        [before, value] = [value, ((2 * k - 1) * t * value - (k - 1) * before) / k];
      }
      slope = (count * (t * value - before)) / (t * t - 1);
      t -= value / slope;
    }
    nodes[i] = 0.5 * (1 + t);
    weights[i] = 1 / ((1 - t * t) * slope * slope);
  }
  return { nodes, weights };
}

const NODES = 128;

/** φ̂(ξ) = ∫ φ(x) cos(2πξx) dx, ξ in turns a cell. x = (W/2) sin θ makes the integrand smooth up to its end. */
export function prepareTransform({ support, steepness, exponent }: Kernel): (xi: number) => number {
  const { nodes, weights } = quadrature(NODES);
  const places = nodes.map((node) => Math.PI * support * Math.sin((node * Math.PI) / 2));
  const heights = nodes.map((node, i) => {
    const cosine = Math.cos((node * Math.PI) / 2);
    return (
      weights[i] * support * (Math.PI / 2) * cosine * Math.exp(steepness * (cosine ** (2 * exponent) - 1))
    );
  });
  return (xi) => {
    let sum = 0;
    for (let i = 0; i < NODES; i++) sum += heights[i] * Math.cos(places[i] * xi);
    return sum;
  };
}

/**
 * Points of the kept part that are tested: with fewer, a kernel tuned to zeros between them looks better than it is.
 */
const LOOKED_AT = 40;
/** Images beyond the third add nothing. */
const IMAGES = 3;

/** The worst relative error within the part of the transform that oversampling σ keeps. */
export function aliasOf(kernel: Kernel, oversampling: number): number {
  const transform = prepareTransform(kernel);
  let worst = 0;
  for (let step = 0; step <= LOOKED_AT; step++) {
    const xi = (0.5 / oversampling) * (step / LOOKED_AT);
    let sum = 0;
    for (let j = 1; j <= IMAGES; j++) sum += transform(xi + j) ** 2 + transform(xi - j) ** 2;
    worst = Math.max(worst, Math.sqrt(sum) / transform(xi));
  }
  return worst;
}

/** The factor by which the correction at the edge of the kept part amplifies rounding noise. */
export function liftOf(kernel: Kernel, oversampling: number): number {
  const transform = prepareTransform(kernel);
  return transform(0) / transform(0.5 / oversampling);
}

/**
 * The W taps as polynomials of t = 2f − 1, where f in [0, 1] is the distance from k − W/2 up to the first cell:
 * tap j is at x = −W/2 + f + j.
 */
export interface Taps {
  readonly degree: number;
  /** coefficients : [power][tap], lowest power first. */
  readonly coefficients: Float64Array;
}

const MOST_DEGREE = 20;
/** Places within a cell at which a polynomial is compared with the kernel. */
const PROBES = 128;

/**
 * Of the least degree whose misfit in the image, where the correction amplifies it most, is below `error`. Visibilities
 * are anywhere within a cell, so the root mean square over a cell counts: at its very end the outermost tap has a
 * corner that no polynomial fits.
 */
export function fitTaps(kernel: Kernel, oversampling: number, error: number): Taps {
  const least = error * prepareTransform(kernel)(0.5 / oversampling);
  for (let degree = 3; ; degree++) {
    const taps = { degree, coefficients: interpolateTaps(kernel, degree) };
    if (degree === MOST_DEGREE || tapMisfit(kernel, taps) <= least) return taps;
  }
}

const tapPlace = (support: number, tap: number, t: number): number => -support / 2 + (t + 1) / 2 + tap;

function interpolateTaps(kernel: Kernel, degree: number): Float64Array {
  const { support } = kernel;
  const count = degree + 1;
  const coefficients = new Float64Array(count * support);
  const powers = chebyshevPowers(count);
  for (let tap = 0; tap < support; tap++) {
    for (let k = 0; k < count; k++) {
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const angle = (Math.PI * (i + 0.5)) / count;
        sum += kernelValue(kernel, tapPlace(support, tap, Math.cos(angle))) * Math.cos(k * angle);
      }
      const chebyshev = (sum * (k === 0 ? 1 : 2)) / count;
      for (let power = 0; power < count; power++) {
        coefficients[power * support + tap] += chebyshev * powers[k * count + power];
      }
    }
  }
  return coefficients;
}

/** powers : [k][power] of the Chebyshev polynomials T_k. */
function chebyshevPowers(count: number): Float64Array {
  const powers = new Float64Array(count * count);
  powers[0] = 1;
  if (count > 1) powers[count + 1] = 1;
  for (let k = 2; k < count; k++) {
    for (let power = 0; power < count; power++) {
      const raised = power === 0 ? 0 : 2 * powers[(k - 1) * count + power - 1];
      powers[k * count + power] = raised - powers[(k - 2) * count + power];
    }
  }
  return powers;
}

/** The value of tap j for an offset t in [−1, 1]. */
export function tapValue({ degree, coefficients }: Taps, tap: number, t: number): number {
  const support = coefficients.length / (degree + 1);
  let value = 0;
  for (let power = degree; power >= 0; power--) value = value * t + coefficients[power * support + tap];
  return value;
}

/** Root mean square over a cell of the misfit of all taps together. */
function tapMisfit(kernel: Kernel, taps: Taps): number {
  let sum = 0;
  for (let tap = 0; tap < kernel.support; tap++) {
    for (let probe = 0; probe < PROBES; probe++) {
      const t = -1 + (2 * probe + 1) / PROBES;
      const exact = kernelValue(kernel, tapPlace(kernel.support, tap, t));
      sum += (tapValue(taps, tap, t) - exact) ** 2;
    }
  }
  return Math.sqrt(sum / PROBES);
}
