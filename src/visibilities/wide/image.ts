/** One image of many integrations at any centre: fringes stopped, weighted, gridded in u, v and w, CLEANed. */
import { freemem } from 'node:os';
import { imageCPML, planeML, type ImageCPML, type PlaneML } from '../../core/axes.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import {
  cleanWide,
  fitBeam,
  planWide,
  prepareWideImager,
  type BeyondCells,
  type Cleaned,
  type FittedBeam,
  type HandTally,
  type WideImager,
  type WideMethod,
  type WidePlan,
  type WideProduct,
  type WideRows,
  usedBand,
} from '../../image/index.js';
import type { SkyFrame, SkyPosition, TangentAxes } from '../../sky/frame.js';
import {
  type StokesPlanes,
  channelOf,
  type Integrations,
  type RowReader,
  tallyShares,
  type Share,
  type Smearing,
} from '../../stages/index.js';
import { flaggedPixels, hiddenPixels } from './horizon.js';
import { loneHandOf, productsOf, type WidePixels, type WideSettings } from './settings.js';
import { addBeyond, isAllBeyond, noneBeyond, prepareWeighed, refuseWeightless } from './weighed.js';
import { surveyRows, type WideSetup, type WideSpan, type WideSurvey } from './survey.js';

const WHERE = 'image';

interface CleanFacts extends Pick<Cleaned, 'iterations' | 'majorCycles' | 'noiseJy' | 'stop'> {
  /** Sum of the model. */
  readonly fluxJy: number;
}

/** For a cube. */
interface EmptyPlane {
  readonly channel: number;
  readonly product: WideProduct;
}

/** Everything needed to write or draw it. */
export interface WideSkyImage extends WideSpan {
  /** Dirty, or restored after CLEAN. */
  readonly image: ImageCPML;
  readonly products: readonly WideProduct[];
  /** beam : [c][1][m][l], the response to a source of 1 Jy at the centre. */
  readonly beam: ImageCPML;
  /** For each channel of the image: the sum of its imaging weights. */
  readonly channelWeights: Float64Array;
  /** shares : [c][product], the composition of each plane, if stations are of several kinds. */
  readonly shares?: readonly (readonly Share[])[];
  /** Visibilities left out by weights other than natural. */
  readonly beyond: BeyondCells;
  /** Planes without data, which are all NaN. */
  readonly empty: readonly EmptyPlane[];
  /** For each channel of the image; undefined if the pixels are too coarse for a fit. */
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
  /** The centre's position at other times: the Sun moves. */
  readonly centreAt: (frame: SkyFrame) => SkyPosition;
  /** At the middle of the data. */
  readonly frame: SkyFrame;
  readonly axes: TangentAxes;
  readonly smearing: Smearing;
  readonly hands: HandTally;
  /** How the feeds' frame was treated, for all four Stokes parameters. */
  readonly stokes?: StokesPlanes;
}

/** An image at any position with u, v and w, with optional CLEAN. */
export async function imageWide(
  integrations: Integrations,
  setup: WideSetup,
  settings: WideSettings,
): Promise<WideSkyImage> {
  const asked = productsOf(setup, settings);
  const { reader, survey } = await surveyRows(integrations, setup, settings, asked);
  const lone = asked[0] === 'I' ? loneHandOf(survey.hands) : undefined;
  const products = lone ? [lone] : asked;
  const plan = planFor(survey, setup, settings);
  const imager = await prepareWideImager(plan, setup.backend, setup);
  try {
    return await makeImages({ setup, settings, survey, plan, imager, reader, products });
  } finally {
    await imager.close();
  }
}

export function planFor(
  { bounds, pixels: { pixels, pixelCosine } }: WideSurvey,
  { backend }: Pick<WideSetup, 'backend'>,
  { accuracy, clean, stokes }: Pick<WideSettings, 'accuracy' | 'clean' | 'stokes'>,
): WidePlan {
  const plan = planWide({
    pixels,
    pixelCosine,
    bounds,
    accuracy,
    costs: backend.kind,
    ...(backend.kind === 'cuda' && { memoryBytes: backend.session.freeMemoryBytes() / 2 }),
  });
  // Images in addition to the imager's own: dirty image, beam, and those of CLEAN.
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
  readonly setup: WideSetup;
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
  readonly beyond: BeyondCells;
  readonly cleaned?: Cleaned;
  readonly shares?: readonly Share[];
}

