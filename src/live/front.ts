/** How a stream epoch's samples become spectra: the front end, with delays counted from the epoch's start. */
import type { ChannelisePlan } from '../channelise/index.js';
import { refuse } from '../core/errors.js';
import { sampleRateOf, type Source, type VoltageSource } from '../core/sources.js';
import { SECONDS_PER_DAY } from '../core/units.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  planChannels,
  type ChannelSettings,
  planFineChannels,
  streamsOf,
  mostDelaySamples,
  requestDelays,
  type DelayRequest,
  type RequestedDelays,
  type RequestedKurtosis,
} from '../stages/index.js';
import type { Front, Gain } from '../compose/index.js';

export interface FrontSettings {
  readonly telescope: Telescope;
  /** How voltages are channelised, or channels divided into finer ones. */
  readonly channels?: ChannelisePlan;
  /** For channelised input: the number of fine channels per channel. */
  readonly fineChannels?: number;
  /** Fixed delays, or a tracked position. */
  readonly delays?: DelayRequest;
  /** Requested length of data, if known. */
  readonly forS?: number;
  /** Requantisation gain ratio: voltages are multiplied by it before rounding, and products are divided by it. */
  readonly gain?: Gain;
  /** Kurtosis flagging of spectra before any product is made. */
  readonly kurtosis?: RequestedKurtosis;
  /** [a], 1 if an input is always flagged. */
  readonly flaggedInputs?: Uint8Array;
}

export function frontOf(source: Source, settings: FrontSettings): Front {
  const { channels, kurtosis, flaggedInputs, gain, fineChannels } = settings;
  const delays = delaysOf(source, settings);
  if (source.kind === 'voltages' || fineChannels === undefined)
    return { source, channels, delays, kurtosis, flaggedInputs, gain };
  if (delays)
    refuse(
      'front.delays',
      'finer channels are not delayed',
      'keep the channels as they are, or give no delays',
    );
  if (source.levels)
    refuse(
      'front.fineChannels',
      'these channels have equaliser gains of their own for each input and channel',
      'channelise them without front.equaliser first',
    );
  const finer = { inputs: source.inputs, channels: planFineChannels(source, fineChannels) };
  const { gainRatio } = source;
  return { source: streamsOf(source), channels, finer, kurtosis, flaggedInputs, gain: { gainRatio } };
}

/** Ticks count from the epoch's first sample. A stream of unknown length is planned for a day. */
const delaysOf = (source: Source, { telescope, delays, forS }: FrontSettings): RequestedDelays | undefined =>
  delays &&
  requestDelays(delays, telescope, {
    start: source.start,
    tickRateHz: sampleRateOf(source),
    lastsS: forS ?? SECONDS_PER_DAY,
  });

/** The input of the channeliser: voltages, or channels that are divided into finer ones. */
const channelisedOf = (
  source: Source,
  { fineChannels }: Pick<FrontSettings, 'fineChannels'>,
): VoltageSource | undefined =>
  source.kind === 'voltages' ? source : fineChannels === undefined ? undefined : streamsOf(source);

/** The channeliser's plan for a stream, the same in all of its epochs. */
export function planLiveChannels(
  source: Source,
  channels: ChannelSettings,
  settings: Pick<FrontSettings, 'telescope' | 'fineChannels' | 'delays' | 'forS'>,
): ChannelisePlan | undefined {
  const voltages = channelisedOf(source, settings);
  const delays = source.kind === 'voltages' ? delaysOf(source, settings) : undefined;
  return (
    voltages &&
    planChannels(voltages, { ...channels, ...(delays && { mostDelaySamples: mostDelaySamples(delays) }) })
  );
}
