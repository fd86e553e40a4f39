/** What the user asks to be delayed, as a law of a source's own ticks: a place that is followed, pieces, fixed delays. */
import {
  delayModels,
  loadPieces,
  planTracking,
  sampleClock,
  spectrumDelays,
  trackingLaw,
  type DelayFile,
  type DelayLaw,
  type SpectrumDelays,
} from '../delay/index.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { Instant } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';

export interface DelayRequest {
  /** Followed over the sky; or pieces of the user's own. */
  readonly track?: PhaseCentre | DelayFile;
  /** [a], always applied: cables, and what else does not move. */
  readonly fixedS?: Float64Array;
}

export interface RequestedDelays {
  readonly law: DelayLaw;
  readonly tickRateHz: number;
  /** The longest that will be asked for. */
  readonly mostDelayS: number;
  /** What is followed, for people; nothing where only fixed delays are applied, which are never turned back. */
  readonly towards?: string;
}

interface Ticking {
  readonly start: Instant;
  readonly tickRateHz: number;
  /** How long it lasts, for pieces that have no end. */
  readonly lastsS: number;
}

const isCentre = (track: PhaseCentre | DelayFile): track is PhaseCentre => 'directionEnu' in track;

/** Nothing where nothing was asked for. */
export function requestDelays(
  { track, fixedS }: DelayRequest,
  telescope: Telescope,
  { start, tickRateHz, lastsS }: Ticking,
): RequestedDelays | undefined {
  if (!track && !fixedS?.some((delayS) => delayS !== 0)) return undefined;
  const inputs = telescope.stations.length * telescope.polarisations;
  const clock = sampleClock(start, tickRateHz);
  const fixed = new Float64Array(inputs);
  fixedS?.forEach((delayS, a) => (fixed[a] += delayS));
  if (track && isCentre(track)) {
    const tracking = planTracking({ telescope, towards: track, clock, firstTick: 0n });
    const farthestM = Math.max(
      ...telescope.stations.map(({ eastM, northM, upM }) => Math.hypot(eastM, northM, upM)),
    );
    return {
      law: trackingLaw(tracking, fixed),
      tickRateHz,
      mostDelayS: farthestM / SPEED_OF_LIGHT_M_PER_S + largest(fixed),
      towards: track.name,
    };
  }
  track?.fixedS.forEach((delayS, a) => (fixed[a] += delayS));
  if (!track) return fixedDelays(fixed, tickRateHz);
  const law = delayModels(inputs, fixed);
  loadPieces(law, track, clock);
  const pieces = track.pieces.flatMap(({ delayS, delayRate }) => [delayS, delayS + lastsS * delayRate]);
  return {
    law,
    tickRateHz,
    mostDelayS: largest(pieces) + largest(fixed),
    ...(track.pieces.length > 0 && { towards: "delays of the user's own" }),
  };
}

/** Of each input, always the same: fixedS : [a]. */
export const fixedDelays = (fixedS: Float64Array<ArrayBuffer>, tickRateHz: number): RequestedDelays => ({
  law: delayModels(fixedS.length, fixedS),
  tickRateHz,
  mostDelayS: largest(fixedS),
});

const largest = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/** Whole samples to plan for: rounding may take one more. */
export const mostDelaySamples = ({ mostDelayS, tickRateHz }: RequestedDelays): number =>
  Math.ceil(mostDelayS * tickRateHz) + 1;

/** As the channeliser takes them. */
export const delaysOfPlan = (
  { law }: RequestedDelays,
  source: Pick<VoltageSource, 'sampleRateHz' | 'centreFrequencyHz'>,
  plan: ChannelisePlan,
): SpectrumDelays =>
  spectrumDelays({
    law,
    samplesPerSpectrum: plan.samplesPerSpectrum,
    taps: plan.taps,
    sampleRateHz: source.sampleRateHz,
    zeroHz:
      plan.sampling === 'real'
        ? source.centreFrequencyHz - source.sampleRateHz / 4
        : source.centreFrequencyHz,
    mostDelaySamples: plan.mostDelaySamples ?? 0,
  });
