/** Images of a part of a recording, directly from its spectra: whole images, as one process would have made them. */
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { addSamples, addSeconds, type Instant } from '../core/instant.js';
import type { SampleRange } from '../core/sources.js';
import type { Recording, SpectraRecording } from '../formats/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { observe } from './compose/compose.js';
import { prepareDirectProduct } from './compose/direct.js';
import type { Gain } from './compose/front.js';
import type { SpectraRange } from './compose/range.js';
import { clockOf, type PartAccount } from './parts.js';
import type { Calibrated, ImageSettings } from './sky-image.js';
import { spectrumGrid } from './stages/channelise.js';
import { spectrumStart, type IntegrationClock } from './stages/clock.js';
import type { DirectSkyImage } from './stages/direct-image.js';
import { chain, passing, type Emit } from './stages/stage.js';

/** How a part's images are made. */
export interface ImagePartSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly everyS: number;
  readonly image: ImageSettings;
  readonly autos: 'include' | 'leave-out';
  readonly calibrated?: Calibrated;
  /** What voltages were multiplied by before rounding, over the nominal gain. */
  readonly gain?: Gain;
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

/** Whole images directly from the spectra of the range, which is of all channels; each is filled anew by the next. */
export async function imagePart(
  recording: Recording,
  plan: ChannelisePlan | undefined,
  settings: ImagePartSettings,
  range: SpectraRange,
  emit: Emit<DirectSkyImage>,
): Promise<PartAccount> {
  const { everyS, stop, backend, gain } = settings;
  const front = { source: recording, channels: plan, gain, range };
  const product = prepareDirectProduct(front, { ...settings, lastsS: everyS });
  const clock = imageClock(everyS, recording, plan);
  const { missingSamples, saturated } = await observe(
    { front, products: [{ from: 'spectra', clock, stage: chain(product, passing(emit)) }] },
    [backend],
    { stop },
  );
  return { missingSamples, saturated };
}