async function makeImages(making: Making): Promise<WideSkyImage> {
  const { setup, settings, survey, plan, reader, products } = making;
  const { pixels } = plan;
  const channels = settings.channels === 'apart' ? setup.frequenciesHz.length : 1;
  const planes: OnePlane[] = [];
  const hidden = hiddenPixels(plan, survey.centre, setup.telescope, survey);
  const flagged = flaggedPixels(plan, survey.centre, setup, survey);
  for (const [p, product] of products.entries()) {
    for (let c = 0; c < channels; c++) {
      setup.onStep?.(channels > 1 ? `${product}, channel ${c + 1} of ${channels}` : product);
      const blocks = (): AsyncIterable<WideRows> =>
        channels === 1 ? reader.blocks(p) : ofChannel(reader.blocks(p), c);
      planes[c * products.length + p] =
        channels > 1 && survey.planeWeights[p][c] === 0
          ? emptyPlane(plan)
          : await onePlane(making, blocks, {
              withBeam: p === 0,
              hidden,
              flagged,
              frequenciesHz: channels > 1 ? setup.frequenciesHz.slice(c, c + 1) : setup.frequenciesHz,
            });
    }
  }
  const empty = planes.flatMap(({ weightSum }, at) =>
    weightSum > 0
      ? []
      : [{ channel: Math.floor(at / products.length), product: products[at % products.length] }],
  );
  const beyond = noneBeyond();
  planes.forEach((plane, at) => {
    if (at % products.length === 0) addBeyond(beyond, plane.beyond);
  });
  const isLost = (product: WideProduct): boolean =>
    empty.filter((plane) => plane.product === product).length === channels;
  if (settings.lostHand === 'accept' ? products.every(isLost) : products.some(isLost))
    refuseWeightless(beyond);
  if (settings.lostHand !== 'accept') refuseWithoutI(empty, products, channels);
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
  const band = usedBand(setup.frequenciesHz, setup.channelWidthHz, survey.channelWeights);
  return {
    start: survey.start,
    durationS: survey.durationS,
    exposureS: survey.exposureS,
    integrations: survey.integrations,
    visibilities: survey.visibilities - beyond.visibilities,
    beyond,
    image: cube(({ image }) => image),
    products,
    beam: cube(({ beam }) => beam, 1),
    channelWeights: Float64Array.from({ length: channels }, (_, c) => planes[c * products.length].weightSum),
    empty,
    shares: setup.kinds && planes.map(({ shares = [] }) => shares),
    fittedBeams: Array.from({ length: channels }, (_, c) => tryFit(plan, planes[c * products.length].beam)),
    ...(cleaned.length > 0 && {
      cleaned: {
        dirty: cube((plane) => plane.cleaned?.dirty),
        model: cube((plane) => plane.cleaned?.model),
        residual: cube((plane) => plane.cleaned?.residual),
        facts: cleaned.map(({ iterations, majorCycles, noiseJy, stop, model }) => ({
          iterations,
          majorCycles,
          noiseJy,
          stop,
          fluxJy: model.reduce((sum, value) => sum + value, 0),
        })),
      },
    }),
    plan,
    method: making.imager.method,
    pixels: survey.pixels,
    frequenciesHz: channels > 1 ? setup.frequenciesHz : Float64Array.of(band.frequencyHz),
    bandHz: channels > 1 ? setup.channelWidthHz * channels : band.widthHz,
    centre,
    centreName: survey.centre.name,
    frame: survey.frame,
    centreAt: (frame) => survey.centre.position(frame),
    smearing: survey.smearing,
    hands: survey.hands,
    axes: survey.frame.tangentAxes(centre),
  };
}

