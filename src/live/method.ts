/**
 * Chooses how live images are made, within their error bound. Images from visibilities are gridded in u, v and w. If
 * that would not keep the cadence, and the stations are in one plane to within half a per cent of a source, they are
 * gridded in that plane with the pair kernels of direct images. Otherwise they are refused: no image is made outside
 * its error bound. Some images are made and timed beforehand: if they take longer than the cadence, the refusal names a
 * cadence that can be kept.
 */
import type { Backend } from '../backend/backend.js';
import { allocateSpectra, baselineCount, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration, SpectraBlock, SpectraShape } from '../core/blocks.js';
import { closingAfter } from '../core/closing.js';
import { CorellaError, refuse } from '../core/errors.js';
import { instant } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import { message, type Message } from '../messages/index.js';
import {
  boundFrequencies,
  directImageError,
  type DirectImageError,
  type KernelSize,
} from '../image/index.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { checkDirectImages, methodUsed, type FrontSpectra, type MethodUsed } from '../compose/index.js';
import {
  planSky,
  withCentre,
  type ImageSettings,
  prepareCardCorrelate,
  prepareDirectImage,
  prepareImage,
  type ImageInput,
  W_TERM_ACCURACY,
  imagedTelescope,
} from '../stages/index.js';
import type { LiveImaging, ShownRun } from './shown.js';

/** The pair kernels are used if the error is at most this for every pixel and source above 10° altitude. */
const MOST_FLAT_ERROR = 5e-3;
/** Largest share of the cadence for images: spectra are made and correlated in the same time. */
const SHARE_OF_CADENCE = 0.5;

type Asked = Pick<ShownRun, 'backend' | 'telescope' | 'frequenciesHz' | 'flaggedInputs'> &
  Pick<FrontSpectra, 'type' | 'grid'> & {
    /** Whether data arrive in real time or wait to be read. */
    readonly data: 'arrive' | 'wait';
  };

/** The requested images, with a method that is within its error bound and keeps the cadence. */
export async function chooseMethod(
  asked: Asked,
  imaging: LiveImaging,
  costOf: typeof imageCost = imageCost,
): Promise<{ readonly imaging: LiveImaging; readonly chosen: MethodUsed; readonly slow?: Message }> {
  const { frequenciesHz, data } = asked;
  const { everyS } = imaging;
  const telescope = imagedTelescope(asked.telescope, asked.flaggedInputs);
  const timed = { ...asked, telescope };
  // Bounds do not depend on the instant.
  const frame = skyFrame(telescope.site, START);
  if (imaging.by === 'direct') {
    const image = withCentre(telescope, frequenciesHz, imaging.image);
    const error = checkDirectImages({ telescope, frequenciesHz }, frame, image);
    const made = { ...imaging, image };
    const slow =
      data === 'wait' ? undefined : slowness('direct', await costOf('direct', timed, made), everyS);
    return { imaging: made, chosen: methodUsed('direct', error), slow };
  }
  const wTerm = data === 'wait' ? FREE : await costOf('w-term', timed, imaging);
  if (secondsOf(wTerm, everyS) <= SHARE_OF_CADENCE * everyS)
    return {
      imaging: { ...imaging, method: 'w-term' },
      chosen: methodUsed('w-term', { anywhere: W_TERM_ACCURACY, high: W_TERM_ACCURACY }),
    };
  let best = Infinity;
  for (const kernelSize of ([3, 5, 7] as const).filter((size) => size >= imaging.image.kernelSize)) {
    const image = withCentre(telescope, frequenciesHz, { ...imaging.image, kernelSize });
    const error = flatError(telescope, frame, boundFrequencies(frequenciesHz), image);
    best = Math.min(best, error.high);
    if (error.high > MOST_FLAT_ERROR) continue;
    const made: LiveImaging = { ...imaging, image, method: 'flat' };
    const slow = slowness('flat', await costOf('flat', timed, made), everyS);
    return { imaging: made, chosen: methodUsed('flat', error), slow };
  }
  return refuse(
    'products.images.every',
    `an image from visibilities takes ${formatSeconds(secondsOf(wTerm, everyS))} here, and one every ${formatSeconds(everyS)} was asked for; ` +
      (best < Infinity
        ? `gridded faster, as if the stations were in one plane, it would be off by up to ${(100 * best).toFixed(1)} % of a source above 10° of altitude`
        : 'the faster method needs more pixels'),
    `${lessOften(wTerm)}; or write visibilities and image them afterwards`,
  );
}

