/**
 * How a filter bank hears a tone, beside a plain DFT of the same length. A tone δ channels away from a
 * channel's centre comes out of it with magnitude |Σ_n h[n] e^(2πi δ n/P)|, here in dB below a tone at the centre.
 */
import { wholeNumber } from '../core/errors.js';
import type { ChannelisePlan } from './plan.js';

export interface ResponseOptions {
  /** Steps of the sweep from one channel's centre to the next. */
  readonly steps?: number;
  /** How many channels on either side of a tone to listen to. */
  readonly neighbours?: number;
}

/** All levels in dB against a tone at a channel's centre, so never much above 0. */
export interface FilterResponse {
  /** A tone's way from one channel's centre (0) to the next one's (1). */
  readonly offsetChannels: Float64Array;
  /** The strongest channel's level along that way. */
  readonly scallopingDb: Float64Array;
  readonly dftScallopingDb: Float64Array;
  /** A tone midway between two channels: how far from it each channel's centre lies, …, −½, ½, …. */
  readonly leakageOffsetChannels: Float64Array;
  /** Each of those channels' level. */
  readonly leakageDb: Float64Array;
  readonly dftLeakageDb: Float64Array;
  /** What a tone on the edge of two channels loses; a long plain DFT's is 20·log₁₀(π/2) = 3.92 dB. */
  readonly edgeLossDb: number;
  readonly dftEdgeLossDb: number;
}

export function filterResponse(plan: ChannelisePlan, options: ResponseOptions = {}): FilterResponse {
  const steps = wholeNumber('filter response', 'steps', options.steps ?? 100, 2, 100_000);
  const neighbours = wholeNumber('filter response', 'neighbours', options.neighbours ?? 16, 1, 100_000);
  const period = plan.samplesPerSpectrum;
  const offsetChannels = Float64Array.from({ length: steps + 1 }, (_, n) => n / steps);
  const leakageOffsetChannels = Float64Array.from({ length: 2 * neighbours }, (_, n) => n - neighbours + 0.5);
  // The taps that the kernels use, rounding included.
  const filter = levels(Float64Array.from(plan.kernel.taps), period);
  const dft = levels(new Float64Array(period).fill(1), period);
  return {
    offsetChannels,
    scallopingDb: offsetChannels.map(strongest(filter)),
    dftScallopingDb: offsetChannels.map(strongest(dft)),
    leakageOffsetChannels,
    leakageDb: leakageOffsetChannels.map(filter),
    dftLeakageDb: leakageOffsetChannels.map(dft),
    edgeLossDb: -strongest(filter)(0.5),
    dftEdgeLossDb: -strongest(dft)(0.5),
  };
}

type LevelDb = (offsetChannels: number) => number;

function levels(taps: Float64Array, period: number): LevelDb {
  const centre = magnitude(taps, 0, period);
  return (offset) => 20 * Math.log10(magnitude(taps, offset, period) / centre);
}

function magnitude(taps: Float64Array, offsetChannels: number, period: number): number {
  let re = 0;
  let im = 0;
  for (let n = 0; n < taps.length; n++) {
    const angle = (2 * Math.PI * offsetChannels * n) / period;
    re += taps[n] * Math.cos(angle);
    im += taps[n] * Math.sin(angle);
  }
  return Math.hypot(re, im);
}

/** Of the channels at 0 and 1 and those beyond them, the one that hears a tone between the two best. */
const strongest =
  (level: LevelDb): LevelDb =>
  (offset) =>
    Math.max(level(offset + 1), level(offset), level(offset - 1), level(offset - 2));
