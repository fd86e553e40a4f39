/** Images, direct or from visibilities, composed of the stages. */
import { percent } from '../core/units.js';
import type { OnProgress } from '../core/progress.js';
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { Integration } from '../core/blocks.js';
import { closingAfter } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { Recording } from '../formats/index.js';
import { boundFrequencies, directImageError, HIGH_DEG, type DirectImageError } from '../image/index.js';
import { skyFrame, type SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { observe } from './compose.js';
import { prepareDirectProduct } from './direct.js';
import { spectraOfFront, spectraOfSource, type Front, type Gain } from './front.js';
import {
  imagedTelescope,
  ownImage,
  through,
  planSky,
  type Calibrated,
  type CalibratedAt,
  type ImageSettings,
  integrationClock,
  type DirectSkyImage,
  prepareImage,
  type ImageStageSettings,
  type VisibilitySkyImage,
  type RequestedKurtosis,
  chain,
  passing,
  type Account,
  type Emit,
  type RequestedDelays,
  spectrumStart,
  type IntegrationClock,
} from '../stages/index.js';
import { addSamples, addSeconds, type Instant } from '../core/instant.js';
import type { SampleRange } from '../core/sources.js';

/** From a single integration, without a stream. */
export const imageIntegration = (
  integration: Integration,
  setup: Omit<ImageStageSettings, 'image'>,
  settings: ImageSettings,
): Promise<VisibilitySkyImage> =>
  closingAfter(async (closers) =>
    ownImage(await through(closers.keep(prepareImage({ ...setup, image: settings })), integration)),
  );

interface DirectSetup {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Delays to apply; tracking is unphased at the middle of each image. */
  readonly delays?: RequestedDelays;
  /** Stops after this many seconds of the recording; all of it by default. */
  readonly durationS?: number;
  /** The factor applied to voltages before rounding, relative to the nominal gain: images are divided by it. */
  readonly gain?: Gain;
  /** [a], 1 where an input is left out. */
  readonly flaggedInputs?: Uint8Array;
  /** What happens to arrays for which direct imaging is wrong by more than a tenth: refused by default. */
  readonly beyond?: 'refuse' | 'accept';
  /** Autocorrelations: included by default. */
  readonly autos?: 'include' | 'leave-out';
  readonly onProgress?: OnProgress;
  /** Interference is flagged before voltages are imaged. */
  readonly kurtosis?: RequestedKurtosis;
}

export interface DirectImagesSetup extends DirectSetup {
  /** An image of every so many seconds; one of everything by default. */
  readonly everyS?: number;
}

/** One image of a recording, or of its beginning: voltages → spectra → image, without visibilities (EPIC). */
export async function imageDirectly(
  recording: Recording,
  channels: ChannelisePlan | undefined,
  setup: DirectSetup,
  settings: ImageSettings,
): Promise<{
  readonly sky: DirectSkyImage;
  readonly account: Account;
  readonly directError: DirectImageError;
}> {
  let sky: DirectSkyImage | undefined;
  const made = await imagesDirectly(recording, channels, setup, settings, (one) => {
    sky = ownImage(one);
    return Promise.resolve();
  });
  return { sky: sky ?? refuse(recording.path, 'gave no image', 'record for longer'), ...made };
}

/** The next image fills the emitted arrays anew. `channels` is for voltages only. */
export async function imagesDirectly(
  recording: Recording,
  channels: ChannelisePlan | undefined,
  setup: DirectImagesSetup,
  settings: ImageSettings,
  emit: Emit<DirectSkyImage>,
): Promise<{ readonly account: Account; readonly directError: DirectImageError }> {
  const { backend, telescope, delays, kurtosis, everyS, durationS = Infinity, gain } = setup;
  const { autos = 'include', calibrated, flaggedInputs, onProgress } = setup;
  const imaged = imagedTelescope(telescope, flaggedInputs);
  const directError = checkDirectImages(
    { ...setup, telescope: imaged },
    skyFrame(telescope.site, recording.start),
    settings,
  );
  const whole: Front = { source: recording, channels, delays, kurtosis, gain, flaggedInputs };
  const { grid, channels: endChannel } = spectraOfFront(whole);
  const all = spectraOfSource(whole);
  const endSpectrum = Math.min(all, Math.round(durationS * grid.spectrumRateHz));
  if (endSpectrum < 1)
    refuse(
      'image',
      `${durationS} s is shorter than one spectrum`,
      `give at least ${1 / grid.spectrumRateHz} s`,
    );
  const range = { firstSpectrum: 0, endSpectrum, firstChannel: 0, endChannel };
  const front = endSpectrum < all ? { ...whole, range } : whole;
  const lastsS = endSpectrum / grid.spectrumRateHz;
  const product = { backend, telescope, calibrated, flaggedInputs, image: settings, autos, lastsS };
  const stage = chain(prepareDirectProduct(front, product), passing(emit));
  const clock = integrationClock({ integrationS: everyS }, grid);
  const products = [{ from: 'spectra', clock, stage }] as const;
  const account = await observe({ front, products }, [backend], { onProgress });
  return { account, directError };
}

/** The imaging method, and the largest error of a pixel over a source's peak. */
export interface MethodUsed {
  readonly method: 'direct' | 'w-term' | 'flat';
  /** Down to the horizon. */
  readonly predictedError: number;
  /** Of pixels and sources 10° above the horizon and higher. */
  readonly predictedErrorAbove10Deg: number;
}

export const methodUsed = (
  method: MethodUsed['method'],
  { anywhere, high }: DirectImageError,
): MethodUsed => ({
  method,
  predictedError: anywhere,
  predictedErrorAbove10Deg: high,
});

/** For the terminal and for headers. */
export const methodLine = ({ method, predictedError, predictedErrorAbove10Deg }: MethodUsed): string =>
  ({
    direct: 'images are made directly from spectra (EPIC)',
    'w-term': 'images from visibilities are gridded in u, v and w',
    flat: "images from visibilities are gridded in the plane of the stations, with EPIC's kernels, to keep the cadence",
  })[method] +
  `, off by at most ${percent(predictedError)} of a source` +
  (predictedErrorAbove10Deg < predictedError
    ? ` (${percent(predictedErrorAbove10Deg)} above 10° of altitude)`
    : '');

/** A larger error is refused: imaging from visibilities is right for every array. */
const MOST_DIRECT_ERROR = 0.1;

/** The error of direct imaging over a source's peak, for this array and field (image/direct/holds.ts). */
export function checkDirectImages(
  {
    telescope,
    frequenciesHz,
    beyond = 'refuse',
  }: Pick<DirectSetup, 'telescope' | 'frequenciesHz' | 'beyond'>,
  frame: SkyFrame,
  settings: ImageSettings,
): DirectImageError {
  const error = directImageError(planSky(telescope, frame, boundFrequencies(frequenciesHz), settings));
  // Kernels are worst at the horizon: that error is reported.
  if (error.high <= MOST_DIRECT_ERROR || beyond === 'accept') return error;
  return refuse(
    'image',
    `direct imaging needs stations in one plane: here it would be off by up to ${(100 * error.high).toFixed(0)} % of a ` +
      `source ${HIGH_DEG}° above the horizon and higher, since their heights differ too much from their plane or the kernels are too small`,
    'correlate, and image the visibilities; or image a narrower field (products.images.field), or take products.images.kernel: 7',
  );
}

/** The middles of images that begin with these spectra, as the imager has them. */
export function imageMiddles(
  ranges: readonly SampleRange[],
  clock: IntegrationClock,
  front: Front,
): Instant[] {
  const { grid } = spectraOfFront(front);
  const { spectrumRateHz: rateHz } = grid;
  return ranges.map(({ first }) => {
    const start =
      front.source.kind === 'voltages' ? spectrumStart(grid, first) : addSamples(grid.start, first, rateHz);
    return addSeconds(start, (clock.cutAfter(first) - first) / rateHz / 2);
  });
}

/** The time ranges of [first, end) between a clock's cuts. */
export function timeRangesOf(clock: IntegrationClock, first: number, end: number): SampleRange[] {
  const ranges: SampleRange[] = [];
  for (let at = first; at < end;) {
    const cut = Math.min(clock.cutAfter(at), end);
    ranges.push({ first: at, end: cut });
    at = cut;
  }
  return ranges;
}
