/** What was taken as interference, by input, channel and time; nothing goes without being told. */
import { tail } from '../../core/rounded-noise.js';
import { formatSeconds } from '../../core/units.js';
import type { Episode, KurtosisPlan } from '../../kurtosis/index.js';
import type { KurtosisTold, KurtosisWork } from './kurtosis-options.js';

/** Channels and inputs that lose so many times what noise does are named, the worst first. */
const MUCH = 4;
const MOST_NAMED = 6;
const MOST_EPISODES = 6;

/** The part of pure noise that goes: an input, or a station with all its polarisations. */
const expectedPart = ({ sigmas, polarisations, over, inputs, takes }: KurtosisPlan): number =>
  takes === 'inputs' || (over === 'inputs' && inputs > 1)
    ? 2 * tail(sigmas)
    : 1 - (1 - 2 * tail(sigmas)) ** polarisations;

const percent = (part: number): string => `${Number((100 * part).toPrecision(2))} %`;

function kurtosisLines(work: KurtosisWork, spectrumRateHz: number): string[] {
  const told = work.told();
  return told ? kurtosisLinesOf(told, spectrumRateHz, '--kurtosis-bursts take') : [];
}

/** `take`: how bursts are asked to be flagged too. */
export function kurtosisLinesOf(
  { plan, account }: KurtosisTold,
  spectrumRateHz: number,
  take = 'flags.kurtosis-bursts: take',
): string[] {
  const { samples, taken, windows, byChannel, byInput, unjudged } = account;
  const expected = expectedPart(plan);
  const perChannel = samples / plan.channels;
  const asked = plan.flaggedInputs.filter((flag) => flag === 0).length;
  const perInput = samples / asked;
  const worst = (counts: Float64Array, each: number, what: string): string[] => {
    const named = [...counts.entries()]
      .map(([n, count]) => ({ n, part: count / each }))
      .filter(({ part }) => part > MUCH * expected)
      .sort((x, y) => y.part - x.part);
    if (named.length === 0) return [];
    const shown = named.slice(0, MOST_NAMED).map(({ n, part }) => `${n} (${percent(part)})`);
    const more = named.length > shown.length ? ` and ${named.length - shown.length} more` : '';
    return [`  most in ${what} ${shown.join(', ')}${more}`];
  };
  const cells = windows * plan.channels * asked;
  return [
    `interference: ${percent(samples > 0 ? taken / samples : 0)} of the samples were taken, in ${windows} window${windows === 1 ? '' : 's'} of about ` +
      `${plan.spectraPerWindow} spectra at ${plan.sigmas} σ; of noise alone it is ${percent(expected)}`,
    ...worst(byChannel, perChannel, 'channels'),
    ...worst(byInput, perInput, 'inputs'),
    ...(unjudged > 0
      ? [
          `  ${cells > 0 ? percent(unjudged / cells) : 'all'} of the windows were too short, too weak or silent, and not judged`,
        ]
      : []),
    ...account.episodes
      .slice(0, MOST_EPISODES)
      .map((episode) => `  ${episodeText(episode, plan, spectrumRateHz, take)}`),
    ...(account.episodeCount > MOST_EPISODES
      ? [`  and ${account.episodeCount - MOST_EPISODES} more of the kind`]
      : []),
  ];
}

function episodeText(
  episode: Episode,
  { channels }: KurtosisPlan,
  spectrumRateHz: number,
  take: string,
): string {
  const { kind, firstSpectrum, endSpectrum, fromChannel, toChannel, fate } = episode;
  const at = `${formatSeconds(firstSpectrum / spectrumRateHz)} after the start`;
  const long = formatSeconds((endSpectrum - firstSpectrum) / spectrumRateHz);
  return kind === 'everywhere'
    ? `${at}, ${long} long, most inputs heard something in ${episode.channels} of ${channels} channels at once: it was ${fate}` +
        (fate === 'kept' ? `, as it may be the sky (${take} takes it)` : '')
    : `${at}, ${long} long, most inputs heard something sweep from channel ${fromChannel} to ${toChannel}: ` +
        `a dispersed pulse, or a drifting carrier; it was ${fate}`;
}

/** The same for machines. */
export function kurtosisFactsOf({ plan, account }: KurtosisTold, spectrumRateHz: number): object {
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
    byTime: { stretchS: byTime.spectraPerStretch / spectrumRateHz, taken: byTime.taken },
    episodes: episodes.map(({ firstSpectrum, endSpectrum, ...rest }) => ({
      ...rest,
      startS: firstSpectrum / spectrumRateHz,
      durationS: (endSpectrum - firstSpectrum) / spectrumRateHz,
    })),
  };
}

/** Of a night, session by session; times count from the start of each. */
export interface NightInterference {
  readonly lines: readonly string[];
  readonly facts: { readonly interference?: readonly object[] };
}
export function nightInterference(work: KurtosisWork, spectrumRateHz: number): NightInterference {
  if (!work.asked.kurtosis) return { lines: [], facts: {} };
  const all = work.toldOfAll();
  return {
    lines:
      all.length === 0
        ? kurtosisLines(work, spectrumRateHz)
        : all.flatMap((told, k) => [
            ...(all.length > 1 ? [`part ${k + 1} of the night:`] : []),
            ...kurtosisLinesOf(told, spectrumRateHz, '--kurtosis-bursts take'),
          ]),
    facts: { interference: all.map((told) => kurtosisFactsOf(told, spectrumRateHz)) },
  };
}

/** For the files' history: what is in a file is known before what was taken. */
export const kurtosisHistory = ({ asked: { kurtosis } }: KurtosisWork): string[] =>
  kurtosis
    ? [
        `interference taken by spectral kurtosis beyond ${kurtosis.sigmas ?? 3} sigma: out of the sums and out of the counts`,
      ]
    : [];
