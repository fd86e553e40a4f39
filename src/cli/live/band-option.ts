/** --channels of live: how many to make of voltages, or which of those that come. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { narrowed, narrowedSessions } from '../../pipeline/live/band.js';
import type { ChannelRange } from '../../pipeline/stages/select-channels.js';
import type { Source } from '../../core/sources.js';
import { parseCount } from '../options/command.js';
import type { OpenedInput } from './input.js';

/** What the command line gives. */
export type GivenChannels = number | ChannelRange;

export function parseChannels(text: string): GivenChannels {
  const range = /^(\d+)-(\d+)$/.exec(text.trim());
  if (!range) return parseCount(text);
  const [first, last] = [Number(range[1]), Number(range[2])];
  if (last < first) refuse('--channels', `'${text}' ends before it begins`, 'write it like 0-65');
  return { first, end: last + 1 };
}

/** After the channels' own options were added. */
export function takeRangesToo(command: Command): Command {
  const option = command.options.find(({ long }) => long === '--channels');
  if (!option) throw new Error('--channels is missing');
  option.argParser(parseChannels);
  option.description =
    "how many to make of voltages (default: the telescope's own); of packets that come channelised which, like 0-65: a machine's part of the band";
  const gain = command.options.find(({ long }) => long === '--gain');
  if (gain) gain.description = 'before rounding (default: noise keeps its level in units of full scale)';
  return command;
}

/** The input with its part of the band alone. */
export const narrowedInput = (input: OpenedInput, band: ChannelRange | undefined): OpenedInput =>
  band === undefined
    ? input
    : // Its methods stay its own; only the sessions are seen through.
      Object.assign(Object.create(input) as OpenedInput, { sessions: () => narrowedSessions(input, band) });

export const narrowedTo = (source: Source, band: ChannelRange | undefined): Source =>
  band === undefined ? source : narrowed(source, band);
