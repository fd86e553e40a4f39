/**
 * Delays and phases between channels from noise that all of them receive: a receiver's noise source. The cross-spectrum
 * of each channel with the first is e^(iφ − 2πi f τ); τ and φ maximise its sum over the band after phase rotation.
 */
import { wholeNumber } from '../core/errors.js';
import { planFft, type Fft } from '../core/fft.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';

export interface NoiseSolution {
  /** The number used, for each channel. */
  readonly samples: number;
  readonly channels: readonly NoiseChannel[];
}

/** Relative to the first channel. */
export interface NoiseChannel {
  /** Later than the first channel by so many samples; NaN where no common signal was found. */
  readonly lagSamples: number;
  readonly lagErrorSamples: number;
  /** At the middle of the band. */
  readonly phaseDeg: number;
  readonly phaseErrorDeg: number;
  /** Total power of the channel over that of the first. */
  readonly powerRatio: number;
  /** Fraction of the voltage common to both, 0 to 1. */
  readonly coherence: number;
  /** Of the correlation: coherence times the root of the samples. */
  readonly signalToNoise: number;
}

/** Lags up to half of it can be found. */
const LONGEST_SEGMENT = 4096;
/** The correlation is interpolated between its samples, so that its peak is not missed. */
const FINER = 4;
/** The largest of 4096 lags of noise alone exceeds it once in 10¹² solutions. */
const LEAST_SIGNAL_TO_NOISE = 6;
/** Standard deviation of 2π f over a flat band of one cycle a sample. */
const BAND_RMS_RAD = (2 * Math.PI) / Math.sqrt(12);

export class NoiseSolver {
  private readonly fft: Fft;
  private readonly spectra: Float64Array[];
  /** Of each channel with the first: complex, [k]. */
  private readonly cross: Float64Array[];
  private readonly powers: Float64Array;
  private samples = 0;

  constructor(
    private readonly inputs: number,
    frameSamples: number,
  ) {
    wholeNumber('noise source', 'samples of a frame', frameSamples, 16, 2 ** 30);
    const length = Math.min(LONGEST_SEGMENT, 2 ** Math.floor(Math.log2(frameSamples)));
    this.fft = planFft(length);
    this.spectra = Array.from({ length: inputs }, () => new Float64Array(2 * length));
    this.cross = Array.from({ length: inputs }, () => new Float64Array(2 * length));
    this.powers = new Float64Array(inputs);
  }

  /** voltages : [a][t], complex. An incomplete last segment is not used. */
  add(voltages: Float32Array | Int8Array, samples: number): void {
    const { fft, spectra, cross, powers } = this;
    const { length } = fft;
    for (let from = 0; from + length <= samples; from += length) {
      for (let a = 0; a < this.inputs; a++) {
        spectra[a].set(voltages.subarray(2 * (a * samples + from), 2 * (a * samples + from + length)));
        fft.forward(spectra[a]);
        addCross(cross[a], spectra[a], spectra[0]);
        for (const value of spectra[a]) powers[a] += value * value;
      }
      this.samples += length;
    }
  }

  /** Undefined before the first whole segment. */
  solve(): NoiseSolution | undefined {
    if (this.samples === 0) return undefined;
    return { samples: this.samples, channels: this.cross.map((_, a) => this.channel(a)) };
  }

  private channel(a: number): NoiseChannel {
    const { cross, powers, samples } = this;
    const powerRatio = powers[a] / powers[0];
    const { lag, re, im } = peakOf(cross[a], this.fft.length);
    const coherence = Math.min(1, Math.hypot(re, im) / Math.sqrt(powers[a] * powers[0]));
    const signalToNoise = coherence * Math.sqrt(samples);
    if (a === 0)
      return {
        lagSamples: 0,
        lagErrorSamples: 0,
        phaseDeg: 0,
        phaseErrorDeg: 0,
        powerRatio,
        coherence,
        signalToNoise,
      };
    const isFound = signalToNoise >= LEAST_SIGNAL_TO_NOISE;
    const phaseErrorRad = Math.sqrt((1 - coherence ** 2) / 2) / signalToNoise;
    return {
      lagSamples: isFound ? lag : NaN,
      lagErrorSamples: isFound ? phaseErrorRad / BAND_RMS_RAD : NaN,
      phaseDeg: isFound ? Math.atan2(im, re) * DEGREES_PER_RADIAN : NaN,
      phaseErrorDeg: isFound ? phaseErrorRad * DEGREES_PER_RADIAN : NaN,
      powerRatio,
      coherence,
      signalToNoise,
    };
  }
}

/** sum += x · conj(y) */
function addCross(sum: Float64Array, x: Float64Array, y: Float64Array): void {
  for (let k = 0; k < sum.length; k += 2) {
    sum[k] += x[k] * y[k] + x[k + 1] * y[k + 1];
    sum[k + 1] += x[k + 1] * y[k] - x[k] * y[k + 1];
  }
}

interface Peak {
  readonly lag: number;
  /** Σ_k S_k e^(2πi kτ/N) there. */
  readonly re: number;
  readonly im: number;
}

function peakOf(cross: Float64Array, length: number): Peak {
  // From the coarse lag within a quarter of a sample to the maximum, which is the only one so near.
  const coarse = coarseLag(cross, length);
  let [low, high] = [coarse - 1 / FINER, coarse + 1 / FINER];
  const golden = (Math.sqrt(5) - 1) / 2;
  for (let n = 0; n < 40; n++) {
    const [x, y] = [high - golden * (high - low), low + golden * (high - low)];
    if (sizeAt(cross, length, x) > sizeAt(cross, length, y)) high = y;
    else low = x;
  }
  return turnedSum(cross, length, (low + high) / 2);
}

const sizeAt = (cross: Float64Array, length: number, lag: number): number => {
  const { re, im } = turnedSum(cross, length, lag);
  return Math.hypot(re, im);
};

/** Frequencies run from −N/2 to N/2 − 1, those of the FFT. */
const signed = (k: number, length: number): number => (k < length / 2 ? k : k - length);

function turnedSum(cross: Float64Array, length: number, lag: number): Peak {
  let [re, im] = [0, 0];
  for (let k = 0; k < length; k++) {
    const angle = (2 * Math.PI * signed(k, length) * lag) / length;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    re += cross[2 * k] * c - cross[2 * k + 1] * s;
    im += cross[2 * k] * s + cross[2 * k + 1] * c;
  }
  return { lag, re, im };
}

function coarseLag(cross: Float64Array, length: number): number {
  const fine = FINER * length;
  const padded = new Float64Array(2 * fine);
  for (let k = 0; k < length; k++) {
    const at = (signed(k, length) + fine) % fine;
    padded.set(cross.subarray(2 * k, 2 * k + 2), 2 * at);
  }
  planFft(fine).inverse(padded);
  let best = 0;
  for (let n = 0; n < fine; n++)
    if (Math.hypot(padded[2 * n], padded[2 * n + 1]) > Math.hypot(padded[2 * best], padded[2 * best + 1]))
      best = n;
  return (best < fine / 2 ? best : best - fine) / FINER;
}
