/** Gains for all times of a visibility file, and their mismatch with the data. */
import { present } from '../core/present.js';
import type { Instant } from '../core/instant.js';
import { message, type Message } from '../messages/index.js';
import type { CrossHandLack } from '../formats/index.js';
import {
  channelsWithoutGains,
  crossHandsKnown,
  fitsData,
  matchGains,
  type Calibrated,
  type CalibratedAt,
  type CalibratedFully,
  type DataFacts,
} from '../stages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import type { FromVisibilities } from './from-visibilities.js';

export interface GainsOver {
  /** Interpolated if the gain file has several times. */
  readonly calibrated?: Calibrated | CalibratedAt;
  /** The gains of the first time, with cross hands that are known at all times. */
  readonly first?: Calibrated;
}

export function gainsOver(
  { gains, observation }: FromVisibilities,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  facts: DataFacts,
): { readonly gains: GainsOver; readonly warnings: readonly Message[] } {
  if (!gains) return { gains: {}, warnings: [] };
  const { path, file } = gains;
  const isKnown = observation.gains?.['cross-hand'] === 'known';
  const at = (moment: Instant): CalibratedFully => {
    const calibrated = matchGains(file, path, telescope, frequenciesHz, moment);
    if (isKnown) calibrated.crossHands.fill(1);
    return calibrated;
  };
  const first = at(file.time);
  const without = channelsWithoutGains(first, frequenciesHz.length).length;
  for (const { time } of file.later ?? [])
    at(time).crossHands.forEach((isKnownThen, c) => (first.crossHands[c] &= isKnownThen));
  return {
    gains: { calibrated: file.later ? at : first, first },
    warnings: present(
      ...fitsData(file, path, { telescope, frequenciesHz, ...facts }),
      without > 0 && message('gains.channels-without', { path, without, of: frequenciesHz.length }),
    ),
  };
}

/** Why cross hands are left out, if they are. */
export const crossHandsOf = ({ first }: GainsOver): { readonly crossHands?: CrossHandLack } =>
  first && !crossHandsKnown(first) ? { crossHands: first.leakage ? 'open' : 'unknown' } : {};
