/** Flags by channel, time and pair of stations, and the channels that are kept. Flagged values keep their value and weight. */
import type { Integration } from '../core/blocks.js';
import { flagCells, maskOf, type FlagRule } from './flags/rules.js';
import { storedOf } from './stored.js';
import { takeChannels } from './take-channels.js';
import { changing, type Stage } from './stage.js';

/** Values that had weight, and what the rules flagged of them. */
export interface FlagTally {
  readonly rules: number;
  ruled: number;
  values: number;
}

export interface FlagRulesSettings {
  /** The rules, for all channels of the data. */
  readonly rules: readonly FlagRule[];
  /** By number; all by default. */
  readonly channels?: readonly number[];
  readonly tally?: FlagTally;
}

/** Chooses channels, and flags what the rules name. */
export function prepareFlagRules({
  rules,
  channels,
  tally,
}: FlagRulesSettings): Stage<Integration, Integration> {
  const own = channels
    ? rules.map((rule) => ({
        ...rule,
        ...(rule.channels && { channels: Uint8Array.from(channels, (c) => rule.channels?.[c] ?? 0) }),
      }))
    : rules;
  return changing((one) => {
    const part = channels ? takeChannels(one, channels) : one;
    if (rules.length === 0) return part;
    const mask = maskOf(own, part);
    const passThrough = storedOf(part);
    if (tally)
      passThrough.weights.forEach((weight, at) => {
        if (!(weight > 0)) return;
        tally.values++;
        if (mask?.[at] === 1) tally.ruled++;
      });
    return mask ? flagCells({ ...part, passThrough }, mask) : part;
  });
}

/** For products of all channels at once, like an image: the other channels are flagged, not removed. */
export function flagsOfAll(
  { rules, channels: kept }: FlagRulesSettings,
  channels: number,
): readonly FlagRule[] {
  if (!kept) return rules;
  const others = new Uint8Array(channels).fill(1);
  for (const c of kept) others[c] = 0;
  return [...rules, { channels: others }];
}
