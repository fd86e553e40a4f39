/** Images by either road, composed of the stages. */
import type { OnProgress } from '../core/progress.js';
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { Integration, VoltageBlock } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import type { VoltageSource } from '../core/sources.js';
import type { VoltageRecording } from '../formats/index.js';
import type { SpectrumDelays } from '../delay/index.js';
import { directRoadError } from '../image/index.js';
import { skyFrame, type SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { spectraIn } from './channels.js';
import { refuseLeakage } from './gains/apply.js';
import { firstSamples } from './slices.js';
import { run, runOne } from './run.js';
import { planSky, type Calibrated, type CalibratedAt, type ImageSettings } from './sky-image.js';
import { prepareChannelise, spectrumGrid } from './stages/channelise.js';
import { oneIntegration } from './stages/clock.js';
import { prepareDirectImage, type DirectImageSettings, type DirectSkyImage } from './stages/direct-image.js';
import { prepareImage, type ImageStageSettings, type VisibilitySkyImage } from './stages/image.js';
import { flagging, powersFor, type RequestedKurtosis } from './stages/kurtosis.js';
import { prepareResidentDirect } from './stages/resident-direct.js';
import { chain, type Account, type Stage } from './stages/stage.js';
import { trackedGains } from './stages/tracked-gains.js';
import { delaysOfPlan, type RequestedDelays } from './tracking.js';

/** Of a single integration, for whoever has no stream of them. */
export const imageIntegration = (
  integration: Integration,
  road: Omit<ImageStageSettings, 'image'>,
  settings: ImageSettings,
): Promise<VisibilitySkyImage> => runOne(prepareImage({ ...road, image: settings }), integration);

export interface DirectRoad {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** What is delayed; tracking is turned back at the middle of each image. */
  readonly delays?: RequestedDelays;
  /** Stops after this many seconds of the recording; all of it unless given. */
  readonly durationS?: number;
  /** What becomes of arrays that this road images wrong by more than a tenth: refused unless told. */
  readonly beyond?: 'refuse' | 'accept';
  /** Autocorrelations: included unless told. */
  readonly autos?: 'include' | 'leave-out';
  readonly onProgress?: OnProgress;
  /** Interference is taken out of the voltages before they are imaged. */
  readonly kurtosis?: RequestedKurtosis;
}

/** One image of a recording, or of its beginning: voltages → spectra → image, no visibility in between (EPIC). */
export async function imageDirectly(
  recording: VoltageRecording,
  channels: ChannelisePlan,
  road: DirectRoad,
  settings: ImageSettings,
): Promise<{ readonly sky: DirectSkyImage; readonly account: Account; readonly roadError: number }> {
  const { telescope, frequenciesHz, calibrated, durationS, autos = 'include', onProgress } = road;
  const roadError = checkDirectRoad(road, skyFrame(telescope.site, recording.start), settings);
  const grid = spectrumGrid(recording, channels);
  const wanted = Math.min(
    spectraIn(recording, channels),
    Math.round((durationS ?? Infinity) * grid.spectrumRateHz),
  );
  if (wanted < 1) {
    refuse(
      'image',
      `${durationS ?? 0} s is shorter than one spectrum`,
      `give at least ${1 / grid.spectrumRateHz} s`,
    );
  }
  const lastsS = wanted / grid.spectrumRateHz;
  const imaging = {
    ...{ telescope, frequenciesHz, image: settings, lastsS, autos },
    ...gainsOfDirect(road, recording, calibrated),
  };
  const delays = road.delays && delaysOfPlan(road.delays, recording, channels);
  const stages = await prepareDirect(recording, channels, road, imaging, delays);
  const samples =
    (wanted + channels.taps - 1) * channels.samplesPerSpectrum + (channels.mostDelaySamples ?? 0);
  let sky: DirectSkyImage | undefined;
  const account = await run(
    firstSamples(recording.blocks(channels.blockSamples), samples, recording.sampleRateHz),
    stages,
    (made) => {
      sky = made;
      return Promise.resolve();
    },
    { samples, ...(onProgress && { onProgress }) },
  );
  return {
    sky: sky ?? refuse(recording.path, 'gave no image', 'record for longer'),
    account,
    roadError,
  };
}

/** The gains of an image; of its middle, where something was tracked. */
export const gainsOfDirect = (
  { delays, frequenciesHz }: Pick<DirectRoad, 'delays' | 'frequenciesHz'>,
  { start }: Pick<VoltageSource, 'start'>,
  calibrated: Calibrated | CalibratedAt | undefined,
): Pick<DirectImageSettings, 'calibrated' | 'gainsAt'> => {
  if (calibrated && typeof calibrated !== 'function') refuseLeakage(calibrated, 'image', 'the direct road');
  if (delays?.towards === undefined) {
    if (typeof calibrated === 'function') return { gainsAt: calibrated };
    return calibrated ? { calibrated } : {};
  }
  const { law, tickRateHz } = delays;
  return { gainsAt: trackedGains({ law, tickRateHz, start, frequenciesHz }, calibrated) };
};

/** Above it the direct road is refused: correlating first is right for every array. */
const MOST_ROAD_ERROR = 0.1;

/** How far, over a source's peak, the direct road is off for this array and field (image/direct/holds.ts). */
export function checkDirectRoad(
  { telescope, frequenciesHz, beyond = 'refuse' }: Pick<DirectRoad, 'telescope' | 'frequenciesHz' | 'beyond'>,
  frame: SkyFrame,
  settings: ImageSettings,
): number {
  const highestHz = frequenciesHz.reduce((a, b) => Math.max(a, b), 0);
  const error = directRoadError(planSky(telescope, frame, Float64Array.of(highestHz), settings));
  if (error <= MOST_ROAD_ERROR || beyond === 'accept') return error;
  return refuse(
    'image',
    `the direct road holds for flat, level arrays: here it would be off by up to ${(100 * error).toFixed(0)} % of a ` +
      'source, since the stations stand at different heights or the kernels are too small',
    'correlate, and image the visibilities; or image a narrower field (--field), or take --kernel 7',
  );
}

/** On a card that has room for it the whole chain at once, elsewhere, and without autocorrelations, stage after stage. */
async function prepareDirect(
  source: VoltageSource,
  plan: ChannelisePlan,
  { backend, kurtosis }: Pick<DirectRoad, 'backend' | 'kurtosis'>,
  imaging: Omit<DirectImageSettings, 'backend' | 'grid'>,
  delays: SpectrumDelays | undefined,
): Promise<Stage<VoltageBlock, DirectSkyImage>> {
  const resident =
    backend.kind === 'cuda' && imaging.autos !== 'leave-out'
      ? await prepareResidentDirect({
          ...{ ...imaging, backend, plan, source },
          ...{ ...(delays && { delays }), ...(kurtosis && { kurtosis }) },
        })
      : undefined;
  if (resident) return resident;
  const channelise = await prepareChannelise({
    ...{ backend, plan, source, clock: oneIntegration },
    ...(delays && { delays }),
    ...powersFor(kurtosis, plan.output),
  });
  const image = prepareDirectImage({ ...imaging, backend, grid: spectrumGrid(source, plan) });
  return chain(
    channelise,
    await flagging(
      {
        ...plan.output,
        polarisations: source.polarisations,
        sampling: plan.sampling,
        gapsCover: plan.gapsCover,
      },
      { backend, ...(kurtosis && { kurtosis }) },
      image,
    ),
  );
}
