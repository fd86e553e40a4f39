/**
 * The prototype low-pass filter of a polyphase filter bank: h[n] = sinc((n − m)·w/P) · window(n), n = 0…T·P−1,
 * symmetric about the middle m = (T·P − 1)/2, scaled to a sum of one, so that the transform of a tone of amplitude A at
 * a channel's centre has magnitude A.
 */
import { realNumber, refuse, unreachable } from '../core/errors.js';

export type FilterWindow =
  | { readonly kind: 'rectangular' | 'hann' | 'hamming' | 'blackman' }
  | { readonly kind: 'kaiser'; readonly beta: number };

interface PrototypeShape {
  readonly taps: number;
  readonly samplesPerSpectrum: number;
  readonly window: FilterWindow;
  /** Where the response has fallen to half, in channel widths: 1 puts it on the channels' common edges. */
  readonly passbandChannels: number;
}

/** Beyond this the window is narrower than a sample for any planned filter, and I₀ nears overflow. */
const MOST_KAISER_BETA = 100;

export function prototypeFilter(shape: PrototypeShape): Float64Array {
  const { taps, samplesPerSpectrum, passbandChannels } = shape;
  const length = taps * samplesPerSpectrum;
  const middle = (length - 1) / 2;
  const weight = windowFunction(shape.window);
  const filter = new Float64Array(length);
  let sum = 0;
  for (let n = 0; n < length; n++) {
    // One tap has no neighbouring spectra to shape the channel with: it is a plain windowed transform.
    const shapeOfChannel = taps === 1 ? 1 : sinc(((n - middle) * passbandChannels) / samplesPerSpectrum);
    // Window edges are half a sample outside the first and last tap, so that no tap is wasted on a zero.
    filter[n] = shapeOfChannel * weight((2 * (n - middle)) / length);
    sum += filter[n];
  }
  for (let n = 0; n < length; n++) filter[n] /= sum;
  return filter;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** The window as a function of x in (−1, 1), one at the middle. */
function windowFunction(window: FilterWindow): (x: number) => number {
  switch (window.kind) {
    case 'rectangular':
      return () => 1;
    case 'hann':
      return (x) => 0.5 + 0.5 * Math.cos(Math.PI * x);
    case 'hamming':
      return (x) => 0.54 + 0.46 * Math.cos(Math.PI * x);
    case 'blackman':
      return (x) => 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x);
    case 'kaiser': {
      const beta = realNumber('channelise', "the Kaiser window's beta", window.beta, 0, MOST_KAISER_BETA);
      const peak = besselI0(beta);
      return (x) => besselI0(beta * Math.sqrt(1 - x * x)) / peak;
    }
    default:
      return unreachable(window);
  }
}

/** Modified Bessel function of the first kind, order 0: Σ_k ((x/2)^k / k!)², every term positive. */
export function besselI0(x: number): number {
  const quarterSquare = (x * x) / 4;
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= quarterSquare / (k * k);
    sum += term;
  }
  return sum;
}

/** Taps as 16-bit integers: tap = integer · scale, the largest scaled to ±32767. */
interface IntegerTaps {
  readonly taps: Int16Array;
  readonly scale: number;
}

/**
 * Rounds the filter once, so that sums over 8-bit samples are exact integers on every backend. With 256
 * taps a sum stays below 256·128·32767 = 1.07·10⁹, inside 32 bits.
 */
export function roundTaps(filter: Float64Array): IntegerTaps {
  let largest = 0;
  for (const tap of filter) largest = Math.max(largest, Math.abs(tap));
  const scale = largest / 32767;
  const taps = new Int16Array(filter.length);
  // Not Int16Array.from, which takes ten times as long over a million taps.
  for (let n = 0; n < filter.length; n++) taps[n] = Math.round(filter[n] / scale);
  return { taps, scale };
}

/** The user's own filter, copied so that later changes do not affect a plan. */
export function ownFilter(
  coefficients: Float64Array,
  taps: number,
  samplesPerSpectrum: number,
): Float64Array {
  const length = taps * samplesPerSpectrum;
  if (coefficients.length !== length) {
    refuse(
      'channelise',
      `${coefficients.length} coefficients were given where ${taps} taps of ${samplesPerSpectrum} samples need ${length}`,
      'give one for every tap and sample of a spectrum, [τ][n]',
    );
  }
  const bad = coefficients.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) refuse('channelise', `coefficient ${bad} is ${coefficients[bad]}`, 'give finite numbers');
  if (coefficients.every((value) => value === 0)) {
    refuse('channelise', 'every coefficient is zero', 'a filter needs at least one that is not');
  }
  return coefficients.slice();
}
