/** How voltages become channels, as options that channelise, correlate and image share. */
import type { Command } from 'commander';
import { filterNames, namedFilters, type FilterName, type FilterWindow } from '../../channelise/index.js';
import type { SpectraType } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { usualSpectra, type ChannelSettings, readCoefficients } from '../../stages/index.js';
import type { VoltageSource } from '../../core/sources.js';
import type { VoltageRecording } from '../../formats/index.js';
import { parseCount } from './command.js';
import { plainNumber } from './quantity.js';

export interface ChannelOptions {
  readonly channels?: number;
  readonly filter?: FilterName;
  readonly taps?: number;
  readonly window?: FilterWindow;
  readonly bits?: SpectraType;
  readonly gain?: number;
  readonly passband?: number;
  readonly coefficients?: string;
}

/** For refuseGiven, where nothing is channelised. */
export const channelOptionNames = [
  'channels',
  'filter',
  'taps',
  'window',
  'bits',
  'gain',
  'passband',
  'coefficients',
] as const satisfies readonly (keyof ChannelOptions)[];

const windowNames = ['rectangular', 'hann', 'hamming', 'blackman', 'kaiser:BETA'] as const;

export function addChannelOptions(command: Command): Command {
  return command
    .optionsGroup('Channels, from voltages:')
    .option('--channels <number>', "how many (default: the telescope's own)", parseCount)
    .option(
      '--filter <name>',
      `by name: ${filterNames.join(', ')}; channelise --response tells what each does (default: usual)`,
      parseFilter,
    )
    .option(
      '--taps <number>',
      "spectra under the polyphase filter, 1 to 256 (default: 8, or the named filter's own)",
      parseCount,
    )
    .option('--window <name>', `of the filter: ${windowNames.join(', ')} (default: hann)`, parseWindow)
    .option(
      '--passband <channels>',
      "width of the filter's passband (default: 1, the channel's own)",
      plainNumber('--passband'),
    )
    .option(
      '--coefficients <path>',
      'a filter of your own: one number a line, taps × samples per spectrum of them',
    )
    .option(
      '--bits <bits>',
      'of each channelised real and imaginary part: 8, 4, or float (default: 8, or float where the recording is)',
      parseBits,
    )
    .option(
      '--gain <factor>',
      "before rounding (default: what the recording's first samples want; 8 bits that lie well keep their level)",
      plainNumber('--gain'),
    );
}

export async function channelSettings(
  options: ChannelOptions,
  recording: Pick<VoltageRecording, 'path' | 'telescope' | keyof VoltageSource>,
): Promise<ChannelSettings> {
  const channels = options.channels ?? recording.telescope?.recording.channels;
  if (channels === undefined) {
    refuse(
      recording.path,
      'names no telescope, so nobody knows its channels',
      'say how many with --channels',
    );
  }
  return {
    channels,
    ...(await filterSettings(options)),
    outputType: options.bits ?? usualSpectra(recording),
    ...(options.gain === undefined ? {} : { gain: options.gain }),
  };
}

/** What the user wants of the filter; the plan refuses wishes that contradict each other. */
const filterSettings = async (options: Omit<ChannelOptions, 'channels' | 'bits' | 'gain'>) => {
  const { filter, taps, window, passband, coefficients } = options;
  if (filter !== undefined) {
    const other = { '--window': window, '--passband': passband, '--coefficients': coefficients };
    for (const [name, value] of Object.entries(other))
      if (value !== undefined)
        refuse(
          name,
          `--filter ${filter} says what the filter is`,
          'leave one of them out; --taps may go with both',
        );
    return { ...namedFilters[filter], ...(taps === undefined ? {} : { taps }) };
  }
  return {
    taps: taps ?? namedFilters.usual.taps,
    ...(window === undefined ? {} : { window }),
    ...(passband === undefined ? {} : { passbandChannels: passband }),
    ...(coefficients === undefined ? {} : { coefficients: await readCoefficients(coefficients) }),
  };
};

const parseFilter = (text: string): FilterName =>
  filterNames.find((name) => name === text) ??
  refuse('--filter', `'${text}' is not a filter`, `choose ${filterNames.join(', ')}`);

function parseWindow(text: string): FilterWindow {
  const [name, beta] = text.split(':') as [string, string?];
  switch (name) {
    case 'rectangular':
    case 'hann':
    case 'hamming':
    case 'blackman':
      return { kind: name };
    case 'kaiser':
      if (beta === undefined) refuse('--window', "'kaiser' lacks its β", 'write kaiser:BETA, like kaiser:9');
      return { kind: name, beta: plainNumber('--window')(beta) };
    default:
      return refuse('--window', `'${text}' is not a window`, `choose ${windowNames.join(', ')}`);
  }
}

function parseBits(text: string): SpectraType {
  const types: Readonly<Partial<Record<string, SpectraType>>> = { '8': 'ci8', '4': 'ci4', float: 'cf32' };
  return types[text] ?? refuse('--bits', `'${text}' is not a sample size`, 'choose 8, 4 or float');
}
