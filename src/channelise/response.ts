/**
 * The response of a filter bank to a tone, beside a plain DFT of the same length. A tone δ channels away from a
 * channel's centre has the magnitude |Σ_n h[n] e^(2πi δ n/P)|, here in dB below a tone at the centre.
 */
import { refuse, wholeNumber } from '../core/errors.js';
import type { ChannelisePlan } from './plan.js';
import { planFft } from '../core/fft.js';
import { powerOfTwoFrom } from '../core/round-up.js';

export interface ResponseOptions {
  /** Steps of the sweep from one channel's centre to the next. */
  readonly steps?: number;
  /** How many channels on either side of a tone to compute. */
  readonly neighbours?: number;
}

/** All levels in dB relative to a tone at a channel's centre, so never much above 0. */
export interface FilterResponse {
  /** Positions of a tone from one channel's centre (0) to the next one's (1). */
  readonly offsetChannels: Float64Array;
  /** The strongest channel's level at those positions. */
  readonly scallopingDb: Float64Array;
  readonly dftScallopingDb: Float64Array;
  /** For a tone midway between two channels: the distance of each channel's centre, …, −½, ½, …. */
  readonly leakageOffsetChannels: Float64Array;
  /** Each of those channels' level. */
  readonly leakageDb: Float64Array;
  readonly dftLeakageDb: Float64Array;
  /** A channel's level for a tone at any distance from its centre, 0 … 8, either way: the curve of the leakage. */
  readonly curveOffsetChannels: Float64Array;
  readonly curveDb: Float64Array;
  readonly dftCurveDb: Float64Array;
  /** The loss of a tone on the edge of two channels; a long plain DFT's is 20·log₁₀(π/2) = 3.92 dB. */
  readonly edgeLossDb: number;
  readonly dftEdgeLossDb: number;
  /** The highest response of a channel to tones 1.5 to 8 channels away; −∞ for two channels, which are closer. */
  readonly leakageBeyondDb: number;
  readonly dftLeakageBeyondDb: number;
  /**
   * The remaining fraction of a continuum source's squared signal-to-noise ratio when all channels are averaged:
   * neighbouring channels and spectra share some of their noise. 1 where they share none, as in a plain DFT.
   */
  readonly noiseEfficiency: number;
}

/** A channel's response: the loss inside it and the leakage from its neighbours, beside a plain transform's. */
export function filterResponse(plan: ChannelisePlan, options: ResponseOptions = {}): FilterResponse {
  const steps = wholeNumber('filter response', 'steps', options.steps ?? 100, 2, 100_000);
  const neighbours = wholeNumber('filter response', 'neighbours', options.neighbours ?? 16, 1, 100_000);
  const period = plan.samplesPerSpectrum;
  const offsetChannels = Float64Array.from({ length: steps + 1 }, (_, n) => n / steps);
  const leakageOffsetChannels = Float64Array.from({ length: 2 * neighbours }, (_, n) => n - neighbours + 0.5);
  const curveSteps = stepsOfCurve(plan.kernel.taps.length, period);
  const curveOffsetChannels = Float64Array.from(
    { length: CURVE_CHANNELS * curveSteps + 1 },
    (_, n) => n / curveSteps,
  );
  // The kernels' taps, rounding included.
  const taps = Float64Array.from(plan.kernel.taps);
  const filter = levels(taps, period);
  const plain = new Float64Array(period).fill(1);
  const dft = levels(plain, period);
  const curveDb = curveOffsetChannels.map(filter);
  const dftCurveDb = curveOffsetChannels.map(dft);
  return {
    offsetChannels,
    scallopingDb: offsetChannels.map(strongest(filter)),
    dftScallopingDb: offsetChannels.map(strongest(dft)),
    leakageOffsetChannels,
    leakageDb: leakageOffsetChannels.map(filter),
    dftLeakageDb: leakageOffsetChannels.map(dft),
    curveOffsetChannels,
    curveDb,
    dftCurveDb,
    edgeLossDb: -strongest(filter)(0.5),
    dftEdgeLossDb: -strongest(dft)(0.5),
    leakageBeyondDb: loudestBeyond(taps, period),
    dftLeakageBeyondDb: loudestBeyond(plain, period),
    noiseEfficiency: noiseEfficiency(taps, period),
  };
}

/** Distance from a tone in channels: nearer is the filter's own flank. */
const FLANK_CHANNELS = 1.5;

/** The band is cyclic with P channels: half of it away is the farthest, beyond which the channel itself repeats. */
function loudestBeyond(taps: Float64Array, period: number): number {
  const farthest = Math.min(CURVE_CHANNELS, period / 2);
  if (farthest < FLANK_CHANNELS) return -Infinity;
  const loudest = Math.max(
    loudestLobe(taps, period, FLANK_CHANNELS, farthest),
    // Its points do not include the ends, where a flank may be the maximum.
    ...[FLANK_CHANNELS, farthest].map((offset) => magnitude(taps, offset, period)),
  );
  return 20 * Math.log10(loudest / magnitude(taps, 0, period));
}

