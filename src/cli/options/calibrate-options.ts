/** Options of corella calibrate. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { OverBand } from '../../stages/index.js';
import { addBackendOptions, addExamples, parseCount, type BackendOptions } from './command.js';
import { CROSS_HAND_WORDS, parseCrossHand, type CrossHandChoice } from './cross-hand-option.js';
import { addEopOption } from './eop-option.js';
import { addFeedsOption, type FeedsOptions } from './feeds-option.js';
import { addIntegrationOption, type IntegrationOptions } from './integration-options.js';
import { addModelOptions, type ModelOptions } from './model-options.js';
import { addOpenOptions, type OpenFlags } from './open-options.js';
import { addOverwriteOption, parseOutput, type OutputOptions } from './outputs.js';
import { addPartOptions, type PartOptions } from './part-options.js';
import { addPolarisationOption, type Polarisation } from './polarisation-option.js';
import { addPolariseOption } from './polarise-option.js';
import { duration, plainNumber } from './quantity.js';
import { addSourceOption } from './sky-options.js';

export interface CalibrateOptions
  extends
    BackendOptions,
    OutputOptions,
    PartOptions,
    IntegrationOptions,
    OpenFlags,
    FeedsOptions,
    ModelOptions {
  readonly out: string;
  readonly sources: string;
  readonly minAltitude: number;
  readonly iterations?: number;
  readonly tolerance: number;
  readonly mostIterations: number;
  readonly reference?: string;
  readonly acceptModel?: true;
  readonly odd: number;
  readonly every?: number;
  readonly over: OverBand;
  readonly delaysOut?: string;
  readonly polarise: readonly string[];
  readonly crossHand?: CrossHandChoice;
  readonly polarisation: Polarisation;
}

/** Everything but its name and what it does. */
export function addCalibrateOptions(command: Command): void {
  command.option(
    '-o, --out <path>',
    'gains to write, as JSON; CalH5 takes the same name beside it',
    parseOutput,
    'gains.json',
  );
  addSourceOption(command, 'the model')
    .option(
      '--min-altitude <degrees>',
      'leave lower sources out of the model',
      plainNumber('--min-altitude'),
      5,
    )
    .option(
      '--tolerance <change>',
      'converged when the gains change by less, as a fraction',
      plainNumber('--tolerance'),
      1e-8,
    )
    .option(
      '--most-iterations <number>',
      'give up after so many; what has not converged has no gains',
      parseCount,
      500,
    )
    .option('--iterations <number>', 'exactly so many instead', parseCount)
    .option('--reference <station>', 'whose phase is zero, by number or name (default: the first good one)')
    .option('--accept-model', 'write the gains although the model explains little of the sky')
    .option(
      '--odd <factor>',
      'leave out inputs whose power or gain is so many times off the middle; 0 keeps all',
      parseOdd,
      4,
    )
    .option(
      '--every <time>',
      'gains for every so much of the file, like 10s, drawn straight in between where they are applied (default: one solution)',
      duration('--every'),
    )
    .option(
      '--over <what>',
      'a gain for each channel, one for the whole band, or a delay: a size, a delay and a phase for each input',
      parseOver,
      'channel',
    )
    .option(
      '--delays-out <path>',
      'with --over delay: cable lengths against the reference, as a delays.json that correlate takes by --delays',
    )
    .option('--cross-hand <how>', CROSS_HAND_WORDS, parseCrossHand);
  addPolarisationOption(command);
  addFeedsOption(command);
  addPolariseOption(command);
  addModelOptions(command);
  addIntegrationOption(command);
  addPartOptions(command);
  addOverwriteOption(command);
  addOpenOptions(command, 'visibilities');
  addBackendOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['calibrate visibilities.uvfits', 'with every bright source that was up'],
    [
      'calibrate visibilities.uvfits --sources CygA,CasA --min-baseline 5wl',
      'two sources, no baselines shorter than five wavelengths',
    ],
    [
      'calibrate noon.uvfits --sources Sun --diffuse galaxy --element mwa-dipole',
      'the Sun and a smooth Galaxy behind it',
    ],
    ['calibrate noon.uvfits --sources Sun --reference stand21 -o sun.json', 'in daylight, on the Sun alone'],
    ['calibrate field.uvfits --sources field-sources.txt', "a sky model's file: WSClean, BBS or CSV"],
    ['calibrate night.uvh5 --every 10s', 'gains that follow the night'],
    [
      'calibrate visibilities.uvh5 --sources CygA --over delay --delays-out cables.json',
      'cable lengths, for correlate --delays cables.json',
    ],
    [
      'calibrate visibilities.uvfits --sources TauA --polarise TauA:0:0.02:0',
      'a polarised source gives X and Y one phase: U and V are calibrated too',
    ],
    [
      'calibrate night2.uvfits --cross-hand night1.json',
      'the phase between X and Y as an earlier night had it',
    ],
    [
      'calibrate night.uvh5 --flag stand17:Y,channels=150.2MHz..150.4MHz --flag-interference',
      'without a dead dipole and a transmitter, and without what else stands out; --flags-out writes what was flagged',
    ],
    [
      'calibrate field.uvfits --sources field-sources.txt --polarisation full',
      'leakage between X and Y too; three polarised sources in the model hold I, Q, U and V',
    ],
    ['calibrate visibilities.uvfits --iterations 300 --json', 'a fixed amount of work, numbers for machines'],
  ]);
}

export function parseOver(text: string): OverBand {
  return text === 'channel' || text === 'band' || text === 'delay'
    ? text
    : refuse('--over', `'${text}' is no way to solve`, 'choose channel, band or delay');
}

export function parseOdd(text: string): number {
  const factor = plainNumber('--odd')(text);
  if (factor !== 0 && !(factor > 1))
    refuse('--odd', `'${text}' is no factor`, 'give more than 1, like 4, or 0 to keep all inputs');
  return factor;
}

export function findStation(text: string, stations: readonly { readonly name: string }[]): number {
  const byName = stations.findIndex(({ name }) => name === text);
  const station = byName >= 0 ? byName : Number(text);
  if (!Number.isSafeInteger(station) || station < 0 || station >= stations.length) {
    refuse(
      '--reference',
      `'${text}' is no station here`,
      `give a name or a number from 0 to ${stations.length - 1}`,
    );
  }
  return station;
}
