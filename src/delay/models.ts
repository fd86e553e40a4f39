/**
 * The delay of every input, tick by tick: loaded pieces, plus fixed delays. A delay is as the channeliser applies it:
 * `delayS > 0` makes a signal later: in a channel at sky frequency f the factor is e^(−2πi f d). A wave that reaches an
 * antenna early by r·ŝ/c is delayed by the same time.
 */
import { refuse, wholeNumber } from '../core/errors.js';

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

export function checkPiece(where: string, piece: Omit<DelayPiece, 'fromTick'>): void {
  for (const name of ['delayS', 'delayRate', 'phaseRad', 'phaseRateRadS'] as const)
    if (!Number.isFinite(piece[name])) refuse(where, `${name} is ${piece[name]}`, 'give a number');
  if (!(Math.abs(piece.delayRate) < 1)) refuse(where, `a delay rate of ${piece.delayRate} is not below 1`);
}

/** The source of delays: a straight piece for every input and tick. */
export interface DelayModel {
  readonly inputs: number;
  /** [a], always applied; not part of tracking. */
  readonly fixedS: Float64Array;
  /** The piece in force at a tick, including the input's fixed delay. */
  at(input: number, tick: bigint): DelayPiece;
  /** When the next piece of any input begins, after this tick; undefined where none does. */
  nextAfter(tick: bigint): bigint | undefined;
}

export interface DelayModels extends DelayModel {
  /** Takes effect at its tick; replaces pieces that were to begin later. */
  load(input: number, piece: DelayPiece): void;
}

/** `fixedS` : [a], delays that always apply; none by default. */
export function delayModels(inputs: number, fixedS = new Float64Array(inputs)): DelayModels {
  wholeNumber('delays', 'inputs', inputs, 1, 2 ** 20);
  if (fixedS.length !== inputs)
    refuse('delays', `${fixedS.length} fixed delays for ${inputs} inputs`, 'give one for each');
  const pieces = Array.from({ length: inputs }, (): DelayPiece[] => []);
  return {
    inputs,
    fixedS,
    load: (input, piece) => {
      wholeNumber('delays', 'input', input, 0, inputs - 1);
      checkPiece(`delay of input ${input}`, piece);
      pieces[input] = [...pieces[input].filter(({ fromTick }) => fromTick < piece.fromTick), piece];
    },
    at: (input, tick) => {
      const piece = pieces[input].findLast(({ fromTick }) => fromTick <= tick);
      return piece
        ? { ...piece, delayS: piece.delayS + fixedS[input] }
        : { fromTick: tick, delayS: fixedS[input], delayRate: 0, phaseRad: 0, phaseRateRadS: 0 };
    },
    nextAfter: (tick) => {
      let next: bigint | undefined;
      for (const own of pieces)
        for (const { fromTick } of own)
          if (fromTick > tick && (next === undefined || fromTick < next)) next = fromTick;
      return next;
    },
  };
}
