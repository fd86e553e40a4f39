/**
 * How live images are made, and how far they may be off. From visibilities they are gridded in u, v and w. Where that would
 * not keep the cadence, and the stations are in one plane to half a per cent of a source, they are gridded with the pair
 * kernels of direct images in that plane. Otherwise they are refused: an image is right, or there is none.
 */
import type { Backend } from '../backend/backend.js';
import { baselineCount, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { CorellaError, refuse } from '../core/errors.js';
import { instant } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import { boundFrequencies, directRoadError, type DirectRoadError, type KernelSize } from '../image/index.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { checkDirectRoad, methodUsed, type MethodUsed } from '../compose/index.js';
import {
  planSky,
  withCentre,
  type ImageSettings,
  prepareWTermImager,
  W_TERM_ACCURACY,
  imagedTelescope,
} from '../stages/index.js';
import type { LiveImaging, LiveSettings } from './settings.js';

/** The pair kernels are used where no pixel or source above 10° of altitude is off by more. */
const MOST_FLAT_ERROR = 5e-3;
/** So much of the cadence may go into images: spectra are made and correlated meanwhile. */
const SHARE_OF_CADENCE = 0.5;

type Asked = Pick<LiveSettings, 'backend' | 'telescope' | 'frequenciesHz' | 'flaggedInputs'> & {
  /** Whether data arrive by themselves, or wait to be read. */
  readonly data: 'arrive' | 'wait';
};

/** The images that were asked for, with the method that is right and keeps the cadence. */
export async function chooseMethod(
  asked: Asked,
  imaging: LiveImaging,
  secondsOf: typeof wTermSeconds = wTermSeconds,
): Promise<{ readonly imaging: LiveImaging; readonly chosen: MethodUsed }> {
  const { backend, frequenciesHz } = asked;
  const telescope = imagedTelescope(asked.telescope, asked.flaggedInputs);
  // Bounds do not depend on the moment.
  const frame = skyFrame(telescope.site, instant(1_767_225_600));
  if (imaging.road === 'direct') {
    const image = withCentre(telescope, frequenciesHz, imaging.image);
    const error = checkDirectRoad({ telescope, frequenciesHz }, frame, image);
    return { imaging: { ...imaging, image }, chosen: methodUsed('direct', error) };
  }
  const seconds = asked.data === 'wait' ? 0 : await secondsOf(backend, telescope, frequenciesHz, imaging);
  if (seconds <= SHARE_OF_CADENCE * imaging.everyS)
    return {
      imaging: { ...imaging, method: 'w-term' },
      chosen: methodUsed('w-term', { anywhere: W_TERM_ACCURACY, high: W_TERM_ACCURACY }),
    };
  let best = Infinity;
  for (const kernelSize of ([3, 5, 7] as const).filter((size) => size >= imaging.image.kernelSize)) {
    const image = withCentre(telescope, frequenciesHz, { ...imaging.image, kernelSize });
    const error = flatError(telescope, frame, boundFrequencies(frequenciesHz), image);
    if (error.high <= MOST_FLAT_ERROR)
      return { imaging: { ...imaging, image, method: 'flat' }, chosen: methodUsed('flat', error) };
    best = Math.min(best, error.high);
  }
  return refuse(
    'products.images.every',
    `an image from visibilities takes ${formatSeconds(seconds)} here, and one every ${formatSeconds(imaging.everyS)} was asked for; ` +
      `gridded faster, as if the stations were in one plane, it would be off by up to ${(100 * best).toFixed(1)} % of a source above 10° of altitude`,
    `image less often, like ${Math.ceil((10 * seconds) / SHARE_OF_CADENCE) / 10}s, or fewer channels; or write visibilities and image them afterwards`,
  );
}

function flatError(
  telescope: Telescope,
  frame: ReturnType<typeof skyFrame>,
  frequenciesHz: Float64Array,
  image: ImageSettings & { readonly kernelSize: KernelSize },
): DirectRoadError {
  try {
    return directRoadError(planSky(telescope, frame, frequenciesHz, image));
  } catch (error) {
    if (error instanceof CorellaError) return { anywhere: Infinity, high: Infinity };
    throw error;
  }
}

const measured = new WeakMap<Backend, Map<string, number>>();

/** Seconds that an image takes by u, v and w: one channel is made, after a first one; measured once for a backend. */
export async function wTermSeconds(
  backend: Backend,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  { image, weight }: Pick<LiveImaging, 'image' | 'weight'>,
): Promise<number> {
  const known = measured.get(backend) ?? new Map<string, number>();
  measured.set(backend, known);
  const key = JSON.stringify([telescope.stations.length, frequenciesHz.length, image, weight]);
  const before = known.get(key);
  if (before !== undefined) return before;
  const highestHz = Float64Array.of(frequenciesHz.reduce((a, b) => Math.max(a, b), 0));
  const imager = prepareWTermImager({
    ...{ backend, telescope, frequenciesHz: highestHz, image, weight },
    ...{ autos: 'leave-out', beam: 'leave-out' },
  });
  try {
    const ones = onesOf(telescope);
    let least = Infinity;
    for (let turn = 0; turn < 3; turn++) {
      const began = performance.now();
      await imager.image(ones, undefined);
      least = Math.min(least, (performance.now() - began) / 1000);
    }
    const seconds = least * frequenciesHz.length;
    known.set(key, seconds);
    return seconds;
  } finally {
    await imager.close();
  }
}

/** An integration of one channel in which every product is 1. */
function onesOf({ stations: { length: stations }, polarisations }: Telescope): Integration {
  const baselines = baselineCount(stations);
  return {
    ...{ start: instant(1_767_225_600), durationS: 1, channels: 1, stations, polarisations },
    visibilities: visibilitiesCBPP(
      new Float64Array(2 * baselines * polarisations ** 2).fill(1),
      1,
      baselines,
      polarisations,
    ),
    counts: countsCB(new Float64Array(baselines).fill(1), 1, baselines),
    flaggedInputs: new Uint8Array(stations * polarisations),
  };
}