/**
 * 1/Σ|ρ|² over all channels and spectra, ρ the correlation of their noise with the channel's own. Summed over channels,
 * that of spectra k apart is by Parseval P·Σ_m (Σ_τ h[m + τP] h[m + (τ + k)P])².
 */
function noiseEfficiency(taps: Float64Array, period: number): number {
  const count = taps.length / period;
  let energy = 0;
  for (const tap of taps) energy += tap * tap;
  let shared = 0;
  for (let k = 0; k < count; k++) {
    let sum = 0;
    for (let m = 0; m < period; m++) {
      let folded = 0;
      for (let n = m; n + k * period < taps.length; n += period) folded += taps[n] * taps[n + k * period];
      sum += folded * folded;
    }
    shared += (k === 0 ? 1 : 2) * sum;
  }
  return energy ** 2 / (period * shared);
}

const CURVE_CHANNELS = 8;
/** Points of the curve times taps: some seconds. */
const MOST_TURNS = 2 ** 29;

/** A channel has as many lobes as the filter is spectra long: eight points for each, fewer for very long filters. */
function stepsOfCurve(taps: number, period: number): number {
  const smooth = Math.min(128, Math.max(16, 8 * Math.round(taps / period)));
  return Math.max(8, Math.min(smooth, Math.floor(MOST_TURNS / (taps * CURVE_CHANNELS))));
}

type LevelDb = (offsetChannels: number) => number;

function levels(taps: Float64Array, period: number): LevelDb {
  const centre = magnitude(taps, 0, period);
  if (centre === 0)
    refuse(
      'filter response',
      'the filter is deaf at the middle of a channel: its coefficients sum to 0',
      'give a low-pass filter',
    );
  return (offset) => 20 * Math.log10(magnitude(taps, offset, period) / centre);
}

/**
 * Phases advance tap by tap, restarting from a new sine and cosine before errors accumulate: ten times as fast as one
 * for each tap.
 */
const RUN = 64;

function magnitude(taps: Float64Array, offsetChannels: number, period: number): number {
  let re = 0;
  let im = 0;
  const perTap = (2 * Math.PI * offsetChannels) / period;
  const [stepRe, stepIm] = [Math.cos(perTap), Math.sin(perTap)];
  for (let first = 0; first < taps.length; first += RUN) {
    let [c, s] = [Math.cos(perTap * first), Math.sin(perTap * first)];
    const end = Math.min(taps.length, first + RUN);
    for (let n = first; n < end; n++) {
      re += taps[n] * c;
      im += taps[n] * s;
      [c, s] = [c * stepRe - s * stepIm, c * stepIm + s * stepRe];
    }
  }
  return Math.hypot(re, im);
}

/** The channel with the best response to a tone between channels 0 and 1, among those and the ones beyond. */
const strongest =
  (level: LevelDb): LevelDb =>
  (offset) =>
    Math.max(level(offset + 1), level(offset), level(offset - 1), level(offset - 2));

/**
 * A lobe's width is a channel over the filter's length in spectra: with so many points on each its maximum is found
 * within 0.05 dB.
 */
const POINTS_OF_LOBE = 16;

/**
 * Largest |Σ_n h[n] e^(2πi δ n/P)| for δ from `from` to `to` channels. Samples n = r + R m of one r are transformed
 * together, at F·R points around the P cyclic channels; of those only the few requested are added up over r.
 */
function loudestLobe(taps: Float64Array, period: number, from: number, to: number): number {
  const perChannel = POINTS_OF_LOBE * Math.ceil(taps.length / period);
  const apart = powerOfTwoFrom(Math.max(1, period / (2 * to)));
  const fft = planFft(powerOfTwoFrom((perChannel * period) / apart));
  const perTurn = fft.length * apart;
  const first = Math.ceil((from * perTurn) / period);
  const count = Math.floor((to * perTurn) / period) + 1 - first;
  const sums = new Float64Array(2 * Math.max(0, count));
  const part = new Float64Array(2 * fft.length);
  for (let r = 0; r < apart; r++) {
    part.fill(0);
    for (let n = r, at = 0; n < taps.length; n += apart, at += 2) part[at] = taps[n];
    fft.inverse(part);
    for (let k = 0; k < count; k++) {
      const at = 2 * ((first + k) % fft.length);
      const turn = (2 * Math.PI * r * (first + k)) / perTurn;
      const [c, s] = [Math.cos(turn), Math.sin(turn)];
      sums[2 * k] += part[at] * c - part[at + 1] * s;
      sums[2 * k + 1] += part[at] * s + part[at + 1] * c;
    }
  }
  let most = 0;
  for (let k = 0; k < count; k++) most = Math.max(most, Math.hypot(sums[2 * k], sums[2 * k + 1]));
  return most;
}
