/**
 * Which satellites a few inputs receive, with code phase and Doppler. Samples are mixed to the carrier and summed into
 * 2048 bins per millisecond; each millisecond is correlated with every code at every phase by Fourier transforms, and
 * powers are added over milliseconds and inputs.
 *
 * In noise the sum of K such powers over their mean has a gamma distribution. A satellite is accepted if the
 * probability that the largest of all bins of all codes would be so large is below 10⁻⁶. Strong satellites leak into
 * other codes, so four codes without a satellite are searched too: a satellite must be twice as far above the noise as
 * the largest of these.
 */
import { planFft } from '../core/fft.js';
import { median } from '../core/median.js';
import { caCode, CHIP_RATE_HZ, CHIPS, prns, unused } from './codes.js';

export const BINS = 2048;
/** Pieces of a millisecond lose at most 0.9 dB at half a step. */
export const DOPPLER_STEP_HZ = 500;
const LOG10_FALSE_ALARM = -6;
const OVER_UNUSED = 2;

export interface Acquired {
  readonly prn: number;
  readonly dopplerHz: number;
  /** Bin at which a code begins. */
  readonly bin: number;
  /** Power relative to the noise; 1 for noise alone. */
  readonly ratio: number;
  /** (ratio − 1) over the standard deviation of the noise. */
  readonly sigmas: number;
  readonly log10FalseAlarm: number;
}

export interface Search {
  readonly found: readonly Acquired[];
  /** The strongest candidate that was rejected. */
  readonly rejected?: Acquired;
  readonly looks: number;
}

/** bins : [input][ms · BINS] complex. */
export function searchCodes(
  bins: readonly Float64Array[],
  mostDopplerHz: number,
  onStep: (fraction: number) => void = () => undefined,
): Search {
  const fft = planFft(BINS);
  const codes = [...prns, ...unused].map((prn) => {
    const chips = caCode(prn);
    const values = new Float64Array(2 * BINS);
    for (let k = 0; k < BINS; k++) values[2 * k] = chips[Math.floor(((k + 0.5) / BINS) * CHIPS)];
    fft.forward(values);
    return values;
  });
  const most = Math.ceil(mostDopplerHz / DOPPLER_STEP_HZ);
  const dopplers = Array.from({ length: 2 * most + 1 }, (_, d) => (d - most) * DOPPLER_STEP_HZ);
  const milliseconds = bins[0].length / (2 * BINS);
  const looks = bins.length * milliseconds;
  const powers = codes.map(() => dopplers.map(() => new Float64Array(BINS)));
  const spectra = [new Float64Array(2 * BINS), new Float64Array(2 * BINS)];
  const product = new Float64Array(2 * BINS);
  let look = 0;
  for (const values of bins)
    for (let ms = 0; ms < milliseconds; ms++) {
      const piece = values.subarray(2 * BINS * ms, 2 * BINS * (ms + 1));
      spectra[0].set(piece);
      fft.forward(spectra[0]);
      // Half a bin of the transform lower.
      for (let k = 0; k < BINS; k++) {
        const phase = (-Math.PI * k) / BINS;
        const c = Math.cos(phase);
        const s = Math.sin(phase);
        spectra[1][2 * k] = piece[2 * k] * c - piece[2 * k + 1] * s;
        spectra[1][2 * k + 1] = piece[2 * k] * s + piece[2 * k + 1] * c;
      }
      fft.forward(spectra[1]);
      for (const [d, dopplerHz] of dopplers.entries()) {
        const steps = dopplerHz / DOPPLER_STEP_HZ;
        const half = ((steps % 2) + 2) % 2;
        const shift = (steps - half) / 2;
        const spectrum = spectra[half];
        for (const [p, code] of codes.entries()) {
          let from = 2 * ((shift + BINS) % BINS);
          // Conjugated: its forward transform has the powers of the inverse.
          for (let n = 0; n < 2 * BINS; n += 2) {
            const re = spectrum[from];
            const im = spectrum[from + 1];
            product[n] = re * code[n] + im * code[n + 1];
            product[n + 1] = re * code[n + 1] - im * code[n];
            from = from + 2 === 2 * BINS ? 0 : from + 2;
          }
          fft.forward(product);
          const sums = powers[p][d];
          for (let k = 0; k < BINS; k++) sums[k] += product[2 * k] ** 2 + product[2 * k + 1] ** 2;
        }
      }
      onStep(++look / looks);
    }
  return { ...decide(powers, dopplers, looks), looks };
}

function decide(
  powers: readonly (readonly Float64Array[])[],
  dopplers: readonly number[],
  looks: number,
): Omit<Search, 'looks'> {
  const cells = powers.length * dopplers.length * BINS;
  const all = [...prns, ...unused].map((prn, p): Acquired => {
    let [peak, best, bin] = [0, 0, 0];
    for (const [d, sums] of powers[p].entries())
      sums.forEach((power, k) => {
        if (power > peak) [peak, best, bin] = [power, d, k];
      });
    // The mean of the noise from the median, after Wilson and Hilferty.
    const middle = median(powers[p].map((sums) => median(sums)));
    const ratio = (peak / middle) * (1 - 1 / (9 * looks)) ** 3;
    return {
      prn,
      dopplerHz: dopplers[best],
      bin,
      ratio,
      sigmas: (ratio - 1) * Math.sqrt(looks),
      log10FalseAlarm: log10Tail(ratio * looks, looks) + Math.log10(cells),
    };
  });
  const sent = all.slice(0, prns.length).sort((one, other) => other.ratio - one.ratio);
  const noSatellite = Math.max(...all.slice(prns.length).map(({ ratio }) => ratio));
  const isFound = ({ ratio, log10FalseAlarm }: Acquired): boolean =>
    log10FalseAlarm < LOG10_FALSE_ALARM && ratio - 1 > OVER_UNUSED * (noSatellite - 1);
  return { found: sent.filter(isFound), rejected: sent.find((one) => !isFound(one)) };
}

/** log₁₀ of the probability that a sum of `looks` exponentials of mean 1 is above x: e^(−x) Σ xᵏ/k!. */
export function log10Tail(x: number, looks: number): number {
  if (!(x > 0)) return 0;
  let term = 0;
  let sum = 1;
  let scale = 0;
  for (let k = 1; k < looks; k++) {
    term += Math.log(x / k);
    if (term > scale) {
      sum = sum * Math.exp(scale - term) + 1;
      scale = term;
    } else sum += Math.exp(term - scale);
  }
  return Math.min(0, (scale + Math.log(sum) - x) / Math.LN10);
}

/** Bins per second. */
export const BIN_RATE_HZ = (BINS * CHIP_RATE_HZ) / CHIPS;
