/** Channelisation options, for commands that are no shorthand of an observation: fields of its front. */
import type { z } from 'zod';
import type { SpectraType } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import type { VoltageSource } from '../../core/sources.js';
import type { VoltageRecording } from '../../formats/index.js';
import { front, type FrontPart } from '../../observation/index.js';
import type { ChannelSettings } from '../../stages/index.js';

const { channels, filter, taps, window, bits, gain, passband, coefficients } = front.shape;
export const channelFields = { channels, filter, taps, window, bits, gain, passband, coefficients };
export type ChannelOptions = Pick<FrontPart, keyof typeof channelFields>;

/** For refuseGiven, where there is no channelisation. */
export const channelOptionNames = Object.keys(channelFields);

const spectraTypes = { 8: 'ci8', 4: 'ci4', float: 'cf32' } as const satisfies Record<
  NonNullable<z.output<typeof bits>>,
  SpectraType
>;

export async function channelSettings(
  options: ChannelOptions,
  recording: Pick<VoltageRecording, 'path' | 'telescope' | keyof VoltageSource>,
  defaultType?: SpectraType,
): Promise<ChannelSettings> {
  const { filterOf } = await import('../../observation/index.js');
  const { nominalSpectra } = await import('../../stages/index.js');
  const count = options.channels ?? recording.telescope?.recording.channels;
  if (count === undefined)
    refuse(recording.path, 'names no telescope, so its channels are unknown', 'give --channels');
  if (options.filter !== undefined)
    for (const name of ['window', 'passband', 'coefficients'] as const)
      if (options[name] !== undefined)
        refuse(
          `--${name}`,
          `--filter ${options.filter} says what the filter is`,
          'leave one of them out; --taps may go with both',
        );
  return {
    channels: count,
    ...(await filterOf(options)),
    outputType:
      options.bits === undefined ? (defaultType ?? nominalSpectra(recording)) : spectraTypes[options.bits],
    gain: options.gain,
  };
}