const noValues = ({ pixels }: WidePlan): PlaneML =>
  planeML(new Float64Array(pixels * pixels).fill(Number.NaN), pixels);

/** No data: NaN, since zero would be a measurement. */
const emptyPlane = (plan: WidePlan): OnePlane => ({
  image: noValues(plan),
  weightSum: 0,
  beam: noValues(plan),
  beyond: noneBeyond(),
});

/** I needs both hands of a channel: refused if every channel has lost one. */
function refuseWithoutI(
  empty: readonly EmptyPlane[],
  products: readonly WideProduct[],
  channels: number,
): void {
  if (products.length === 1) return;
  const lost = new Set(empty.flatMap(({ channel, product }) => (/^(XX|YY)$/.test(product) ? channel : [])));
  if (lost.size === channels)
    refuse(
      WHERE,
      'no data are left for Stokes I: no channel has both hands',
      'leave out products.images.stokes: I alone uses one hand where the other is missing',
    );
}

async function* ofChannel(blocks: AsyncIterable<WideRows>, c: number): AsyncIterable<WideRows> {
  for await (const rows of blocks) yield channelOf(rows, c);
}

interface PlaneOptions {
  readonly withBeam: boolean;
  readonly hidden: Uint8Array | undefined;
  /** CLEANed like the rest, so that no sidelobes are left of it, and then blank. */
  readonly flagged: Uint8Array | undefined;
  /** Of its rows. */
  readonly frequenciesHz: Float64Array;
}

async function onePlane(
  { settings, plan, imager, setup, survey }: Making,
  blocks: () => AsyncIterable<WideRows>,
  { withBeam, hidden, flagged, frequenciesHz }: PlaneOptions,
): Promise<OnePlane> {
  const tally = setup.kinds && tallyShares(frequenciesHz, setup.kinds);
  const { blocks: all, beyond } = await prepareWeighed(plan, settings, blocks);
  if (isAllBeyond(beyond)) return { ...emptyPlane(plan), beyond };
  const weighed = once(all, (rows) => tally?.add(rows));
  const shares = (): { readonly shares?: readonly Share[] } =>
    tally ? { shares: tally.shares(survey.moments) } : {};
  if (settings.clean) {
    const shown = hidden?.map((one) => 1 - one);
    const cleaned = await cleanWide(imager, weighed, {
      ...settings.clean,
      ...(shown && { mask: shown }),
      onProgress: ({ majorCycle, iterations, peakJy }) => {
        setup.onStep?.(
          `CLEAN, cycle ${majorCycle}, ${iterations} components, ${Number(peakJy.toPrecision(3))} left`,
        );
      },
    });
    for (const plane of [cleaned.dirty, cleaned.residual, cleaned.restored]) {
      blank(plane, hidden);
      blank(plane, flagged);
    }
    return {
      image: cleaned.restored,
      weightSum: cleaned.weightSum,
      beam: cleaned.beam,
      cleaned,
      beyond,
      ...shares(),
    };
  }
  for await (const rows of weighed()) await imager.accumulate(rows);
  const { image, weightSum } = await imager.finish();
  if (!(weightSum > 0)) return { ...emptyPlane(plan), beyond };
  blank(image, hidden);
  blank(image, flagged);
  if (!withBeam) return { image, weightSum, beam: noValues(plan), beyond, ...shares() };
  for await (const { uvwM, frequenciesHz, weights } of weighed())
    await imager.accumulate({ uvwM, frequenciesHz, weights });
  const { image: beam } = await imager.finish();
  return { image, weightSum, beam, beyond, ...shares() };
}

/** Calls `look` during the first pass only. */
function once(
  blocks: () => AsyncIterable<WideRows>,
  look: (rows: WideRows) => void,
): () => AsyncIterable<WideRows> {
  let passes = 0;
  return async function* () {
    const isFirst = passes++ === 0;
    for await (const rows of blocks()) {
      if (isFirst) look(rows);
      yield rows;
    }
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
