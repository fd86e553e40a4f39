/** The options of channelise as the farm takes them. */
import type { Command } from 'commander';
import { addKurtosisOptions, type KurtosisOptions } from '../interference/kurtosis-options.js';
import { addChannelOptions, type ChannelOptions } from '../options/channel-options.js';
import { addBackendOptions, type BackendOptions } from '../options/command.js';
import { addOpenOptions, type OpenFlags } from '../options/open-options.js';
import { addOverwriteOption, parseOutput, type OutputOptions } from '../options/outputs.js';

export interface ChanneliseOptions
  extends BackendOptions, ChannelOptions, KurtosisOptions, OpenFlags, OutputOptions {
  readonly out?: string;
  readonly response?: true;
}

/** What channelise takes, on a farm. */
export function addChanneliseOptions(command: Command): Command {
  command
    .argument('[recording]', 'voltages in any format we read')
    .option(
      '-o, --out <path>',
      'what to write (default: channels.sigmf-meta, or response.png with --response)',
      parseOutput,
    )
    .option(
      '--response',
      "no recording: the filter's scalloping and leakage beside a plain DFT's, as numbers and a picture",
    );
  addChannelOptions(command);
  addKurtosisOptions(command);
  addOpenOptions(command, 'recordings');
  addOverwriteOption(command);
  addBackendOptions(command);
  return command;
}
