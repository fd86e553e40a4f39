/** Which part of a recording is correlated, what of its visibilities is flagged and which channels are kept. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { formatHz } from '../../core/units.js';
import type { Recording, VisibilityHeader } from '../../formats/index.js';
import { readFlagFile } from '../../pipeline/flags/flag-file.js';
import type { FlagAccount } from '../../pipeline/flags/flagged-file.js';
import { channelsNamed, timesNamed, type FlagContext } from '../../pipeline/flags/words.js';
import { partOfRecording } from '../../pipeline/part-of-recording.js';
import type { FlagRulesSettings } from '../../pipeline/stages/flag-rules.js';
import { asOne } from './command.js';
import { addFlagRulesOption, parseFlagRules, type FlagOptions } from './flags.js';

export interface CorrelatePartOptions extends FlagOptions {
  readonly times?: string;
  readonly keepChannels?: string;
  readonly flags?: string;
}

export function addCorrelatePartOptions(command: Command): Command {
  command
    .optionsGroup('A part of the recording, and flags:')
    .option(
      '--times <from..to>',
      'this much of the recording: 2026-06-21T04:00:00Z..; either may be left out',
      asOne,
    );
  return addFlagsAndChannels(command);
}

/** What live takes too. */
export function addFlagsAndChannels(command: Command): Command {
  command.option(
    '--keep-channels <list>',
    'write these channels alone, by number from 0, 10-20,30, or by frequency, 151MHz..152MHz',
    asOne,
  );
  return addFlagRulesOption(command).option(
    '--flags <path>',
    'a file of flags (docs/flags.md); what is flagged keeps its value and weight',
    asOne,
  );
}

/** The stretch that is asked for. */
export const stretchOf = (recording: Recording, { times }: CorrelatePartOptions): Recording =>
  times === undefined ? recording : partOfRecording(recording, timesNamed(times, '--times'));

export interface CorrelatePart {
  /** What the correlator leaves out: inputs that are flagged all the time. */
  readonly flaggedInputs: Uint8Array;
  readonly header: VisibilityHeader;
  /** For the chain: everything else, and the channels that are kept. */
  readonly flags: FlagRulesSettings;
  /** Values that had weight so far, and what rules of channels, times and pairs flagged of them. */
  readonly asked: Pick<FlagAccount, 'rules' | 'ruled' | 'values'>;
}

/** Files of visibilities hold frequencies of the sky, and whoever reads them refuses others. */
function refuseBelowZero(frequenciesHz: Float64Array): void {
  const below = frequenciesHz.find((frequencyHz) => !(frequencyHz > 0));
  if (below !== undefined)
    refuse(
      'band',
      `the band reaches below zero, to ${formatHz(below)}, where there is no sky`,
      'give its middle with --frequency where the recording is wrong, or choose channels with --keep-channels',
    );
}

/** What --flag, --flags and --keep-channels ask for. Flags go by the channels that are made, and then channels are chosen. */
export async function requestedFlags(
  { flag, flags, keepChannels }: Omit<CorrelatePartOptions, 'times'>,
  context: FlagContext,
): Promise<Pick<CorrelatePart, 'flaggedInputs' | 'flags' | 'asked'>> {
  const said = parseFlagRules(flag, context);
  const inputs = context.stations.length * context.polarisations;
  const rules = [
    ...said.filter((rule) => !rule.inputs),
    ...(flags === undefined ? [] : await readFlagFile(flags, context)),
  ];
  const channels =
    keepChannels === undefined
      ? undefined
      : channelsNamed(keepChannels, context.frequenciesHz, '--keep-channels');
  const tally = { rules: rules.length, ruled: 0, values: 0 };
  return {
    flaggedInputs: said.find((rule) => rule.inputs)?.inputs ?? new Uint8Array(inputs),
    flags: { rules, ...(channels && { channels }), tally },
    asked: tally,
  };
}

/** The frequencies of the channels that are kept. */
export function keptFrequenciesHz(
  { channels }: FlagRulesSettings,
  frequenciesHz: Float64Array,
): Float64Array {
  const kept = channels ? Float64Array.from(channels, (c) => frequenciesHz[c]) : frequenciesHz;
  refuseBelowZero(kept);
  return kept;
}

export async function correlatePart(
  header: VisibilityHeader,
  options: CorrelatePartOptions,
): Promise<CorrelatePart> {
  const { telescope, polarisations, frequenciesHz } = header;
  const part = await requestedFlags(options, { stations: telescope.stations, polarisations, frequenciesHz });
  return { ...part, header: { ...header, frequenciesHz: keptFrequenciesHz(part.flags, frequenciesHz) } };
}
