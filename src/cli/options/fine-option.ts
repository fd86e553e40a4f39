/** Data that are channelised already, channelised further: --fine-channels. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { Recording, SpectraRecording, VoltageRecording } from '../../formats/index.js';
import { planChannels, type ChannelSettings } from '../../pipeline/channels.js';
import type { ChannelisePlan } from '../../channelise/index.js';
import type { Finer } from '../../pipeline/fine/fold.js';
import { planFineChannels, streamsOf } from '../../pipeline/fine/streams.js';
import type { Level } from '../../pipeline/levels.js';
import { leastSpectraOf, type RequestedKurtosis } from '../../pipeline/stages/kurtosis.js';
import { measuredSettings, type ChannelOptions } from './channel-options.js';
import { parseCount } from './command.js';

export interface FineOptions {
  readonly fineChannels?: number;
}

export const addFineOption = (command: Command): Command =>
  command
    .optionsGroup('Channels, from channels:')
    .option(
      '--fine-channels <number>',
      'of data that are channelised already: channelise each of their channels into so many (--filter, --taps, --bits as of voltages)',
      parseCount,
    );

/** A recording's channels as streams, and what becomes of them. */
export interface FineWork {
  readonly streams: VoltageRecording;
  readonly plan: ChannelisePlan;
  readonly settings: ChannelSettings;
  readonly finer: Finer;
  readonly level?: Level;
  /** Of both filters together. */
  readonly overUsual: number;
}

export function refuseFine(recording: Recording, { fineChannels }: FineOptions): void {
  if (fineChannels !== undefined && recording.kind === 'voltages')
    refuse(
      '--fine-channels',
      `${recording.path} holds voltages, which have no channels yet`,
      'say how many with --channels',
    );
}

/** Around the zero of real numbers either side is the other's mirror, and the band has but one. */
export function mirrorLines(recording: Recording, { fineChannels }: FineOptions): string[] {
  if (recording.kind !== 'spectra' || fineChannels === undefined || recording.realChannels !== 1) return [];
  const { first, kept } = planFineChannels(recording, fineChannels);
  const below = Math.floor(fineChannels / 2) - first;
  return below > 0
    ? [
        `channels 0-${below - 1} lie below the band, which began as real numbers, and mirror those above its edge: leave them out (--keep-channels ${below}-${recording.channels * kept - 1} of correlate)`,
      ]
    : [];
}

export async function planFine(
  recording: SpectraRecording,
  fineChannels: number,
  options: ChannelOptions,
  kurtosis: RequestedKurtosis | undefined,
): Promise<FineWork> {
  if (recording.levels)
    refuse(
      '--fine-channels',
      `${recording.path} has levels of its own for each input and channel`,
      'channelise it without --levels first',
    );
  const channels = planFineChannels(recording, fineChannels);
  const streams = streamsOf(recording);
  const { level, ...settings } = await measuredSettings({ ...options, channels: fineChannels }, streams);
  const plan = planChannels(streams, {
    ...settings,
    ...leastSpectraOf(kurtosis, { inputs: streams.inputs, channels: fineChannels }),
  });
  const { inputs } = recording;
  const overUsual = (recording.overUsual ?? 1) * (level?.overUsual ?? 1);
  return { streams, plan, settings, finer: { inputs, channels }, overUsual, ...(level && { level }) };
}
