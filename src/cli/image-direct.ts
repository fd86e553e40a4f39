/** What an image is made with, as the farm takes it; and what image from visibilities shares with it. */
import type { ChannelisePlan } from '../channelise/index.js';
import type { OpenedFile, Recording } from '../formats/index.js';
import type { Integration } from '../core/blocks.js';
import { correctedSky } from '../pipeline/brightness.js';
import type { ElementBeam } from '../sky/beams/element-beam.js';
import type { KernelSize } from '../image/index.js';
import { channelsOf, planChannels, type ChannelSettings } from '../pipeline/channels.js';
import { phaseLossOf } from '../pipeline/compose/front.js';
import { refuseLeakage } from '../pipeline/gains/apply.js';
import type { Calibrated, SkyImage } from '../pipeline/sky-image.js';
import { mostDelaySamples, type RequestedDelays } from '../pipeline/tracking.js';
import type { Telescope } from '../telescope/telescope.js';
import type { GainsOver } from './image-gains.js';
import type { FeedsOptions } from './options/feeds-option.js';
import type { WideCommandOptions } from './image-wide.js';
import { measuredSettings, type ChannelOptions } from './options/channel-options.js';
import type { CardsOptions } from './options/command.js';
import type { ElementOptions } from './options/element-option.js';
import type { OpenFlags } from './options/open-options.js';
import { delayRequest, requestedFor, type TrackOptions } from './options/track-options.js';
import type { Level } from '../pipeline/levels.js';
import { leastSpectraOf } from '../pipeline/stages/kurtosis.js';
import { kurtosisWork, type KurtosisOptions, type KurtosisWork } from './interference/kurtosis-options.js';

export interface ImageOptions
  extends
    WideCommandOptions,
    CardsOptions,
    ChannelOptions,
    KurtosisOptions,
    OpenFlags,
    ElementOptions,
    FeedsOptions,
    TrackOptions {
  readonly crossHand?: 'known';
  readonly direct?: true;
  readonly kernel: KernelSize;
  readonly weight?: WideCommandOptions['weights'];
  readonly perChannel?: true;
  readonly duration?: number;
  readonly every?: number;
}

/** An image by either road, and what is told of it. */
export interface Made {
  readonly sky: SkyImage & { readonly beam?: SkyImage['image'] };
  readonly calibrated?: Calibrated;
  /** Of visibilities. */
  readonly integration?: Integration;
  readonly channelWidthHz: number;
  readonly seconds: number;
  /** What the user should know of the data's choice. */
  readonly notes: readonly string[];
  readonly json: object;
}

interface Channels {
  readonly settings?: ChannelSettings;
  readonly plan?: ChannelisePlan;
  readonly delays?: RequestedDelays;
  /** What is lost of an amplitude where delays are taken out of channels by phases alone. */
  readonly phaseLoss?: number;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  readonly level?: Level;
  /** By how much the gain before rounding was over the usual: brightness is divided by its square. */
  readonly overUsual: number;
  readonly spectrumRateHz: number;
  readonly kurtosis: KurtosisWork;
}

/** Voltages are channelised here; what arrived channelised has its channels. */
export async function channelsFor(
  recording: Recording,
  telescope: Telescope,
  options: ImageOptions,
): Promise<Channels> {
  const delays = requestedFor(recording, telescope, await delayRequest(options, telescope));
  const asked = delays && { delays };
  const kurtosis = kurtosisWork(options);
  if (recording.kind === 'spectra') {
    const { frequenciesHz, channelWidthHz, spectrumRateHz, overUsual = 1 } = recording;
    const phaseLoss = phaseLossOf({ source: recording, delays });
    return { frequenciesHz, channelWidthHz, spectrumRateHz, overUsual, kurtosis, phaseLoss, ...asked };
  }
  const settings = await measuredSettings(options, recording);
  const plan = planChannels(recording, {
    ...settings,
    ...leastSpectraOf(kurtosis.asked.kurtosis, { ...recording, channels: settings.channels }),
    ...(delays && { mostDelaySamples: mostDelaySamples(delays) }),
  });
  return {
    ...{ settings, plan, ...channelsOf(recording, plan), ...asked, kurtosis },
    spectrumRateHz: recording.sampleRateHz / plan.samplesPerSpectrum,
    ...{ overUsual: settings.level?.overUsual ?? 1, ...(settings.level && { level: settings.level }) },
  };
}

/** Voltages are divided by one gain an input. */
export function applicable(options: ImageOptions, gains: GainsOver): GainsOver {
  if (gains.first && options.gains !== undefined)
    refuseLeakage(gains.first, options.gains, 'the direct road');
  return gains;
}

export const autosOf = ({ autos }: Pick<ImageOptions, 'autos'>): 'include' | 'leave-out' =>
  autos === false ? 'leave-out' : 'include';

/** The sky's own brightness; beams that follow a place are pointed at the file's phase centre. */
export const corrected = (
  { sky, calibrated, integration }: Made,
  beam: ElementBeam,
  file: OpenedFile,
  options: ImageOptions,
) =>
  correctedSky(sky, beam, {
    followed: file.kind === 'visibilities' ? file.header.phaseCentre : sky.frame.zenith,
    autos: options.autos === true ? 'include' : 'leave-out',
    ...(calibrated && { calibrated }),
    ...(integration && { integration }),
  });
