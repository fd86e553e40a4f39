/** Which part of a file of visibilities, and what of it is flagged: options of calibrate. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { addSeconds, secondsBetween } from '../../core/instant.js';
import type { VisibilityFile } from '../../formats/index.js';
import {
  readFlagFile,
  writeFlagFile,
  flagFile,
  type FlagAccount,
  type FlaggedFile,
  channelsNamed,
  timesNamed,
  type FlagContext,
} from '../../stages/index.js';
import { reworkVisibilities, type Rework } from '../../visibilities/index.js';
import { history } from '../report/history.js';
import { asOne } from './command.js';
import { addFlagRulesOption, parseFlagRules, type FlagOptions } from './flags.js';
import { plainNumber } from './quantity.js';

export interface FlaggingOptions extends FlagOptions {
  readonly flags?: string;
  readonly flagInterference?: number | true;
  readonly keepBursts?: true;
  readonly flagsOut?: string;
}

export interface PartOptions extends FlaggingOptions {
  readonly times?: string;
  /** As it was written. */
  readonly channels?: string;
}

export const flaggingOptionNames = [
  'flag',
  'flags',
  'flagInterference',
  'keepBursts',
  'flagsOut',
] as const satisfies readonly (keyof FlaggingOptions)[];

/** χ₁ where nobody says otherwise: of noise alone 1.6 samples in a million are above it. */
export const USUAL_SIGMA = 6;

const TIMES_WORDS = 'integrations whose middle lies between: 2026-06-21T04:00:00Z..; either may be left out';
const CHANNELS_WORDS = 'by number from 0, 10-20,30, or by frequency, 151MHz..152MHz';

export function addFlaggingOptions(command: Command): Command {
  command.optionsGroup('Flags:');
  return addFlagRulesOption(command)
    .option('--flags <path>', 'a file of flags beside the data, as --flags-out writes it', asOne)
    .option(
      '--flag-interference [sigma]',
      `find interference in time and frequency (SumThreshold), from so many σ of a sample on (default: ${USUAL_SIGMA})`,
      parseSigma,
    )
    .option(
      '--keep-bursts',
      'with --flag-interference: leave short bursts over most of the band on most baselines, which may be of the sky',
    )
    .option('--flags-out <path>', 'write what was flagged here as a file of flags');
}

/** `channels`: declared here unless the command has such an option already. */
export function addPartOptions(command: Command, channels: 'declare' | 'has' = 'declare'): Command {
  command.optionsGroup('A part of the visibilities:').option('--times <from..to>', TIMES_WORDS, asOne);
  if (channels === 'declare') command.option('--channels <list>', CHANNELS_WORDS, asOne);
  return addFlaggingOptions(command);
}

export function parseSigma(text: string): number {
  const sigma = plainNumber('--flag-interference')(text);
  return sigma >= 2 && sigma <= 1000
    ? sigma
    : refuse('--flag-interference', `'${text}' is no threshold`, 'give 2 to 1000 σ, like 6');
}

export const contextOf = ({ header }: VisibilityFile): FlagContext => ({
  stations: header.telescope.stations,
  polarisations: header.polarisations,
  frequenciesHz: header.frequenciesHz,
  ...(header.feeds && { feeds: header.feeds }),
});

/** The file with what is asked for flagged; the file itself where nothing is. */
export async function withFlags(
  file: VisibilityFile,
  options: FlaggingOptions,
): Promise<FlaggedFile | undefined> {
  const { flagInterference: sigma } = options;
  if (options.keepBursts && sigma === undefined)
    refuse('--keep-bursts', 'is for --flag-interference', 'add it, or leave this out');
  const context = contextOf(file);
  if (options.flagsOut !== undefined) refuseNamesakes(context);
  const rules = [
    ...parseFlagRules(options.flag, context),
    ...(options.flags === undefined ? [] : await readFlagFile(options.flags, context)),
  ];
  if (rules.length === 0 && sigma === undefined) {
    if (options.flagsOut !== undefined)
      refuse('--flags-out', 'has nothing to write', 'add --flag, --flags or --flag-interference');
    return undefined;
  }
  return flagFile(file, {
    rules,
    ...(sigma !== undefined && {
      interference: {
        sigma: sigma === true ? USUAL_SIGMA : sigma,
        bursts: options.keepBursts ? ('keep' as const) : ('take' as const),
      },
    }),
    ...(options.flagsOut !== undefined && { masks: 'keep' as const }),
  });
}

/** A file of flags goes by names. */
function refuseNamesakes({ stations }: FlagContext): void {
  const names = stations.map(({ name }) => name);
  const twice = names.find((name, s) => names.indexOf(name) !== s);
  if (twice !== undefined)
    refuse(
      '--flags-out',
      `'${twice}' is the name of several stations`,
      'its flags would not tell them apart',
    );
}

export interface Part {
  readonly file: VisibilityFile;
  /** All of it, by whose channels and times flags are told; and what they took, where anything is flagged here. */
  readonly told: { readonly file: VisibilityFile; readonly account?: FlagAccount };
  /** Writes --flags-out, once the file was read. */
  readonly finish: () => Promise<void>;
}

/** Flags first, by the file's own channels and times; then the part. */
export async function partOf(file: VisibilityFile, options: PartOptions): Promise<Part> {
  const flagged = await withFlags(file, options);
  const source = flagged?.file ?? file;
  const { frequenciesHz } = file.header;
  const work: Rework = {
    ...(options.channels !== undefined && {
      channels: channelsNamed(options.channels, frequenciesHz, '--channels'),
    }),
    ...(options.times !== undefined && timesNamed(options.times, '--times')),
  };
  const part = Object.keys(work).length === 0 ? source : reworkVisibilities(source, work);
  return {
    file: options.times === undefined ? part : await counted(file, part, work),
    told: { file, ...(flagged && { account: flagged.account }) },
    finish: () => finishFlags(flagged, file, options),
  };
}

export async function finishFlags(
  flagged: FlaggedFile | undefined,
  file: VisibilityFile,
  { flagsOut }: FlaggingOptions,
): Promise<void> {
  if (!flagged || flagsOut === undefined) return;
  const masks = flagged.masks.filter((one) => one.mask.includes(1));
  await writeFlagFile(flagsOut, masks, file.header, history({ from: file }));
}

/** How many integrations lie in the times asked for: none is refused. */
async function counted(
  file: VisibilityFile,
  part: VisibilityFile,
  { from, to }: Rework,
): Promise<VisibilityFile> {
  let integrationCount = 0;
  for await (const { start, durationS } of file.integrations('reused')) {
    const middle = addSeconds(start, durationS / 2);
    if ((from && secondsBetween(from, middle) < 0) || (to && secondsBetween(to, middle) >= 0)) continue;
    integrationCount++;
  }
  if (integrationCount === 0)
    refuse('--times', `no integration of ${file.path} lies there`, 'see its times with corella inspect');
  return { ...part, integrationCount };
}
