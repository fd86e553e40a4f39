/**
 * Flag rules of the user: ranges of times, channels, inputs, pairs and products; and the channels that are kept. Flagged
 * values keep their value and weight.
 */
import { baselineCount, weightsCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';
import { changing, type Stage } from '../stage.js';
import { restored, storedOf } from '../stored.js';
import { takeChannels } from '../take-channels.js';

/** Flags the intersection of its members; a member left out means any. */
export interface FlagRule {
  /** inputs : [a], flags products with one of these. */
  readonly inputs?: Uint8Array;
  /** channels : [c] */
  readonly channels?: Uint8Array;
  /** Integrations whose middle is from the first to before the second. */
  readonly from?: Instant;
  readonly to?: Instant;
  /** pairs : [b] */
  readonly pairs?: Uint8Array;
  /** As files name them, of (antenna 1, antenna 2) with 1 ≤ 2. */
  readonly products?: readonly { readonly p1: number; readonly p2: number }[];
}

/** mask : [c][b][pi][pj], 1 to flag; undefined where no rule covers this time. */
export function maskOf(rules: readonly FlagRule[], one: Integration): Uint8Array | undefined {
  const middle = addSeconds(one.start, one.durationS / 2);
  const now = rules.filter((rule) => isOfTime(rule, middle));
  if (now.length === 0) return undefined;
  const { channels, stations, polarisations: p } = one;
  const mask = new Uint8Array(channels * baselineCount(stations) * p * p);
  for (const rule of now) addRule(mask, rule, one);
  return mask;
}

export const isOfTime = ({ from, to }: FlagRule, middle: Instant): boolean =>
  !(from && secondsBetween(from, middle) < 0) && !(to && secondsBetween(to, middle) >= 0);

function addRule(
  mask: Uint8Array,
  { inputs, channels: wanted, pairs, products }: FlagRule,
  { channels, stations, polarisations: p }: Integration,
): void {
  const baselines = baselineCount(stations);
  for (let i = 0, b = 0; i < stations; i++)
    for (let j = 0; j <= i; j++, b++) {
      if (pairs?.[b] === 0) continue;
      for (let pi = 0; pi < p; pi++)
        for (let pj = 0; pj < p; pj++) {
          if (inputs?.[i * p + pi] === 0 && inputs[j * p + pj] === 0) continue;
          // Files hold the pair (j, i).
          const [p1, p2] = i === j ? [pi, pj] : [pj, pi];
          if (products?.some((one) => one.p1 === p1 && one.p2 === p2) === false) continue;
          for (let c = 0; c < channels; c++)
            if (wanted?.[c] !== 0) mask[((c * baselines + b) * p + pi) * p + pj] = 1;
        }
    }
}

/** The same integration with those products flagged: they keep their values and weights, but no longer count. */
export function flagCells(one: Integration, mask: Uint8Array): Integration {
  const stored = storedOf(one);
  const { channels, stations, polarisations } = one;
  const weights = weightsCBPP(stored.weights.slice(), channels, baselineCount(stations), polarisations);
  mask.forEach((flag, at) => {
    if (flag === 1) weights[at] = -Math.abs(weights[at]);
  });
  return restored(one, { ...stored, weights }, 'kept');
}

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