/** Computing time per image, and per second of data in an image. */
export interface ImageCost {
  readonly eachS: number;
  readonly perDataS: number;
}
const FREE: ImageCost = { eachS: 0, perDataS: 0 };

const secondsOf = ({ eachS, perDataS }: ImageCost, everyS: number): number => eachS + perDataS * everyS;

/** The shortest cadence that images can keep within their share of the time; undefined if none can be kept. */
function keptEveryS({ eachS, perDataS }: ImageCost): number | undefined {
  if (perDataS >= SHARE_OF_CADENCE) return undefined;
  const everyS = eachS / (SHARE_OF_CADENCE - perDataS);
  const step = 10 ** (Math.floor(Math.log10(everyS)) - 1);
  return Number((step * Math.ceil(everyS / step - 1e-9)).toPrecision(3));
}

function lessOften(cost: ImageCost): string {
  const everyS = keptEveryS(cost);
  return everyS === undefined
    ? 'image fewer channels or fewer pixels'
    : `image less often, like ${everyS}s, or fewer channels`;
}

/** Refuses images that take longer than their cadence; warns if they leave little time. */
function slowness(method: 'direct' | 'flat', cost: ImageCost, everyS: number): Message | undefined {
  const seconds = secondsOf(cost, everyS);
  if (seconds <= SHARE_OF_CADENCE * everyS) return undefined;
  if (seconds <= everyS)
    return message('image.slow', { method, seconds, everyS, keptEveryS: keptEveryS(cost) });
  const what = method === 'direct' ? 'a direct image' : 'an image from visibilities';
  return refuse(
    'products.images.every',
    `${what} takes ${formatSeconds(seconds)} here, and one every ${formatSeconds(everyS)} was asked for`,
    `${lessOften(cost)}; or ${method === 'direct' ? 'image from visibilities' : 'write visibilities and image them afterwards'}`,
  );
}

function flatError(
  telescope: Telescope,
  frame: ReturnType<typeof skyFrame>,
  frequenciesHz: Float64Array,
  image: ImageSettings & { readonly kernelSize: KernelSize },
): DirectImageError {
  try {
    return directImageError(planSky(telescope, frame, frequenciesHz, image));
  } catch (error) {
    if (error instanceof CorellaError) return { anywhere: Infinity, high: Infinity };
    throw error;
  }
}

type Timed = Omit<Asked, 'data' | 'flaggedInputs'>;
type Method = MethodUsed['method'];

const measured = new WeakMap<Backend, Map<string, ImageCost>>();

/** Computing time of images on this machine, from images of zeros. Measured once per backend. */
export async function imageCost(method: Method, timed: Timed, imaging: LiveImaging): Promise<ImageCost> {
  const { backend, telescope, frequenciesHz, grid } = timed;
  const known = measured.get(backend) ?? new Map<string, ImageCost>();
  measured.set(backend, known);
  const { image, weight, autos, everyS } = imaging;
  const shape = [telescope.stations.length, telescope.polarisations, frequenciesHz.length];
  const ofDirect = method === 'direct' ? [everyS, timed.type, grid.spectrumRateHz] : [];
  const key = JSON.stringify([method, shape, image, weight, autos, ofDirect]);
  const cost =
    known.get(key) ??
    (method === 'direct'
      ? await directCost(timed, imaging)
      : { eachS: await visibilitiesSeconds(method, timed, imaging), perDataS: 0 });
  known.set(key, cost);
  return cost;
}

const START = instant(1_767_225_600);
const TURNS = 3;

/** The minimum of a few runs: other work on the machine only adds time. The first run prepares. */
async function leastSeconds(work: () => Promise<unknown>): Promise<number> {
  await work();
  let least = Infinity;
  for (let turn = 1; turn < TURNS; turn++) {
    const began = performance.now();
    await work();
    least = Math.min(least, (performance.now() - began) / 1000);
  }
  return least;
}

/**
 * On a card, an integration for flat images stays in card memory and is imaged whole. Otherwise one channel is imaged
 * and its time multiplied by the number of channels: planning the others would take longer than the images.
 */
