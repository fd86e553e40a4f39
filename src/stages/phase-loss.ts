/**
 * The loss where data are channelised already and delays are corrected by phases alone: across a channel of width B the
 * phase of a pair whose delays differ by τ still changes by B·τ turns, and sinc(B·τ) of the amplitude is left.
 */
import { refuse } from '../core/errors.js';
import type { SpectraSource } from '../core/sources.js';
import { formatHz, formatSeconds, percent } from '../core/units.js';
import { message, type Message } from '../messages/index.js';
import { sinc } from './coherence.js';
import type { RequestedDelays } from './tracking.js';

/** Reported above this. */
const NOTABLE_LOSS = 0.002;
/** Refused above this. */
export const MOST_LOSS = 0.05;

/** Fraction of the amplitude, 0 to 1; all of it from B·τ = 1 on. */
export const phaseLoss = (channelWidthHz: number, apartS: number): number =>
  1 - sinc(Math.min(1, Math.abs(channelWidthHz * apartS)));

/** The loss for these delays; too large a loss is refused. */
export function checkedPhaseLoss(
  { channelWidthHz }: Pick<SpectraSource, 'channelWidthHz'>,
  { mostApartS }: Pick<RequestedDelays, 'mostApartS'>,
): number {
  const lost = phaseLoss(channelWidthHz, mostApartS);
  if (lost > MOST_LOSS)
    refuse(
      'front.delays',
      `channels of ${formatHz(channelWidthHz)} are rotated by phases alone, and delays differ by up to ` +
        `${formatSeconds(mostApartS)}: ${percent(lost, lost < 0.1 ? 2 : 0)} of the amplitude would be lost`,
      'delay the voltages, take narrower channels, or stations that are nearer to each other',
    );
  return lost;
}

/** For reports, and for the history of files. */
export const phaseLossLines = (lost: number | undefined): Message[] =>
  lost !== undefined && lost > NOTABLE_LOSS ? [message('sky.delays-by-phase', { loss: lost })] : [];
