/** Images of a part of a recording, directly from its spectra: whole images, as one process would have made them. */
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { addSamples, addSeconds, type Instant } from '../core/instant.js';
import type { SampleRange } from '../core/sources.js';
import type { Recording, SpectraRecording } from '../formats/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { channelised, clockOf, spectraWithin, type PartAccount, type SpectraBox } from './parts.js';
import { run } from './run.js';
import type { Calibrated, ImageSettings } from './sky-image.js';
import { spectrumGrid } from './stages/channelise.js';
import { spectrumStart, type IntegrationClock } from './stages/clock.js';
import { prepareDirectImage, type DirectSkyImage } from './stages/direct-image.js';
import { chain, type Emit } from './stages/stage.js';
import { prepareTakeSpectra } from './stages/take-spectra.js';

/** How a part's images are made. */
export interface ImagePartSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly everyS: number;
  readonly image: ImageSettings;
  readonly autos: 'include' | 'leave-out';
  readonly calibrated?: Calibrated;
  /** The image for which one process would have made the plan that holds at the part's first. */
  readonly plannedFor: Instant;
  readonly stop?: AbortSignal;
}

/** The clock of a series of images. */
export const imageClock = (
  everyS: number,
  recording: Recording,
  plan: ChannelisePlan | undefined,
): IntegrationClock => clockOf({ integrationS: everyS }, recording, plan);

/** The middles of images that begin with these spectra, as the imager has them. */
export function imageMiddles(
  stretches: readonly SampleRange[],
  everyS: number,
  recording: Recording,
  plan: ChannelisePlan | undefined,
): Instant[] {
  const clock = imageClock(everyS, recording, plan);
  const grid = recording.kind === 'voltages' && plan ? spectrumGrid(recording, plan) : undefined;
  const rateHz = grid ? grid.spectrumRateHz : (recording as SpectraRecording).spectrumRateHz;
  return stretches.map(({ first }) => {
    const start = grid ? spectrumStart(grid, first) : addSamples(recording.start, first, rateHz);
    return addSeconds(start, (clock.cutAfter(first) - first) / rateHz / 2);
  });
}

/** Whole images directly from the spectra of the box, which is of all channels; each is filled anew by the next. */
export async function imagePart(
  recording: Recording,
  plan: ChannelisePlan | undefined,
  settings: ImagePartSettings,
  box: SpectraBox,
  emit: Emit<DirectSkyImage>,
): Promise<PartAccount> {
  const { everyS, stop, ...imaging } = settings;
  const { backend } = settings;
  const clock = imageClock(everyS, recording, plan);
  if (recording.kind === 'spectra') {
    const counted = { missingSamples: 0 };
    const { firstSpectrum } = box;
    const stages = chain(
      await prepareTakeSpectra({ backend, source: recording, clock, firstSpectrum, gapsCover: 'stations' }),
      prepareDirectImage({ ...imaging, grid: recording, lastsS: everyS }),
    );
    await run(spectraWithin(recording, box, counted), stages, emit, stop && { stop });
    return { ...counted, saturated: 0 };
  }
  if (!plan) throw new Error('voltages need a plan of their channels');
  const grid = spectrumGrid(recording, plan);
  return channelised(
    recording,
    // An image has one count of a pair, as imageDirect's plans say too.
    { ...plan, gapsCover: 'stations' },
    // Images are floats: blocks are those of the whole.
    { backend, clock, lists: 'gaps', ...(stop && { stop }) },
    box,
    (stage) => chain(stage, prepareDirectImage({ ...imaging, grid, lastsS: everyS })),
    emit,
  );
}
