/**
 * A delay as the channeliser applies it. `delayS > 0` makes a signal later: in a channel at sky frequency f the factor
 * is e^(−2πi f d). A wave that reaches an antenna early by r·ŝ/c is delayed by the same time.
 */
import { refuse } from '../core/errors.js';

/** Straight, from the tick of its beginning. Ticks are samples of the recorder's clock. */
export interface DelayPiece {
  readonly fromTick: bigint;
  readonly delayS: number;
  /** Seconds a second. */
  readonly delayRate: number;
  /** In addition to the delay's phase, at every frequency alike. */
  readonly phaseRad: number;
  readonly phaseRateRadS: number;
}

/** The part for one spectrum: the window begins `coarseSamples` before the spectrum's own tick. */
export interface SplitDelay {
  readonly delayS: number;
  readonly coarseSamples: number;
  /** The remainder, −½…½ of a sample. */
  readonly fineSamples: number;
  /** In [−π, π]. */
  readonly phaseRad: number;
}

export function checkPiece(where: string, piece: DelayPiece): DelayPiece {
  for (const name of ['delayS', 'delayRate', 'phaseRad', 'phaseRateRadS'] as const)
    if (!Number.isFinite(piece[name])) refuse(where, `${name} is ${piece[name]}`, 'give a number');
  if (!(Math.abs(piece.delayRate) < 1)) refuse(where, `a delay rate of ${piece.delayRate} is not below 1`);
  return piece;
}

/** At a tick not before the piece's own; their distance is small, so that products keep their precision. */
export function splitDelay(piece: DelayPiece, tick: bigint, sampleRateHz: number): SplitDelay {
  const sinceS = Number(tick - piece.fromTick) / sampleRateHz;
  const delayS = piece.delayS + sinceS * piece.delayRate;
  const samples = delayS * sampleRateHz;
  const coarseSamples = Math.round(samples);
  return {
    delayS,
    coarseSamples,
    fineSamples: samples - coarseSamples,
    phaseRad: withinTurn(piece.phaseRad + sinceS * piece.phaseRateRadS),
  };
}

const withinTurn = (angleRad: number): number =>
  angleRad - 2 * Math.PI * Math.round(angleRad / (2 * Math.PI));
