/** One image of many integrations at any centre: fringes stopped, weighed, gridded in u, v and w, CLEANed if asked. */
import { freemem } from 'node:os';
import type { Backend } from '../../backend/backend.js';
import { imageCPML, planeML, type ImageCPML, type PlaneML } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { addSeconds, secondsBetween, type Instant } from '../../core/instant.js';
import type { OnProgress } from '../../core/progress.js';
import { formatBytes } from '../../core/units.js';
import {
  boundsOf,
  cleanWide,
  fitBeam,
  planWide,
  prepareWeights,
  prepareWideImager,
  type Cleaned,
  type FittedBeam,
  type HandTally,
  type WideBounds,
  type WideGeometry,
  type WideImager,
  type WideMethod,
  type WidePlan,
  type WideProduct,
  type WideRows,
  usedBand,
} from '../../image/index.js';
import { altitudeDeg, skyFrame, type SkyFrame, type SkyPosition, type TangentAxes } from '../../sky/frame.js';
import { fixedCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import { stationPositions } from '../geometry.js';
import type { Calibrated, CalibratedAt } from '../sky-image.js';
import { hiddenPixels } from './horizon.js';
import { channelOf, readRows, type Integrations, type RowReader } from './rows.js';
import { choosePixels, longestWavelengths, type WidePixels, type WideSettings } from './settings.js';
import { productsOf, type Held } from './choose-products.js';
import { smearingOf, type Smearing } from './smearing.js';

const WHERE = 'image';

export interface WideRoad extends Held {
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** While the correlator integrated; `running` unless told. */
  readonly fringes?: 'stopped' | 'running';
  /** What it is at, in words. */
  readonly onStep?: (step: string) => void;
  /** Within a step, where that may take long. */
  readonly onProgress?: OnProgress;
}

/** Where and when all of the data are. */
export interface WideSpan {
  readonly start: Instant;
  readonly durationS: number;
  readonly integrations: number;
  readonly visibilities: number;
}

export interface CleanFacts extends Pick<Cleaned, 'iterations' | 'majorCycles' | 'noiseJy' | 'stop'> {
  /** Sum of the model. */
  readonly fluxJy: number;
}

/** Everything needed to write or draw it. */
export interface WideSkyImage extends WideSpan {
  /** Dirty, or restored where it was CLEANed. */
  readonly image: ImageCPML;
  readonly products: readonly WideProduct[];
  /** beam : [c][1][m][l], what a source of 1 Jy in the middle looks like. */
  readonly beam: ImageCPML;
  /** Of each channel of the image: the sum of its imaging weights. */
  readonly channelWeights: Float64Array;
  /** Of each channel of the image; nothing where the pixels are too coarse to tell. */
  readonly fittedBeams: readonly (FittedBeam | undefined)[];
  readonly cleaned?: {
    readonly dirty: ImageCPML;
    readonly model: ImageCPML;
    readonly residual: ImageCPML;
    readonly facts: readonly CleanFacts[];
  };
  readonly plan: WidePlan;
  readonly method: WideMethod;
  readonly pixels: WidePixels;
  /** Of the image's channels: one for all, or each. */
  readonly frequenciesHz: Float64Array;
  readonly bandHz: number;
  readonly centre: SkyPosition;
  readonly centreName: string;
  /** In the middle of the data. */
  readonly frame: SkyFrame;
  readonly axes: TangentAxes;
  readonly smearing: Smearing;
  readonly hands: HandTally;
}

/** What is known once all integrations have been looked at. */
export interface WideSurvey extends WideSpan {
  readonly centre: PhaseCentre;
  readonly bounds: WideBounds;
  readonly smearing: Smearing;
  readonly hands: HandTally;
  readonly frame: SkyFrame;
  readonly pixels: WidePixels;
  /** channelWeights : [c], 0 where a channel has no data. */
  readonly channelWeights: Float64Array;
}

/** An image anywhere on the sky by u, v and w, CLEANed where that is asked for. */
export async function imageWide(
  integrations: Integrations,
  road: WideRoad,
  settings: WideSettings,
): Promise<WideSkyImage> {
  const products = productsOf(road, settings);
  const { reader, survey } = await surveyRows(integrations, road, settings, products[0]);
  const plan = planFor(survey, road, settings);
  const imager = await prepareWideImager(plan, road.backend, road);
  try {
    return await makeImages({ integrations, road, settings, survey, plan, imager, reader, products });
  } finally {
    await imager.close();
  }
}

/** Reads everything once: times, the range of w, smearing; rows stay in memory where they are few enough. */
export async function surveyRows(
  integrations: Integrations,
  road: WideRoad,
  settings: WideSettings,
  product: WideProduct,
): Promise<{ readonly reader: RowReader; readonly survey: WideSurvey }> {
  const { telescope, frequenciesHz } = road;
  road.onStep?.('read');
  const centre =
    settings.centre.kind === 'local'
      ? await fixedAtMiddle(integrations, telescope, settings.centre)
      : settings.centre;
  const pixels = choosePixels(settings.field, longestWavelengths(stationPositions(telescope), frequenciesHz));
  let start: Instant | undefined;
  let end: Instant | undefined;
  let count = 0;
  const smearing = { bandwidth: 0, time: 0 };
  const hands: HandTally = { both: 0, one: 0 };
  const look = (integration: Integration): void => {
    start ??= integration.start;
    end = addSeconds(integration.start, integration.durationS);
    // The first, second, fourth, eighth …: enough of a sky that turns slowly.
    if (Number.isInteger(Math.log2(Math.max(1, count)))) {
      const one = smearingOf(integration, {
        ...{ telescope, frequenciesHz, channelWidthHz: road.channelWidthHz, centre },
        halfWidth: (pixels.pixels / 2) * pixels.pixelCosine,
        fringes: road.fringes ?? 'running',
      });
      smearing.bandwidth = Math.max(smearing.bandwidth, one.bandwidth);
      smearing.time = Math.max(smearing.time, one.time);
    }
    count++;
  };
  const reader = readRows(
    integrations,
    {
      ...{ telescope, frequenciesHz, centre, product, hands },
      precision: (settings.accuracy ?? 1) < LEAST_SINGLE ? 'float64' : 'float32',
      ...(road.calibrated && { calibrated: road.calibrated }),
    },
    look,
  );
  const seen: WideBounds[] = [];
  const channelWeights = new Float64Array(frequenciesHz.length);
  for await (const rows of reader.blocks()) {
    seen.push(boundsOf([rows satisfies WideGeometry]));
    rows.weights.forEach((weight, at) => (channelWeights[at % channelWeights.length] += weight));
  }
  if (!start || !end || seen.length === 0) {
    refuse(
      WHERE,
      'nothing is left of the data: every cross-correlation is flagged, missing or without gains',
      'look at the flags with corella inspect',
    );
  }
  const durationS = secondsBetween(start, end);
  const frame = skyFrame(telescope.site, addSeconds(start, durationS / 2));
  refuseBelow(centre, telescope, start, durationS);
  const bounds = {
    leastWLambda: Math.min(...seen.map(({ leastWLambda }) => leastWLambda)),
    mostWLambda: Math.max(...seen.map(({ mostWLambda }) => mostWLambda)),
    visibilities: seen.reduce((sum, { visibilities }) => sum + visibilities, 0),
  };
  return {
    reader,
    survey: {
      ...{ start, durationS, integrations: count, visibilities: bounds.visibilities },
      ...{ centre, bounds, smearing, hands, frame, pixels, channelWeights },
    },
  };
}

/** As plan.ts: below it planes are float64, and rows with them. */
const LEAST_SINGLE = 3e-5;

/** A place over the ground becomes the one in the sky that stands there in the middle of the data. */
async function fixedAtMiddle(
  integrations: Integrations,
  telescope: Telescope,
  centre: PhaseCentre,
): Promise<PhaseCentre> {
  let start: Instant | undefined;
  let end: Instant | undefined;
  for await (const one of integrations()) {
    start ??= one.start;
    end = addSeconds(one.start, one.durationS);
  }
  if (!start || !end) refuse(WHERE, 'no integration', 'the file is damaged or cut short: copy it again');
  const frame = skyFrame(telescope.site, addSeconds(start, secondsBetween(start, end) / 2));
  return fixedCentre(centre.name, centre.position(frame));
}

function refuseBelow(centre: PhaseCentre, telescope: Telescope, start: Instant, durationS: number): void {
  const altitudes = [0, 0.5, 1].map((part) =>
    altitudeDeg(centre.directionEnu(skyFrame(telescope.site, addSeconds(start, part * durationS)))),
  );
  if (altitudes.some((altitude) => altitude > 0)) return;
  refuse(
    WHERE,
    `${centre.name} is ${(-altitudes[1]).toFixed(1)}° below the horizon`,
    'choose another centre with --centre, or look at the times with corella inspect',
  );
}

export function planFor(
  { bounds, pixels: { pixels, pixelCosine } }: WideSurvey,
  { backend }: Pick<WideRoad, 'backend'>,
  { accuracy, clean, stokes }: Pick<WideSettings, 'accuracy' | 'clean' | 'stokes'>,
): WidePlan {
  const plan = planWide({
    ...{ pixels, pixelCosine, bounds },
    ...(accuracy === undefined ? {} : { accuracy }),
    costs: backend.kind,
    ...(backend.kind === 'cuda' && { memoryBytes: backend.session.freeMemoryBytes() / 2 }),
  });
  // Images beside the imager's own: dirty and beam, and what CLEAN holds.
  const images = 8 * pixels ** 2 * (clean ? 8 : stokes === 'IQUV' ? 7 : 4);
  const needed = plan.memoryBytes + images;
  if (backend.kind !== 'cuda' && needed > freemem()) {
    refuse(
      WHERE,
      `${pixels} × ${pixels} pixels take ${formatBytes(needed)} of memory, where ${formatBytes(freemem())} are free`,
      'ask for fewer pixels, or for a smaller field',
    );
  }
  return plan;
}

interface Making {
  readonly integrations: Integrations;
  readonly road: WideRoad;
  readonly settings: WideSettings;
  readonly survey: WideSurvey;
  readonly plan: WidePlan;
  readonly imager: WideImager;
  readonly reader: RowReader;
  readonly products: readonly WideProduct[];
}

interface OnePlane {
  readonly image: PlaneML;
  readonly weightSum: number;
  readonly beam: PlaneML;
  readonly cleaned?: Cleaned;
}

async function makeImages(making: Making): Promise<WideSkyImage> {
  const { road, settings, survey, plan, products } = making;
  const { pixels } = plan;
  const channels = settings.channels === 'apart' ? road.frequenciesHz.length : 1;
  const planes: OnePlane[] = [];
  const hidden = hiddenPixels(plan, survey.centre, road.telescope, survey);
  for (const [p, product] of products.entries()) {
    const reader =
      p === 0 ? making.reader : (await surveyRows(making.integrations, road, settings, product)).reader;
    for (let c = 0; c < channels; c++) {
      road.onStep?.(channels > 1 ? `${product}, channel ${c + 1} of ${channels}` : product);
      const blocks = (): AsyncIterable<WideRows> => (channels === 1 ? reader.blocks() : ofChannel(reader, c));
      planes[c * products.length + p] = await onePlane(making, blocks, p === 0, hidden);
    }
  }
  const cube = (of: (plane: OnePlane) => PlaneML | undefined, each = products.length): ImageCPML => {
    const size = pixels * pixels;
    const values = new Float64Array(channels * each * size).fill(Number.NaN);
    for (let c = 0; c < channels; c++) {
      for (let p = 0; p < each; p++) {
        const plane = of(planes[c * products.length + p]);
        if (plane) values.set(plane, (c * each + p) * size);
      }
    }
    return imageCPML(values, channels, each, pixels);
  };
  const cleaned = planes.flatMap((plane) => (plane.cleaned ? [plane.cleaned] : []));
  const centre = survey.centre.position(survey.frame);
  const band = usedBand(road.frequenciesHz, road.channelWidthHz, survey.channelWeights);
  return {
    ...{ start: survey.start, durationS: survey.durationS, integrations: survey.integrations },
    visibilities: survey.visibilities,
    image: cube(({ image }) => image),
    products,
    beam: cube(({ beam }) => beam, 1),
    channelWeights: Float64Array.from({ length: channels }, (_, c) => planes[c * products.length].weightSum),
    fittedBeams: Array.from({ length: channels }, (_, c) => tryFit(plan, planes[c * products.length].beam)),
    ...(cleaned.length > 0 && {
      cleaned: {
        dirty: cube((plane) => plane.cleaned?.dirty),
        model: cube((plane) => plane.cleaned?.model),
        residual: cube((plane) => plane.cleaned?.residual),
        facts: cleaned.map(({ iterations, majorCycles, noiseJy, stop, model }) => ({
          ...{ iterations, majorCycles, noiseJy, stop },
          fluxJy: model.reduce((sum, value) => sum + value, 0),
        })),
      },
    }),
    ...{ plan, method: making.imager.method, pixels: survey.pixels },
    frequenciesHz: channels > 1 ? road.frequenciesHz : Float64Array.of(band.frequencyHz),
    bandHz: channels > 1 ? road.channelWidthHz * channels : band.widthHz,
    ...{ centre, centreName: survey.centre.name, frame: survey.frame },
    ...{ smearing: survey.smearing, hands: survey.hands },
    axes: survey.frame.tangentAxes(centre),
  };
}

async function* ofChannel(reader: RowReader, c: number): AsyncIterable<WideRows> {
  for await (const rows of reader.blocks()) yield channelOf(rows, c);
}

async function onePlane(
  { settings, plan, imager, road }: Making,
  blocks: () => AsyncIterable<WideRows>,
  withBeam: boolean,
  hidden: Uint8Array | undefined,
): Promise<OnePlane> {
  const weighed = await prepareWeighed(plan, settings, blocks);
  if (settings.clean) {
    const shown = hidden?.map((one) => 1 - one);
    const cleaned = await cleanWide(imager, weighed, {
      ...settings.clean,
      ...(shown && { mask: shown }),
      onProgress: ({ majorCycle, iterations, peakJy }) => {
        road.onStep?.(
          `CLEAN, cycle ${majorCycle}, ${iterations} components, ${Number(peakJy.toPrecision(3))} left`,
        );
      },
    });
    for (const plane of [cleaned.dirty, cleaned.residual, cleaned.restored]) blank(plane, hidden);
    return { image: cleaned.restored, weightSum: cleaned.weightSum, beam: cleaned.beam, cleaned };
  }
  for await (const rows of weighed()) await imager.accumulate(rows);
  const { image, weightSum } = await imager.finish();
  blank(image, hidden);
  if (!withBeam) return { image, weightSum, beam: planeML(new Float64Array(plan.pixels ** 2), plan.pixels) };
  for await (const { uvwM, frequenciesHz, weights } of weighed())
    await imager.accumulate({ uvwM, frequenciesHz, weights });
  const { image: beam } = await imager.finish();
  return { image, weightSum, beam };
}

/** The same blocks with their imaging weights. */
export async function prepareWeighed(
  plan: WidePlan,
  { weighting }: Pick<WideSettings, 'weighting'>,
  blocks: () => AsyncIterable<WideRows>,
): Promise<() => AsyncIterable<WideRows>> {
  const weigher = prepareWeights(plan, weighting);
  if (weighting.kind !== 'natural') for await (const rows of blocks()) weigher.count(rows);
  return async function* () {
    for await (const rows of blocks()) yield { ...rows, weights: weigher.weigh(rows) };
  };
}

export function blank(plane: PlaneML, hidden: Uint8Array | undefined): void {
  if (!hidden) return;
  for (let k = 0; k < plane.length; k++) if (hidden[k] === 1) plane[k] = Number.NaN;
}

export function tryFit(plan: WidePlan, beam: PlaneML): FittedBeam | undefined {
  try {
    return fitBeam(plan, beam);
  } catch (error) {
    if (error instanceof CorellaError) return undefined;
    throw error;
  }
}
