/** The options of correlate as the farm and live take them. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { StoredValues } from '../../formats/index.js';
import type { CorrelationSettings } from '../../pipeline/correlate.js';
import { addVanVleckOption, type VanVleckOptions } from '../interference/van-vleck-lines.js';
import { addKurtosisOptions, type KurtosisOptions } from '../interference/kurtosis-options.js';
import { addChannelOptions, type ChannelOptions } from '../options/channel-options.js';
import { addBackendOptions, addCardsOption, type CardsOptions } from '../options/command.js';
import { addCorrelatePartOptions, type CorrelatePartOptions } from '../options/correlate-part.js';
import { addEopOption } from '../options/eop-option.js';
import type { FineOptions } from '../options/fine-option.js';
import type { LevelsOptions } from '../options/levels-options.js';
import { addOpenOptions, type OpenFlags } from '../options/open-options.js';
import { addOverwriteOption, parseOutput, type OutputOptions } from '../options/outputs.js';
import { addPhaseCentreOption, type PhaseCentreOptions } from '../options/phase-centre-option.js';
import { duration } from '../options/quantity.js';
import { addTrackOptions, type TrackOptions } from '../options/track-options.js';

export interface CorrelateOptions
  extends
    CardsOptions,
    ChannelOptions,
    CorrelatePartOptions,
    FineOptions,
    KurtosisOptions,
    LevelsOptions,
    OpenFlags,
    OutputOptions,
    TrackOptions,
    VanVleckOptions,
    PhaseCentreOptions {
  readonly out: string;
  readonly integration?: number;
  readonly align: Align;
  readonly values: StoredValues;
}

/** What correlate takes, on a farm. */
export function addCorrelateOptions(command: Command): Command {
  command
    .argument('<recording>', 'voltages or channelised data in any format we read')
    .option(
      '-o, --out <path>',
      'visibilities to write; the extension chooses the format',
      parseOutput,
      'visibilities.uvfits',
    )
    .option(
      '--integration <time>',
      'length of each integration, like 40ms (default: what the array bears: 99 % of the amplitude is kept)',
      duration('--integration'),
    )
    .option(
      '--align <clock>',
      "first-sample: integrations are counted from the recording's own start; utc: they end on UTC's boundaries",
      parseAlign,
      'first-sample',
    )
    .option(
      '--values <kind>',
      'means, or sums: whole numbers bit for bit as they were summed, fringes running (.uvh5 alone)',
      parseValues,
      'means',
    );
  addVanVleckOption(command);
  addTrackOptions(command);
  addPhaseCentreOption(command, 'the tracked place, else the zenith');
  addCorrelatePartOptions(command);
  addKurtosisOptions(command);
  addOverwriteOption(command);
  addChannelOptions(command);
  addOpenOptions(command, 'recordings');
  addCardsOption(addBackendOptions(command));
  addEopOption(command);
  return command;
}

type Align = NonNullable<CorrelationSettings['align']>;

export function parseAlign(text: string): Align {
  return text === 'first-sample' || text === 'utc'
    ? text
    : refuse('--align', `'${text}' is no clock`, 'choose first-sample or utc');
}

export function parseValues(text: string): StoredValues {
  return text === 'means' || text === 'sums'
    ? text
    : refuse('--values', `'${text}' is not a kind of values`, 'choose means or sums');
}
