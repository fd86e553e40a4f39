/** The filter's taps as floats, where the samples' 8 bits would have them rounded to 16: --float-taps. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { Recording, VoltageRecording } from '../../formats/index.js';
import { widenedSource } from '../../pipeline/widened-source.js';

export interface FloatTapsOptions {
  readonly floatTaps?: true;
}

export const addFloatTapsOption = (command: Command): Command =>
  command
    .optionsGroup('Channels, from voltages:')
    .option(
      '--float-taps',
      'floats for the filter of 8-bit samples too, whose taps are 16-bit integers otherwise (a floor near −100 dB): slower',
    );

/** What is channelised: 8-bit samples as 16-bit ones, where floats were asked for. */
export function withFloatTaps<Kind extends Recording>(
  recording: Kind,
  { floatTaps }: FloatTapsOptions,
): Kind {
  if (floatTaps !== true) return recording;
  if (recording.kind === 'spectra')
    refuse('--float-taps', `${recording.path} is channelised already`, 'leave it out');
  return widenedSource<VoltageRecording>(recording) as Recording as Kind;
}

export const floatTapsLines = (recording: Recording, { floatTaps }: FloatTapsOptions): string[] =>
  floatTaps === true && recording.kind === 'voltages'
    ? recording.type === 'i8' || recording.type === 'ci8'
      ? ["the filter's taps are floats: samples are taken as 16 bits, which is slower"]
      : [`the filter of ${recording.type} samples has taps of floats anyway`]
    : [];