async function visibilitiesSeconds(
  method: 'w-term' | 'flat',
  { backend, telescope, frequenciesHz, type, grid }: Timed,
  { image, weight, autos = 'leave-out' }: LiveImaging,
): Promise<number> {
  const ofAll = backend.kind === 'cuda' && method === 'flat';
  const highestHz = Float64Array.of(frequenciesHz.reduce((a, b) => Math.max(a, b), 0));
  const images = prepareImage({
    backend,
    telescope,
    image,
    weight,
    autos,
    method,
    beam: 'leave-out',
    frequenciesHz: ofAll ? frequenciesHz : highestHz,
  });
  const secondsOfOne = (one: ImageInput) => leastSeconds(() => images.push(one, () => Promise.resolve()));
  return closingAfter(async (closers) => {
    closers.keep(images);
    if (!ofAll) return frequenciesHz.length * (await secondsOfOne(onesOf(telescope)));
    const { polarisations } = telescope;
    const [channels, inputs] = [frequenciesHz.length, telescope.stations.length * polarisations];
    const block = closers.keep(await silence(backend, { type, channels, inputs, capacity: 1 }));
    const correlate = closers.keep(
      await prepareCardCorrelate({ backend, spectra: { type, channels, inputs }, polarisations, grid }),
    );
    let seconds = NaN;
    await correlate.push({ block, index: 0, start: START, cutAt: 1, stays: 0 }, async (integration) => {
      seconds = await secondsOfOne(integration);
    });
    return seconds;
  });
}

/** Images that take this long and many times that of one spectrum, or have this many spectra, are sufficient. */
const LONG_ENOUGH_S = 0.05;
const MANY_TIMES = 8;
/** More spectra could exceed the memory. */
const MOST_SPECTRA = 1024;

/** Times images of one spectrum and of many: the line through both. */
const directCost = (
  { backend, telescope, frequenciesHz, type, grid }: Timed,
  { image, autos, everyS }: LiveImaging,
): Promise<ImageCost> =>
  closingAfter(async (closers) => {
    const shape = {
      type,
      channels: frequenciesHz.length,
      inputs: telescope.stations.length * telescope.polarisations,
    };
    const most = Math.max(2, Math.min(MOST_SPECTRA, Math.round(everyS * grid.spectrumRateHz)));
    const stage = closers.keep(
      prepareDirectImage({ backend, telescope, frequenciesHz, image, autos, grid, lastsS: everyS }),
    );
    let index = 0;
    const secondsWith = async (samples: number): Promise<number> => {
      const block = await silence(backend, { ...shape, capacity: samples });
      try {
        return await leastSeconds(() => {
          const first = index;
          index += samples;
          const timed = { block, index: first, start: START, cutAt: index, stays: 0 };
          return stage.push(timed, () => Promise.resolve());
        });
      } finally {
        await block.close();
      }
    };
    return costByLine(secondsWith, most, grid.spectrumRateHz);
  });

/**
 * The line through the times of one spectrum and of many. Many means that their time is long, and several times that of
 * one: other work on the machine may have held up the one, and the rest of a short time is then no measure.
 */
export async function costByLine(
  secondsWith: (spectra: number) => Promise<number>,
  most: number,
  spectrumRateHz: number,
): Promise<ImageCost> {
  const ofOne = await secondsWith(1);
  let [spectra, seconds] = [1, ofOne];
  while (spectra === 1 || (spectra < most && seconds < Math.max(LONG_ENOUGH_S, MANY_TIMES * ofOne))) {
    spectra = Math.min(most, 4 * spectra);
    seconds = await secondsWith(spectra);
  }
  const perSpectrumS = Math.max(0, seconds - ofOne) / (spectra - 1);
  return { eachS: Math.max(0, ofOne - perSpectrumS), perDataS: perSpectrumS * spectrumRateHz };
}

async function silence(backend: Backend, shape: SpectraShape): Promise<SpectraBlock> {
  const { type, channels, inputs, capacity } = shape;
  const block = backend.allocateSpectra(shape);
  await block.write(allocateSpectra(type, channels, inputs, capacity), capacity);
  return block;
}

/** An integration of one channel in which every product is 1. */
function onesOf({ stations: { length: stations }, polarisations }: Telescope): Integration {
  const baselines = baselineCount(stations);
  return {
    start: START,
    durationS: 1,
    channels: 1,
    stations,
    polarisations,
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
