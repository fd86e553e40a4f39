/** Interference taken out of the voltages, as options that channelise, correlate, image --direct and live share. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import {
  LEAST_SPECTRA,
  USUAL_SIGMAS,
  USUAL_SPECTRA,
  type KurtosisAccount,
  type KurtosisPlan,
  type KurtosisTally,
} from '../../kurtosis/index.js';
import type { RequestedKurtosis } from '../../stages/index.js';
import { parseCount } from '../options/command.js';

export interface KurtosisOptions {
  readonly kurtosis?: number | true;
  readonly kurtosisSpectra?: number;
  readonly kurtosisOver?: 'each' | 'inputs';
  readonly kurtosisBursts?: 'keep' | 'take';
}

/** For refuseGiven, where there are no voltages. */
export const kurtosisOptionNames = [
  'kurtosis',
  'kurtosisSpectra',
  'kurtosisOver',
  'kurtosisBursts',
] as const satisfies readonly (keyof KurtosisOptions)[];

export function addKurtosisOptions(command: Command): Command {
  return command
    .optionsGroup('Interference in voltages:')
    .option(
      '--kurtosis [sigmas]',
      `take out what is no noise, by its spectral kurtosis beyond so many standard deviations (${USUAL_SIGMAS} unless given)`,
      parseSigmas,
    )
    .option(
      '--kurtosis-spectra <number>',
      `spectra that are judged together, at least ${LEAST_SPECTRA} (default: ${USUAL_SPECTRA}, or what fits)`,
      parseCount,
    )
    .option(
      '--kurtosis-over <what>',
      'each input for itself, or the mean over all inputs, for what all of them hear weakly (default: each)',
      parseChoice('--kurtosis-over', ['each', 'inputs']),
    )
    .option(
      '--kurtosis-bursts <fate>',
      'keep or take what most inputs hear in most channels at once, as a pulse of the sky (default: keep)',
      parseChoice('--kurtosis-bursts', ['keep', 'take']),
    );
}

function parseSigmas(text: string): number {
  const value = Number(text);
  return text.trim() !== '' && value >= 1 && value <= 6
    ? value
    : refuse(
        '--kurtosis',
        `'${text}' is no number of standard deviations from 1 to 6`,
        'write --kurtosis 3, or give the option after the file',
      );
}

const parseChoice =
  <Choice extends string>(option: string, choices: readonly Choice[]) =>
  (text: string): Choice =>
    choices.find((choice) => choice === text) ??
    refuse(option, `'${text}' is none of them`, `choose ${choices.join(' or ')}`);

/** What was asked for, and afterwards what came of it. */
export interface KurtosisWork {
  /** Empty where nothing was asked for: spread it into settings. */
  readonly asked: { readonly kurtosis?: RequestedKurtosis };
  /** Once the work is done. */
  readonly told: () => KurtosisTold | undefined;
  /** Of each session of a night in which windows came. */
  readonly toldOfAll: () => readonly KurtosisTold[];
}

export interface KurtosisTold {
  readonly plan: KurtosisPlan;
  readonly account: KurtosisAccount;
}

export function kurtosisWork(options: KurtosisOptions): KurtosisWork {
  const { kurtosis, kurtosisSpectra, kurtosisOver, kurtosisBursts } = options;
  if (kurtosis === undefined) {
    if (kurtosisSpectra !== undefined || kurtosisOver !== undefined || kurtosisBursts !== undefined)
      refuse('--kurtosis-…', 'nothing was asked to look for interference', 'give --kurtosis too');
    return { asked: {}, told: () => undefined, toldOfAll: () => [] };
  }
  const kept: { readonly plan: KurtosisPlan; readonly tally: KurtosisTally }[] = [];
  const toldOf = ({ plan, tally }: (typeof kept)[number]): KurtosisTold => ({
    plan,
    account: tally.account(),
  });
  return {
    asked: {
      kurtosis: {
        ...(typeof kurtosis === 'number' ? { sigmas: kurtosis } : {}),
        ...(kurtosisSpectra === undefined ? {} : { spectraPerWindow: kurtosisSpectra }),
        ...(kurtosisOver && { over: kurtosisOver }),
        ...(kurtosisBursts && { bursts: kurtosisBursts }),
        onPlan: (plan, tally) => {
          kept.push({ plan, tally });
        },
      },
    },
    told: () => kept.slice(-1).map(toldOf).at(0),
    toldOfAll: () => kept.map(toldOf).filter(({ account }) => account.windows > 0),
  };
}
