/** How voltages become channels, as options that channelise, correlate and image share. */
import type { Command } from 'commander';
import type { FilterWindow } from '../channelise/index.js';
import type { SpectraType } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import type { ChannelSettings } from '../pipeline/channels.js';
import type { VoltageRecording } from '../formats/format.js';
import { readText } from '../formats/input.js';
import { optionWith, parseCount } from './command.js';
import { plainNumber } from './quantity.js';

export interface ChannelOptions {
  readonly channels?: number;
  readonly taps: number;
  readonly window: FilterWindow;
  readonly bits: SpectraType;
  readonly gain?: number;
  readonly passband?: number;
  readonly coefficients?: string;
}

const windowNames = ['rectangular', 'hann', 'hamming', 'blackman', 'kaiser:BETA'] as const;

export function addChannelOptions(command: Command): Command {
  return command
    .option('--channels <number>', "how many (default: the telescope's own)", parseCount)
    .option('--taps <number>', 'spectra under the polyphase filter, 1 to 64', parseCount, 8)
    .addOption(
      optionWith('--window <name>', `of the filter: ${windowNames.join(', ')}`, parseWindow, {
        value: { kind: 'hann' },
        words: 'hann',
      }),
    )
    .option(
      '--passband <channels>',
      "width of the filter's passband (default: 1, the channel's own)",
      plainNumber('--passband'),
    )
    .option(
      '--coefficients <path>',
      'a filter of your own: one number a line, taps × samples per spectrum of them',
    )
    .addOption(
      optionWith('--bits <bits>', 'of each channelised real and imaginary part: 8, 4, or float', parseBits, {
        value: 'ci8',
        words: '8',
      }),
    )
    .option('--gain <factor>', 'before rounding (default: noise keeps its level)', plainNumber('--gain'));
}

export async function channelSettings(
  options: ChannelOptions,
  recording: VoltageRecording,
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
    taps: options.taps,
    ...(options.coefficients === undefined
      ? { window: options.window }
      : { coefficients: await readCoefficients(options.coefficients) }),
    outputType: options.bits,
    ...(options.gain === undefined ? {} : { gain: options.gain }),
    ...(options.passband === undefined ? {} : { passbandChannels: options.passband }),
  };
}

export function parseWindow(text: string): FilterWindow {
  const [name, beta] = text.split(':');
  switch (name) {
    case 'rectangular':
    case 'hann':
    case 'hamming':
    case 'blackman':
      return { kind: name };
    case 'kaiser':
      return { kind: name, beta: plainNumber('--window')(beta) };
    default:
      return refuse('--window', `'${text}' is not a window`, `choose ${windowNames.join(', ')}`);
  }
}

export function parseBits(text: string): SpectraType {
  const types: Readonly<Partial<Record<string, SpectraType>>> = { '8': 'ci8', '4': 'ci4', float: 'cf32' };
  return types[text] ?? refuse('--bits', `'${text}' is not a sample size`, 'choose 8, 4 or float');
}

/** Numbers separated by white space or commas; a wrong one is refused with its line. */
async function readCoefficients(path: string): Promise<Float64Array> {
  const values: number[] = [];
  for (const [n, line] of (await readText(path)).split('\n').entries()) {
    for (const word of line.split(/[\s,]+/).filter((text) => text !== '')) {
      const value = Number(word);
      if (!Number.isFinite(value))
        refuse(`${path}, line ${n + 1}`, `'${word}' is not a number`, 'give the coefficients one a line');
      values.push(value);
    }
  }
  return Float64Array.from(values);
}
