/** Images of a recording without visibilities, one after the other: of voltages, or of what arrived channelised. */
import type { ChannelisePlan } from '../channelise/index.js';
import { refuse } from '../core/errors.js';
import type { Recording } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import { checkDirectRoad, gainsOfDirect, type DirectRoad } from './image.js';
import { run } from './run.js';
import type { ImageSettings } from './sky-image.js';
import { firstSamples } from './slices.js';
import { prepareChannelise, spectrumGrid } from './stages/channelise.js';
import { integrationClock } from './stages/clock.js';
import { prepareDirectImage, type DirectSkyImage } from './stages/direct-image.js';
import { refuseLevels } from './parts.js';
import { flagging, leastSpectraOf, powersFor } from './stages/kurtosis.js';
import { chain, type Account, type Emit } from './stages/stage.js';
import { prepareTakeSpectra, spectraPerBlock } from './stages/take-spectra.js';
import { delaysOfPlan } from './tracking.js';

export interface DirectImagesRoad extends DirectRoad {
  /** An image of every so many seconds; one of everything unless given. */
  readonly everyS?: number;
}

/** What is emitted is filled anew by the next image. `plan` is of voltages alone. */
export async function imagesDirectly(
  recording: Recording,
  plan: ChannelisePlan | undefined,
  road: DirectImagesRoad,
  settings: ImageSettings,
  emit: Emit<DirectSkyImage>,
): Promise<{ readonly account: Account; readonly roadError: number }> {
  const { backend, telescope, frequenciesHz, delays, everyS, autos = 'include', onProgress } = road;
  const frame = skyFrame(telescope.site, recording.start);
  const roadError = checkDirectRoad(road, frame, settings);
  const watched = { ...(onProgress && { onProgress }) };
  const clockSettings = everyS === undefined ? {} : { integrationS: everyS };
  const imaging = {
    ...{ backend, telescope, frequenciesHz, image: settings, autos },
    ...gainsOfDirect(road, recording, road.calibrated),
  };
  if (recording.kind === 'spectra') {
    refuseLevels(recording, 'correlate it, and image the visibilities');
    const clock = integrationClock(clockSettings, recording);
    const wanted = Math.min(
      recording.samples,
      Math.round((road.durationS ?? Infinity) * recording.spectrumRateHz),
    );
    const lastsS = wanted / recording.spectrumRateHz;
    const least = leastSpectraOf(road.kurtosis, recording);
    const stages = chain(
      await prepareTakeSpectra({
        ...{ backend, source: recording, clock, gapsCover: 'stations' },
        ...(delays && { delays }),
        ...{ ...least, flagged: road.kurtosis !== undefined },
      }),
      await flagging(
        { ...recording, type: delays ? 'cf32' : recording.type, gapsCover: 'stations' },
        road,
        prepareDirectImage({ ...imaging, grid: recording, lastsS }),
      ),
    );
    let seen = 0;
    const perBlock = spectraPerBlock(recording, least.leastSpectra);
    const account = await run(recording.blocks(perBlock), stages, emit, {
      ...{ samples: wanted, ...watched },
      until: () => (seen += perBlock) >= wanted,
    });
    return { account, roadError };
  }
  if (!plan) return refuse(recording.path, 'holds voltages, and no channels were planned');
  const grid = spectrumGrid(recording, plan);
  const samples = Math.min(
    recording.samples,
    Math.round((road.durationS ?? Infinity) * recording.sampleRateHz),
  );
  const stages = chain(
    await prepareChannelise({
      backend,
      plan,
      source: recording,
      clock: integrationClock(clockSettings, grid),
      ...(delays && { delays: delaysOfPlan(delays, recording, plan) }),
      ...powersFor(road.kurtosis, plan.output),
    }),
    await flagging(
      {
        ...{ ...plan.output, polarisations: recording.polarisations },
        ...{ sampling: plan.sampling, gapsCover: plan.gapsCover },
      },
      road,
      prepareDirectImage({ ...imaging, grid, lastsS: samples / recording.sampleRateHz }),
    ),
  );
  const blocks = firstSamples(recording.blocks(plan.blockSamples), samples, recording.sampleRateHz);
  const account = await run(blocks, stages, emit, { samples, ...watched });
  return { account, roadError };
}
