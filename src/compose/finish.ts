/**
 * From sums as the correlator leaves them to what a product gets: summed to the product's cadence, corrected for rounding,
 * unphased, divided by the requantisation gain, flagged by rule. In this order, for every product and every source.
 */
import { outputRail } from '../channelise/index.js';
import { visibilitiesCBPP, type SpectraType } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import {
  atNominalGain,
  undoEqualiser,
  hostAdder,
  prepareSum,
  type IntegrationClock,
  prepareFlagRules,
  type FlagRulesSettings,
  chain,
  changing,
  passing,
  type Stage,
  prepareUnphase,
  prepareVanVleck,
  type RequestedVanVleck,
  type RequestedDelays,
} from '../stages/index.js';
import type { FrontSpectra, Gain } from './front.js';

export interface Finishing {
  /** Where the product's integrations end, if the sums are cut more often. */
  readonly sumTo?: IntegrationClock;
  /** The correction for rounding to few bits. */
  readonly vanVleck?: RequestedVanVleck;
  /** Tracking is taken out at the middle of each integration. */
  readonly delays?: RequestedDelays;
  /** The time of the source's first sample. */
  readonly start: Instant;
  readonly spectra: FrontSpectra;
  /** Divided out; sums are unchanged. */
  readonly gain: Gain;
  readonly values?: 'means' | 'sums';
  /** Called with integrations before the gain is divided out. */
  readonly look?: (integration: Integration) => void;
  /** Flags by channel, time and pair, and the channels that are kept. */
  readonly flags?: FlagRulesSettings;
}

/** Whether values are changed: then a product that shares its integrations with others takes a copy. */
const changes = ({ vanVleck, delays, gain, values }: Finishing): boolean =>
  vanVleck !== undefined ||
  delays?.towards !== undefined ||
  (values !== 'sums' && (gain.levels !== undefined || (gain.gainRatio ?? 1) !== 1));

/** Whether integrations pass unchanged: those on a card can stay there. */
export const leavesAsIs = (finishing: Omit<Finishing, 'sumTo'>): boolean =>
  !changes(finishing) &&
  finishing.look === undefined &&
  (finishing.flags === undefined ||
    (finishing.flags.rules.length === 0 && finishing.flags.channels === undefined));

export function prepareFinish(
  finishing: Finishing,
  { shared }: { readonly shared: boolean },
): Stage<Integration, Integration> {
  const { sumTo, vanVleck, delays, spectra, start, gain, values = 'means', look, flags } = finishing;
  let stage = passing<Integration>(() => Promise.resolve());
  const then = (next: Stage<Integration, Integration>): void => {
    stage = chain(stage, next);
  };
  // Sums are in memory of their own.
  if (sumTo) then(prepareSum(sumTo, spectra.grid, hostAdder()));
  else if (shared && changes(finishing)) then(changing(copied));
  if (vanVleck) {
    const { realChannels } = spectra;
    then(prepareVanVleck({ ...vanVleck, rail: railOf(spectra.type), realChannels }));
  }
  if (delays?.towards !== undefined) {
    const { delayModel, tickRateHz } = delays;
    then(prepareUnphase({ delayModel, tickRateHz, start, frequenciesHz: spectra.frequenciesHz }));
  }
  if (look) then(changing((one) => (look(one), one)));
  if (values === 'means')
    then(
      changing((one) =>
        gain.levels
          ? undoEqualiser(one, gain.levels)
          : atNominalGain(one, { gainRatio: gain.gainRatio ?? 1 }),
      ),
    );
  if (flags && (flags.rules.length > 0 || flags.channels)) then(prepareFlagRules(flags));
  return stage;
}

const copied = (one: Integration): Integration => {
  const { channels, stations, polarisations } = one;
  const baselines = (stations * (stations + 1)) / 2;
  return {
    ...one,
    visibilities: visibilitiesCBPP(one.visibilities.slice(), channels, baselines, polarisations),
  };
};

const railOf = (type: SpectraType): number =>
  type === 'cf32'
    ? refuse(
        'vanVleck',
        'these channels are floats, and were not rounded',
        'leave the correction out, or take 8 or 4 bits',
      )
    : outputRail[type];
