/** corella image --direct: images of voltages or spectra, one or a series, without visibilities between. */
import { addSeconds, type Instant } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { readGainFile, sampleRateOf, type GainsFile, type Recording } from '../formats/index.js';
import type { KernelSize } from '../image/index.js';
import { channelsOf, planChannels } from '../pipeline/channels.js';
import { bearableIntegrationS, coherenceOf } from '../pipeline/coherence.js';
import { imagesDirectly } from '../pipeline/direct-images.js';
import { channelsWithoutGains, matchGains } from '../pipeline/gains/apply.js';
import { imageDirectly } from '../pipeline/image.js';
import type { Calibrated, CalibratedAt, ImageSettings, SkyImage } from '../pipeline/sky-image.js';
import type { DirectSkyImage } from '../pipeline/stages/direct-image.js';
import { mostDelaySamples, type RequestedDelays } from '../pipeline/tracking.js';
import type { Telescope } from '../telescope/telescope.js';
import { runDirectSeries } from './image-series.js';
import type { WideCommandOptions } from './image-wide.js';
import { withBackend } from './open.js';
import { channelSettings, type ChannelOptions } from './options/channel-options.js';
import type { OpenFlags } from './options/open-options.js';
import { delayRequest, requestedFor, type TrackOptions } from './options/track-options.js';
import { coherenceFacts, coherenceLines } from './report/coherence-lines.js';
import { lossFacts, lossLines, railLines } from './report/loss-lines.js';
import { openTerminal, type Terminal } from './report/terminal.js';

export interface ImageOptions extends WideCommandOptions, ChannelOptions, OpenFlags, TrackOptions {
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
  readonly channelWidthHz: number;
  readonly seconds: number;
  /** What the user should know of the data's choice. */
  readonly notes: readonly string[];
  readonly json: object;
}

interface Channels {
  readonly plan?: ChannelisePlan;
  readonly delays?: RequestedDelays;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
}

/** Voltages are channelised here; what arrived channelised has its channels. */
async function channelsFor(
  recording: Recording,
  telescope: Telescope,
  options: ImageOptions,
): Promise<Channels> {
  const delays = requestedFor(recording, telescope, await delayRequest(options, telescope));
  const asked = delays && { delays };
  if (recording.kind === 'spectra') {
    const { frequenciesHz, channelWidthHz } = recording;
    return { frequenciesHz, channelWidthHz, ...asked };
  }
  const plan = planChannels(recording, {
    ...(await channelSettings(options, recording)),
    ...(delays && { mostDelaySamples: mostDelaySamples(delays) }),
  });
  return { plan, ...channelsOf(recording, plan), ...asked };
}

export async function directSeries(
  recording: Recording,
  telescope: Telescope,
  options: ImageOptions,
  settings: ImageSettings,
  terminal: Terminal,
): Promise<void> {
  const { plan, frequenciesHz, channelWidthHz, delays } = await channelsFor(recording, telescope, options);
  const work = {
    ...{ telescope, frequenciesHz, channelWidthHz, settings, everyS: options.every ?? 1 },
    gains: await gainsOver(options, telescope, frequenciesHz),
    ...(delays && { delays }),
    ...(options.duration === undefined ? {} : { durationS: options.duration }),
  };
  await runDirectSeries(recording, plan, work, options, terminal);
}

export async function imageDirect(
  recording: Recording,
  telescope: Telescope,
  options: ImageOptions,
  settings: ImageSettings,
  terminal: Terminal,
): Promise<Made> {
  const { plan, frequenciesHz, channelWidthHz, delays } = await channelsFor(recording, telescope, options);
  const inFileS = recording.samples / sampleRateOf(recording);
  const lastsS = Math.min(options.duration ?? Infinity, inFileS);
  const gains = await gainsFor(options, telescope, frequenciesHz, addSeconds(recording.start, lastsS / 2));
  const stage = terminal.stage('image directly');
  const { sky, account, roadError } = await withBackend(options, async (backend) => {
    const road = {
      ...{ backend, telescope, frequenciesHz, ...gains, onProgress: stage.update },
      ...(delays && { delays }),
      ...(options.duration === undefined ? {} : { durationS: options.duration }),
    };
    if (recording.kind === 'voltages' && plan) return imageDirectly(recording, plan, road, settings);
    const images: DirectSkyImage[] = [];
    const told = await imagesDirectly(recording, plan, road, settings, (one) => {
      images.push(one);
      return Promise.resolve();
    });
    return { sky: images[0], ...told };
  });
  const parts = 2 * account.spectra * frequenciesHz.length * recording.inputs;
  const coherence = coherenceOf(telescope, frequenciesHz, channelWidthHz);
  return {
    sky,
    channelWidthHz,
    seconds: stage.done(`${sky.samples} time steps`),
    notes: [
      ...roadLines(roadError),
      ...lossLines(recording, account.missingSamples, 'they add nothing'),
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
      saturated: account.saturated,
      roadError,
      ...(delays?.towards === undefined
        ? coherenceFacts(coherence, sky.durationS)
        : { tracked: { towards: delays.towards } }),
    },
  };
}

/** Told above one per cent; above ten it was refused. */
const roadLines = (error: number): string[] =>
  error > 0.01
    ? [
        `for this array the direct road is off by up to ${(100 * error).toFixed(1)} % of a source; ` +
          'correlating first is exact',
      ]
    : [];

/** The gains of one moment. */
export async function gainsFor(
  options: ImageOptions,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  moment: Instant,
): Promise<{ calibrated?: Calibrated }> {
  if (options.gains === undefined) return {};
  const file = await readGainFile(options.gains);
  return { calibrated: matched(file, options, options.gains, telescope, frequenciesHz, moment) };
}

/** The gains of all times: where the file has several, those between them. */
export async function gainsOver(
  options: ImageOptions,
  telescope: Telescope,
  frequenciesHz: Float64Array,
): Promise<{ calibrated?: Calibrated | CalibratedAt }> {
  const path = options.gains;
  if (path === undefined) return {};
  const file = await readGainFile(path);
  const calibrated = matched(file, options, path, telescope, frequenciesHz);
  if (!file.later) return { calibrated };
  return { calibrated: (moment) => matchGains(file, path, telescope, frequenciesHz, moment) };
}

function matched(
  file: GainsFile,
  options: ImageOptions,
  path: string,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  moment?: Instant,
): Calibrated {
  const calibrated = matchGains(file, path, telescope, frequenciesHz, moment);
  const without = channelsWithoutGains(calibrated, frequenciesHz.length).length;
  if (without > 0)
    openTerminal(options).say(
      `${path}: ${without} of ${frequenciesHz.length} channels have no gains and are left out`,
    );
  return calibrated;
}
