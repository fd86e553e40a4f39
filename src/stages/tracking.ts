/**
 * The delays that the user requests, as a delay function of a source's own ticks: a tracked place, pieces, fixed
 * delays.
 */
import {
  delayModels,
  loadPieces,
  planTracking,
  sampleClock,
  spectrumDelays,
  trackingDelayModel,
  type DelayFile,
  type DelayModel,
  type SpectrumDelays,
} from '../delay/index.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';

export interface DelayRequest {
  /** Tracked over the sky; or pieces of the user. */
  readonly track?: PhaseCentre | DelayFile;
  /** [a], always applied: cables, and other constant delays. */
  readonly fixedS?: Float64Array;
}

export interface RequestedDelays {
  readonly delayModel: DelayModel;
  readonly tickRateHz: number;
  /** The longest delay that will be requested. */
  readonly mostDelayS: number;
  /** The most by which the delays of two inputs differ: what phases alone leave in a channel (phase-loss.ts). */
  readonly mostApartS: number;
  /** What is tracked, for reports; undefined where only fixed delays are applied, which are never undone. */
  readonly towards?: string;
}

interface Ticking {
  readonly start: Instant;
  readonly tickRateHz: number;
  /** The duration, for pieces that have no end. */
  readonly lastsS: number;
}

/** Whether anything is delayed at all. */
const isDelayed = ({ track, fixedS }: DelayRequest): boolean =>
  track !== undefined || fixedS?.some((delayS) => delayS !== 0) === true;

const isCentre = (track: PhaseCentre | DelayFile): track is PhaseCentre => 'directionEnu' in track;

/** Undefined where nothing was requested. */
export function requestDelays(
  { track, fixedS }: DelayRequest,
  telescope: Telescope,
  { start, tickRateHz, lastsS }: Ticking,
): RequestedDelays | undefined {
  if (!isDelayed({ track, fixedS })) return undefined;
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
      delayModel: trackingDelayModel(tracking, fixed),
      tickRateHz,
      mostDelayS: farthestM / SPEED_OF_LIGHT_M_PER_S + largest(fixed),
      // Not used for voltages. It takes its own delay function, since a function keeps the piece that was requested
      // last.
      get mostApartS() {
        return mostApart(trackingDelayModel(tracking, fixed), tickRateHz, lastsS);
      },
      towards: track.name,
    };
  }
  track?.fixedS.forEach((delayS, a) => (fixed[a] += delayS));
  if (!track) return fixedDelays(fixed, tickRateHz);
  const delayModel = delayModels(inputs, fixed);
  loadPieces(delayModel, track, clock);
  const pieces = track.pieces.flatMap(({ delayS, delayRate }) => [delayS, delayS + lastsS * delayRate]);
  return {
    delayModel,
    tickRateHz,
    mostDelayS: largest(pieces) + largest(fixed),
    mostApartS: mostApartOfPieces(track.pieces, fixed, start, lastsS),
    ...(track.pieces.length > 0 && { towards: "delays of the user's own" }),
  };
}

/** Constant for each input : fixedS : [a]. */
export const fixedDelays = (fixedS: Float64Array<ArrayBuffer>, tickRateHz: number): RequestedDelays => ({
  delayModel: delayModels(fixedS.length, fixedS),
  tickRateHz,
  mostDelayS: largest(fixedS),
  mostApartS: span(fixedS),
});

/** The sky rotates by 2.5° meanwhile: the maximum of a varying delay is found to a part in a thousand. */
const STEP_S = 600;

/** Between any two inputs, at any moment of the duration. */
function mostApart(delayModel: DelayModel, tickRateHz: number, lastsS: number): number {
  const steps = Math.max(1, Math.ceil(lastsS / STEP_S));
  let most = 0;
  for (let n = 0; n <= steps; n++) {
    const tick = BigInt(Math.floor((n / steps) * lastsS * tickRateHz));
    const delays = Array.from({ length: delayModel.inputs }, (_, a) => {
      const piece = delayModel.at(a, tick);
      return piece.delayS + (Number(tick - piece.fromTick) / tickRateHz) * piece.delayRate;
    });
    most = Math.max(most, span(delays));
  }
  return most;
}

/** The same for pieces: they are straight, so that the maximum is where one of them begins or ends. */
function mostApartOfPieces(
  pieces: DelayFile['pieces'],
  fixed: Float64Array,
  start: Instant,
  lastsS: number,
): number {
  const inForce: DelayFile['pieces'][number][] = [];
  const apartAt = (moment: Instant): number =>
    span(
      fixed.map((fixedS, a) => {
        // Before its first piece an input has only its fixed delay.
        const piece = inForce.at(a);
        return piece ? fixedS + piece.delayS + secondsBetween(piece.from, moment) * piece.delayRate : fixedS;
      }),
    );
  const end = addSeconds(start, lastsS);
  let most = 0;
  let at = start;
  for (const piece of pieces) {
    if (secondsBetween(end, piece.from) > 0) break;
    // Pieces of one moment are consecutive.
    if (secondsBetween(at, piece.from) > 0) {
      most = Math.max(most, apartAt(at), apartAt(piece.from));
      at = piece.from;
    }
    inForce[piece.input] = piece;
  }
  return Math.max(most, apartAt(at), apartAt(end));
}

/** The largest less the smallest. */
const span = (values: ArrayLike<number>): number => {
  let [least, most] = [Infinity, -Infinity];
  for (const value of Array.from(values)) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return Math.max(0, most - least);
};

const largest = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/** Whole samples to plan for: rounding may take one more. */
export const mostDelaySamples = ({ mostDelayS, tickRateHz }: RequestedDelays): number =>
  Math.ceil(mostDelayS * tickRateHz) + 1;

/** In the form of the channeliser. */
export const delaysOfPlan = (
  { delayModel }: RequestedDelays,
  source: Pick<VoltageSource, 'sampleRateHz' | 'centreFrequencyHz'>,
  plan: ChannelisePlan,
): SpectrumDelays =>
  spectrumDelays({
    delayModel,
    samplesPerSpectrum: plan.samplesPerSpectrum,
    taps: plan.taps,
    sampleRateHz: source.sampleRateHz,
    zeroHz:
      plan.sampling === 'real'
        ? source.centreFrequencyHz - source.sampleRateHz / 4
        : source.centreFrequencyHz,
    mostDelaySamples: plan.mostDelaySamples ?? 0,
  });
