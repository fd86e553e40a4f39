/** Spectra to images without visibilities (EPIC). */
import type { Backend } from '../backend/backend.js';
import { addSeconds, type Instant } from '../core/instant.js';
import { prepareDirectImager, type DirectImage, type DirectImager } from '../image/index.js';
import { skyFrame, type SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  ImageLender,
  refuseEmpty,
  type Calibrated,
  type CalibratedAt,
  type ImageSettings,
  type SkyImage,
} from './sky-image.js';
import { blankDiscs } from './blank-discs.js';
import { divideResponse } from './brightness.js';
import { prepareCardDirectImager } from './card/images.js';
import type { SpectrumGrid } from './clock.js';
import { PlannedImager, type ImagerStore, type PlannedFor } from './planned-imager.js';
import { overRanges, type TimeRange, type TimedSpectra } from './spectra.js';
import { emptyAccount, type Stage } from './stage.js';

export interface DirectImageSettings {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly calibrated?: Calibrated;
  /** Instead of `calibrated`: the gains at an image's middle, where they change, or spectra follow the sky. */
  readonly gainsAt?: CalibratedAt;
  readonly image: ImageSettings;
  readonly plannedFor?: PlannedFor;
  readonly store?: ImagerStore;
  /** Included by default. */
  readonly autos?: 'include' | 'leave-out';
  readonly grid: Pick<SpectrumGrid, 'spectrumRateHz'>;
  /** The duration of an image that no cut ends. */
  readonly lastsS: number;
}

/** Its arrays are lent: the next image fills them again. */
export type DirectSkyImage = SkyImage & Pick<DirectImage, 'samples'>;

/** Where a card scales images no counts are copied to the host. */
type StageImager = Pick<DirectImager, 'setGains' | 'accumulate' | 'close'> & {
  finish(into?: DirectImage): Promise<DirectImage | Omit<DirectImage, 'counts'>>;
};

/** The stage from spectra to images without visibilities (EPIC). */
export function prepareDirectImage(settings: DirectImageSettings): Stage<TimedSpectra, DirectSkyImage> {
  const { backend, telescope, frequenciesHz, calibrated, gainsAt, grid, lastsS } = settings;
  const planned = new PlannedImager<StageImager>({
    telescope,
    frequenciesHz,
    settings: settings.image,
    plannedFor: settings.plannedFor,
    store: settings.store,
    renew: (imager) => {
      if (calibrated) imager.setGains(calibrated.gains, calibrated.solved);
    },
    prepare: async (plan) => {
      const { autos = 'include' } = settings;
      const imager =
        backend.kind === 'cuda' && autos === 'include'
          ? await prepareCardDirectImager(plan, backend)
          : await prepareDirectImager(plan, backend, { autos });
      if (calibrated) imager.setGains(calibrated.gains, calibrated.solved);
      return imager;
    },
  });
  const middleOf = ({ firstIndex, cutAt, start }: TimeRange): Instant => {
    const spectra = cutAt - firstIndex;
    const durationS = spectra < Infinity ? spectra / grid.spectrumRateHz : lastsS;
    return addSeconds(start, durationS / 2);
  };
  /** The sky at the middle of the time range: where its geometry is right on average. */
  const frameOf = (range: TimeRange): SkyFrame => skyFrame(telescope.site, middleOf(range));
  const account = emptyAccount();
  const lender = new ImageLender('the direct imager');
  let into: DirectImage | undefined;
  let frame: SkyFrame | undefined;
  return {
    ...overRanges({
      add: async ({ block }, range) => {
        const isFirst = frame === undefined;
        frame ??= frameOf(range);
        const { imager } = await planned.at(frame);
        if (gainsAt && isFirst) {
          const { gains, solved } = gainsAt(middleOf(range), range.start);
          imager.setGains(gains, solved);
        }
        await imager.accumulate(block);
      },
      finish: async (range, endIndex) => {
        const sky = frame ?? frameOf(range);
        frame = undefined;
        const { plan, imager } = await planned.at(sky);
        lender.refill();
        const made = await imager.finish(into);
        if ('counts' in made) into = made;
        refuseEmpty(
          made.image,
          settings.autos === 'leave-out'
            ? 'no two stations have samples in common and gains'
            : 'every input is missing or without gains',
          'calibrate some of them',
        );
        account.images++;
        const { start, firstIndex } = range;
        const durationS = (endIndex - firstIndex) / grid.spectrumRateHz;
        const { image, samples, weights } = made;
        const one = { image, samples, weights, plan, frame: sky, start, durationS };
        blankDiscs(one, settings.image.blanked);
        if (settings.image.response !== 'kept') divideResponse(one, telescope);
        return lender.image(one);
      },
    }),
    account: () => account,
    close: () => {
      lender.close();
      return planned.close();
    },
  };
}
