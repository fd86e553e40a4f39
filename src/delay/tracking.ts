/** Delays that track a place in the sky: from geometry and time to straight pieces. */
import { realNumber, refuse, wholeNumber } from '../core/errors.js';
import { addSamples, addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { skyFrame, type SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import type { DelayModel, DelayPiece } from './models.js';

/** Ticks to UTC and back; a time between two ticks belongs to the later one. */
export interface TickClock {
  readonly tickRateHz: number;
  instantOf(tick: bigint): Instant;
  tickOf(moment: Instant): bigint;
}

/** For a recording: its first sample is tick 0. */
export const sampleClock = (start: Instant, sampleRateHz: number): TickClock => ({
  tickRateHz: sampleRateHz,
  instantOf: (tick) => addSamples(start, Number(tick), sampleRateHz),
  // A millionth of a tick counts as rounding.
  tickOf: (moment) => BigInt(Math.ceil(secondsBetween(start, moment) * sampleRateHz - 1e-6)),
});

interface TrackingOptions {
  readonly telescope: Pick<Telescope, 'site' | 'stations' | 'polarisations'>;
  /** A phase centre, or anything that has a direction at a moment. */
  readonly towards: { directionEnu(frame: SkyFrame): Vector3 };
  readonly clock: TickClock;
  /** The first piece begins here. */
  readonly firstTick: bigint;
  /** 10 s by default: half of τ̈·(5 s)² is 0.2 ps at a kilometre. */
  readonly everyS?: number;
}

interface Tracking {
  readonly inputs: number;
  readonly firstTick: bigint;
  readonly ticksPerPiece: bigint;
  /** Piece k of every input : [a]. Touches the true delay in its middle, in value and slope. */
  pieces(k: number): DelayPiece[];
}

/** How much earlier than the origin a plane wave from `direction` reaches each station : [s], seconds. */
export const geometricDelaysS = (
  { stations }: Pick<Telescope, 'stations'>,
  direction: Vector3,
): Float64Array =>
  Float64Array.from(
    stations,
    ({ eastM, northM, upM }) => dot({ x: eastM, y: northM, z: upM }, direction) / SPEED_OF_LIGHT_M_PER_S,
  );

/** The slope is computed over two seconds: right to ω²·(1 s)²/6, a part in 10⁹. */
const SLOPE_S = 1;

/** Delays that track a direction across the sky, in pieces of a few seconds. */
export function planTracking(options: TrackingOptions): Tracking {
  const { telescope, towards, clock, firstTick, everyS = 10 } = options;
  realNumber('tracking', 'seconds a piece', everyS, 1e-3, 3600);
  const ticks = Math.max(1, Math.round(everyS * clock.tickRateHz));
  const ticksPerPiece = BigInt(wholeNumber('tracking', 'ticks a piece', ticks, 1, Number.MAX_SAFE_INTEGER));
  const delaysAt = (moment: Instant): Float64Array =>
    geometricDelaysS(telescope, towards.directionEnu(skyFrame(telescope.site, moment)));
  const { polarisations } = telescope;
  const inputs = telescope.stations.length * polarisations;
  const halfS = ticks / clock.tickRateHz / 2;
  return {
    inputs,
    firstTick,
    ticksPerPiece,
    pieces: (k) => {
      const fromTick = firstTick + BigInt(wholeNumber('tracking', 'piece', k, 0, 2 ** 40)) * ticksPerPiece;
      const middle = addSeconds(clock.instantOf(fromTick), halfS);
      const delays = delaysAt(middle);
      const before = delaysAt(addSeconds(middle, -SLOPE_S));
      const after = delaysAt(addSeconds(middle, SLOPE_S));
      return Array.from({ length: inputs }, (_, a) => {
        const s = Math.floor(a / polarisations);
        const delayRate = (after[s] - before[s]) / (2 * SLOPE_S);
        const delayS = delays[s] - delayRate * halfS;
        return { fromTick, delayS, delayRate, phaseRad: 0, phaseRateRadS: 0 };
      });
    },
  };
}

/** Pieces that are computed on request, plus fixed delays; ticks before the first piece have the first one. */
export function trackingDelayModel(
  tracking: Tracking,
  fixedS = new Float64Array(tracking.inputs),
): DelayModel {
  const { inputs, firstTick, ticksPerPiece } = tracking;
  if (fixedS.length !== inputs)
    refuse('tracking', `${fixedS.length} fixed delays for ${inputs} inputs`, 'give one for each');
  let made: { readonly k: number; readonly pieces: readonly DelayPiece[] } | undefined;
  const numberOf = (tick: bigint): number =>
    tick < firstTick ? 0 : Number((tick - firstTick) / ticksPerPiece);
  return {
    inputs,
    fixedS,
    at: (input, tick) => {
      const k = numberOf(tick);
      if (made?.k !== k) {
        const pieces = tracking.pieces(k);
        made = { k, pieces: pieces.map((piece, a) => ({ ...piece, delayS: piece.delayS + fixedS[a] })) };
      }
      return made.pieces[input];
    },
    nextAfter: (tick) => firstTick + BigInt(tick < firstTick ? 1 : numberOf(tick) + 1) * ticksPerPiece,
  };
}
