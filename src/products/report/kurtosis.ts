/** What kurtosis flagged, by input, channel and time. */
import { present } from '../../core/present.js';
import { tail } from '../../core/rounded-noise.js';
import { message, type Line, type Message } from '../../messages/index.js';
import type { Episode, KurtosisAccount, KurtosisPlan } from '../../kurtosis/index.js';

/** Flags of one plan. */
export interface FlaggedSpectra {
  readonly plan: KurtosisPlan;
  readonly account: KurtosisAccount;
}

/** Channels and inputs with this many times the losses of pure noise are named, the worst first. */
const MUCH = 4;
const MOST_NAMED = 6;
const MOST_EPISODES = 6;
/** The setting that also flags bursts. */
const TAKE = 'flags.kurtosis-bursts: take';

/** The flagged fraction of pure noise: for an input, or for a station with all its polarisations. */
const expectedPart = ({ sigmas, polarisations, over, inputs, takes }: KurtosisPlan): number =>
  takes === 'inputs' || (over === 'inputs' && inputs > 1)
    ? 2 * tail(sigmas)
    : 1 - (1 - 2 * tail(sigmas)) ** polarisations;

export function kurtosisLinesOf({ plan, account }: FlaggedSpectra, spectrumRateHz: number): Message[] {
  const { samples, flagged, windows, byChannel, byInput, untested } = account;
  const expected = expectedPart(plan);
  const asked = plan.flaggedInputs.filter((one) => one === 0).length;
  const worst = (counts: Float64Array, each: number, what: string): Message[] => {
    const named = [...counts.entries()]
      .map(([n, count]) => ({ n, part: count / each }))
      .filter(({ part }) => part > MUCH * expected)
      .sort((x, y) => y.part - x.part);
    const more = Math.max(0, named.length - MOST_NAMED);
    return named.length === 0
      ? []
      : [message('kurtosis.most', { what, worst: named.slice(0, MOST_NAMED), more })];
  };
  const cells = windows * plan.channels * asked;
  return present(
    message('kurtosis.flagged', {
      part: samples > 0 ? flagged / samples : 0,
      windows,
      spectraPerWindow: plan.spectraPerWindow,
      sigmas: plan.sigmas,
      expected,
    }),
    ...worst(byChannel, samples / plan.channels, 'channels'),
    ...worst(byInput, samples / asked, 'inputs'),
    untested > 0 && message('kurtosis.not-tested', { part: cells > 0 ? untested / cells : 1 }),
    ...account.episodes
      .slice(0, MOST_EPISODES)
      .map((episode) => episodeMessage(episode, plan, spectrumRateHz)),
    account.episodeCount > MOST_EPISODES &&
      message('kurtosis.more', { episodes: account.episodeCount - MOST_EPISODES }),
  );
}

function episodeMessage(
  { kind, firstSpectrum, endSpectrum, fromChannel, toChannel, channels, fate }: Episode,
  plan: KurtosisPlan,
  spectrumRateHz: number,
): Message {
  const startS = firstSpectrum / spectrumRateHz;
  const durationS = (endSpectrum - firstSpectrum) / spectrumRateHz;
  return kind === 'everywhere'
    ? message('kurtosis.burst', { startS, durationS, channels, ofChannels: plan.channels, fate, flag: TAKE })
    : message('kurtosis.sweep', { startS, durationS, fromChannel, toChannel, fate });
}

/** The same as JSON. */
export function kurtosisFactsOf({ plan, account }: FlaggedSpectra, spectrumRateHz: number): object {
  const { byInput, byChannel, byTime, episodes, ...numbers } = account;
  return {
    sigmas: plan.sigmas,
    spectraPerWindow: plan.spectraPerWindow,
    over: plan.over,
    bursts: plan.bursts,
    expectedPart: expectedPart(plan),
    ...numbers,
    byInput: [...byInput],
    byChannel: [...byChannel],
    byTime: { rangeS: byTime.spectraPerRange / spectrumRateHz, flagged: byTime.flagged },
    episodes: episodes.map(({ firstSpectrum, endSpectrum, ...rest }) => ({
      ...rest,
      startS: firstSpectrum / spectrumRateHz,
      durationS: (endSpectrum - firstSpectrum) / spectrumRateHz,
    })),
  };
}

/** Of a live run, by stream epoch; times count from the start of each. */
export interface RunInterference {
  readonly lines: readonly Line[];
  readonly facts: { readonly interference?: readonly object[] };
}
/** `epochs`: for each epoch; undefined if nothing was tested. */
export function runInterference(
  epochs: readonly FlaggedSpectra[] | undefined,
  spectrumRateHz: number,
): RunInterference {
  if (!epochs) return { lines: [], facts: {} };
  return {
    lines: epochs.flatMap((one, k) =>
      present(epochs.length > 1 && `stream epoch ${k + 1}:`, ...kurtosisLinesOf(one, spectrumRateHz)),
    ),
    facts: { interference: epochs.map((one) => kurtosisFactsOf(one, spectrumRateHz)) },
  };
}
