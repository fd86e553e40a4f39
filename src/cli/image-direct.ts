/** corella image --direct: images of voltages or spectra, one or a series, without visibilities between. */
import { addSeconds } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { sampleRateOf, type OpenedFile, type Recording } from '../formats/index.js';
import type { Integration } from '../core/blocks.js';
import { correctedSky } from '../pipeline/brightness.js';
import type { ElementBeam } from '../sky/beams/element-beam.js';
import type { KernelSize } from '../image/index.js';
import { channelsOf, planChannels, type ChannelSettings } from '../pipeline/channels.js';
import { phaseLossOf } from '../pipeline/compose/front.js';
import { phaseLossLines } from '../pipeline/phase-loss.js';
import { bearableIntegrationS, coherenceOf } from '../pipeline/coherence.js';
import { refuseLeakage } from '../pipeline/gains/apply.js';
import { imageDirectly } from '../pipeline/image.js';
import type { Calibrated, ImageSettings, SkyImage } from '../pipeline/sky-image.js';
import { mostDelaySamples, type RequestedDelays } from '../pipeline/tracking.js';
import type { Telescope } from '../telescope/telescope.js';
import type { DataFacts } from '../pipeline/gains/apply.js';
import { gainsFor, gainsOver, type GainsOver } from './image-gains.js';
import { runDirectSeries } from './image-series.js';
import type { FeedsOptions } from './options/feeds-option.js';
import type { WideCommandOptions } from './image-wide.js';
import { withBackend } from './open.js';
import { measuredSettings, type ChannelOptions } from './options/channel-options.js';
import type { CardsOptions } from './options/command.js';
import type { ElementOptions } from './options/element-option.js';
import type { OpenFlags } from './options/open-options.js';
import { delayRequest, requestedFor, type TrackOptions } from './options/track-options.js';
import { coherenceFacts, coherenceLines } from './report/coherence-lines.js';
import type { Level } from '../pipeline/levels.js';
import { levelFacts, levelLines } from './report/level-lines.js';
import { leastSpectraOf } from '../pipeline/stages/kurtosis.js';
import { kurtosisFacts, kurtosisLines } from './interference/kurtosis-lines.js';
import { kurtosisWork, type KurtosisOptions, type KurtosisWork } from './interference/kurtosis-options.js';
import { lossFacts, lossLines, railLines } from './report/loss-lines.js';
import { roadLines } from './report/road-lines.js';
import type { Terminal } from './report/terminal.js';

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

export async function directSeries(
  recording: Recording,
  telescope: Telescope,
  options: ImageOptions,
  settings: ImageSettings,
  terminal: Terminal,
): Promise<void> {
  const { plan, frequenciesHz, channelWidthHz, delays, overUsual, kurtosis, spectrumRateHz, phaseLoss } =
    await channelsFor(recording, telescope, options);
  for (const line of phaseLossLines(phaseLoss)) terminal.say(line);
  const work = {
    ...{ kurtosis, spectrumRateHz, overUsual },
    ...{ telescope, frequenciesHz, channelWidthHz, settings, everyS: options.every ?? 1 },
    gains: applicable(options, await gainsOver(options, telescope, frequenciesHz)),
    autos: autosOf(options),
    ...(delays && { delays }),
    ...(options.duration === undefined ? {} : { durationS: options.duration }),
  };
  await runDirectSeries(recording, plan, work, options, terminal);
}

export async function imageDirect(
  recording: Recording,
  telescope: Telescope,
  options: ImageOptions,
  { facts, ...settings }: ImageSettings & { readonly facts: DataFacts },
  terminal: Terminal,
): Promise<Made> {
  const made = await channelsFor(recording, telescope, options);
  const { plan, frequenciesHz, channelWidthHz, delays, level, overUsual, kurtosis, spectrumRateHz } = made;
  const inFileS = recording.samples / sampleRateOf(recording);
  const lastsS = Math.min(options.duration ?? Infinity, inFileS);
  const middle = addSeconds(recording.start, lastsS / 2);
  const gains = await gainsFor(options, telescope, frequenciesHz, middle, facts);
  applicable(options, { ...(gains.calibrated && { first: gains.calibrated }) });
  const stage = terminal.stage('image directly');
  const { sky, account, roadError } = await withBackend(options, (backend) => {
    const road = {
      ...{ backend, telescope, frequenciesHz, ...gains, onProgress: stage.update, autos: autosOf(options) },
      ...{ ...kurtosis.asked, delays, gain: { overUsual }, durationS: options.duration },
    };
    return imageDirectly(recording, plan, road, settings);
  });
  const parts = 2 * account.spectra * frequenciesHz.length * recording.inputs;
  const coherence = coherenceOf(telescope, frequenciesHz, channelWidthHz);
  return {
    sky,
    ...gains,
    channelWidthHz,
    seconds: stage.done(`${sky.samples} time steps`),
    notes: [
      ...roadLines(roadError),
      ...lossLines(recording, account.missingSamples, 'they add nothing'),
      ...kurtosisLines(kurtosis, spectrumRateHz),
      ...phaseLossLines(made.phaseLoss),
      ...levelLines(level),
      ...railLines(account.saturated, parts),
      ...(delays?.towards === undefined
        ? coherenceLines(coherence, sky.durationS, {
            channel: '--track SOURCE saves it, and so do narrower --channels',
            time: `--track SOURCE saves it, and so does --duration ${formatSeconds(bearableIntegrationS(coherence))}`,
          })
        : []),
    ],
    json: {
      ...lossFacts(recording, account.missingSamples),
      ...kurtosisFacts(kurtosis, spectrumRateHz),
      saturated: account.saturated,
      ...levelFacts(level),
      ...(made.phaseLoss !== undefined && { phaseLoss: made.phaseLoss }),
      roadError,
      ...(delays?.towards === undefined
        ? coherenceFacts(coherence, sky.durationS)
        : { tracked: { towards: delays.towards } }),
    },
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

/** Stations that differ are gridded each with its own kernel, where what they hear is divided out afterwards. */
export const withApertures = (settings: ImageSettings, beam: ElementBeam | undefined): ImageSettings =>
  beam?.perStation ? { ...settings, apertures: beam.perStation } : settings;

/** The sky's own brightness; beams that follow a place are pointed at the file's phase centre. */
export const corrected = (
  { sky, calibrated, integration }: Made,
  beam: ElementBeam,
  file: OpenedFile,
  options: ImageOptions,
) =>
  correctedSky(sky, beam, {
    followed: file.kind === 'visibilities' ? file.header.phaseCentre : sky.frame.zenith,
    autos: options.direct === true ? autosOf(options) : options.autos === true ? 'include' : 'leave-out',
    ...(calibrated && { calibrated }),
    ...(integration && { integration }),
  });
