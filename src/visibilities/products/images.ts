/** Images from visibilities, one or a series: any array, any phase centre, gridded in u, v and w. */
import { present } from '../../core/present.js';
import { join, parse as splitPath } from 'node:path';
import type { Backend } from '../../backend/backend.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { RADIANS_PER_DEGREE } from '../../core/units.js';
import {
  refuseSeveralTargets,
  type CrossHandLack,
  type VisibilityFile,
  type VisibilityHeader,
} from '../../formats/index.js';
import type { CleanOptions, WideMethod, WideWeighting } from '../../image/index.js';
import {
  dividingBeam,
  handingOver,
  lookOf,
  refuseFollowingAll,
  seriesPaths,
  type Product,
} from '../../products/index.js';
import {
  areBare,
  onContactSheet,
  responseOf,
  stokesFrameOf,
  writtenSeries,
  type Series,
  type SeriesFacts,
  type SeriesImage,
  type StokesFrame,
} from '../../stages/index.js';
import type { ElementBeam } from '../../sky/beams/element-beam.js';
import { kindsOf, type StationKinds } from '../../sky/beams/powers.js';
import { parseSources } from '../../sky/chosen-sources.js';
import type { Telescope } from '../../telescope/telescope.js';
import { refuseUnplaced } from '../../telescope/unplaced.js';
import {
  chosen,
  countedPartOf,
  type FromVisibilities,
  type MakingFromVisibilities,
  type PlannedFromVisibilities,
} from '../from-visibilities.js';
import { crossHandsOf, gainsOver, type GainsOver } from '../gains-over.js';
import { correctedWide } from '../wide/brightness.js';
import { chooseWide, type WideChoice } from '../wide/choose.js';
import { imageWide, type WideSkyImage } from '../wide/image.js';
import { writeWide, type WidePaths } from '../wide/products.js';
import { imageWideSeries, type WideSeriesFacts } from '../wide/series.js';
import type { WideSettings } from '../wide/settings.js';
import type { WideSetup } from '../wide/survey.js';
import { lacksProducts, defaultStokes, wideStokes, type WideStokes } from '../wide/stokes.js';

/** Properties common to all images. */
interface Imaged {
  readonly telescope: Telescope;
  /** Of the part that was imaged. */
  readonly header: VisibilityHeader;
  readonly unit: 'Jy/beam' | 'counts';
  /** The chosen field, if it was not specified. */
  readonly note?: string;
  readonly seconds: number;
}

export interface ImagedSky extends Imaged {
  readonly kind: 'image';
  readonly sky: WideSkyImage;
  /** Why only I is imaged. */
  readonly alone: readonly string[];
}

export interface ImagedSeries extends Imaged {
  readonly kind: 'series';
  readonly series: Series;
  /** Number of images on the contact sheet, if there is one. */
  readonly onContactSheet?: number;
}

/** Settings for an image. */
interface ImagePlan {
  readonly product: Product<'images'>;
  readonly from: FromVisibilities;
  readonly file: VisibilityFile;
  readonly telescope: Telescope;
  readonly data: StokesFrame;
  readonly beam?: ElementBeam;
  readonly choice: WideChoice;
  readonly gains: GainsOver;
  readonly unit: Imaged['unit'];
  readonly gainsAre?: 'relative';
}

const WHERE = 'products.images';

export async function planImages(
  product: Product<'images'>,
  from: FromVisibilities,
): Promise<PlannedFromVisibilities<ImagedSky | ImagedSeries>> {
  const { opened } = from;
  const path = product.images ?? undefined;
  if (path !== undefined && !/\.fits?$/i.test(path))
    refuse(WHERE, `'${path}' does not end in .fits`, 'the PNG takes the same name beside it');
  refuseSeveralTargets(opened);
  const part = await countedPartOf(from, product.channels, `${WHERE}.channels`);
  const file = chosen(part, from.observation.source.integration);
  const { telescope, frame: data } = stokesFrameOf(from.telescope, file.header, product.feeds);
  refuseUnplaced(opened.path, telescope, 'there is no image of the sky in them');
  if (telescope.stations.length === 1)
    refuse(
      opened.path,
      'one station has no baselines',
      'image its recording directly (corella image --direct)',
    );
  const beam = correctionOf(product, from.observation.source.target, telescope);
  const choice = await chooseWide(product, file, telescope);
  const { units, frequenciesHz } = file.header;
  const { gains, warnings } = gainsOver(from, telescope, frequenciesHz, {
    units,
    dividedBy: beam?.name,
  });
  const gainsAre = from.gains?.file.fluxScale;
  const unit = (from.gains && gainsAre !== 'relative') || units === 'Jy' ? 'Jy/beam' : 'counts';
  const plan: ImagePlan = { product, from, file, telescope, data, beam, choice, gains, unit, gainsAre };
  const image =
    product.every === undefined
      ? planOne(plan, path)
      : planSeries(plan, path ?? refuse(WHERE, 'a series has no path', 'name a .fits file'), product.every);
  return { name: 'images', warnings, ...image };
}

/** The beam to divide by, if requested. */
export function correctionOf(
  product: Pick<Product<'images'>, 'beam-corrected' | 'element'>,
  target: string | undefined,
  telescope: Telescope,
): ElementBeam | undefined {
  const beam = dividingBeam(product, telescope);
  refuseFollowingAll(beam, target);
  return beam;
}

type Made<Facts> = Pick<
  PlannedFromVisibilities & { make(making: MakingFromVisibilities): Promise<Facts> },
  'paths' | 'make'
>;

function planSeries(plan: ImagePlan, path: string, everyS: number): Made<ImagedSeries> {
  const { product, from, file, telescope, data, choice, unit, gainsAre } = plan;
  const paths = seriesPaths(path, { picture: true, sheet: product.sheet === true });
  return {
    paths: Object.values(paths) as string[],
    make: async ({ history, stage }) => {
      const shown = stage('images');
      let known: WideSeriesFacts | undefined;
      const factsAt = ({ frame }: Pick<SeriesImage, 'frame'>): SeriesFacts => {
        if (!known) throw new Error('a series of images without its facts');
        const { made } = known;
        return {
          series: known,
          options: {
            telescope,
            method: weightWords(product),
            unit,
            gainsAre,
            response: responseOf(data),
            history: present(
              ...history,
              made && `${weightWords(product)}, ${methodWords(made.method, made.accuracy)}`,
            ),
            sources: parseSources(product.sources ?? 'all')(frame),
            look: lookOf(product),
          },
        };
      };
      const backend = await from.backend();
      const series = await writtenSeries(paths, factsAt, (add) =>
        imageWideSeries(
          () => file.integrations(),
          setupOf(plan, backend, plan.gains, shown),
          { ...settingsOf(product, choice), stokes: 'I', channels: 'together' },
          everyS,
          (image, facts) => {
            known = facts;
            return add(image);
          },
        ),
      );
      return {
        kind: 'series',
        telescope,
        header: file.header,
        unit,
        note: choice.note,
        series,
        ...(paths.sheet !== undefined && { onContactSheet: onContactSheet(series.images).length }),
        seconds: shown.done(),
      };
    },
  };
}

function planOne(plan: ImagePlan, path: string | undefined): Made<ImagedSky> {
  const { product, from, file, telescope, data, beam, choice, unit, gainsAre } = plan;
  const { header } = file;
  const clean = cleanOf(product);
  const paths = path === undefined ? undefined : pathsOf(product, path, clean !== undefined);
  const cross = crossHandsOf(plan.gains);
  const { which, alone } = stokesOf(plan, clean !== undefined, cross.crossHands);
  return {
    paths: Object.values(paths ?? {}) as string[],
    make: async (making) => {
      const { history, stage } = making;
      const shown = stage('image');
      const backend = await from.backend();
      const make = (of: 'I' | 'IQUV', stokes: WideStokes): Promise<WideSkyImage> =>
        imageWide(() => file.integrations('reused'), setupOf(plan, backend, stokes.gains, shown), {
          ...settingsOf(product, choice),
          channels: product.cube === true ? 'apart' : 'together',
          ...(clean && { clean }),
          stokes: of,
          ...(product.stokes === undefined && { lostHand: 'accept' }),
        });
      const { made, stokes } = await asFarAsItGoes(plan, which, make);
      const seconds = shown.done();
      const dividing = beam && stage('beam');
      const sky = stokes.finish(beam ? correctedWide(made, beam, telescope, header.phaseCentre) : made);
      dividing?.done();
      const writing = stage('write');
      const products = {
        telescope,
        feeds: header.feeds,
        ...(beam && { brightness: { kind: 'beam-corrected' as const, beam } }),
        response: responseOf(data),
        ...cross,
        method: `${clean ? 'CLEANed, ' : ''}${weightWords(product)}`,
        unit,
        gainsAre,
        history: [
          ...history,
          `${weightWords(product)}, ${methodWords(sky.method, sky.plan.accuracy)}`,
          ...alone,
        ],
        sources: parseSources(product.sources ?? 'all')(sky.frame),
        look: lookOf(product),
      };
      if (paths) await writeWide(paths, sky, products, writing.step);
      else await handingOver(making, 'images')({ kind: 'wide-images', image: sky, about: products });
      writing.done();
      return { kind: 'image', telescope, header, unit, note: choice.note, sky, alone, seconds };
    },
  };
}

const durationOf = ({ durationsS }: VisibilityFile): number | undefined =>
  durationsS?.reduce((sum, one) => sum + one, 0);

/** The requested Stokes parameters, or those that the gains allow. */
function stokesOf(
  { product, telescope, file, choice }: ImagePlan,
  isCleaned: boolean,
  lack: CrossHandLack | undefined,
): { readonly which: 'I' | 'IQUV'; readonly alone: readonly string[] } {
  const { header } = file;
  const where = `${WHERE}.stokes`;
  if (product.stokes === 'IQUV' && lack === 'open')
    refuse(
      where,
      'the model of the gains leaves a rotation of Q, U and V open',
      'calibrate with three sources of different polarisation, or give gains.cross-hand: known where that does not matter',
    );
  if (product.stokes === 'IQUV' && lack === 'unknown')
    refuse(
      where,
      `the gains do not know the phase between ${header.feeds === 'circular' ? 'R and L' : 'X and Y'}, without which IQUV are mixed`,
      `find it with products.gains.cross-hand, or give gains.cross-hand: known where they share one, or leave ${where} out`,
    );
  const durationS = durationOf(file);
  const nominal = isCleaned ? 'I' : defaultStokes(choice, { telescope, header, durationS });
  const byDefault = lack === undefined ? nominal : 'I';
  const isAlone = product.stokes === undefined && nominal !== byDefault && lack !== undefined;
  return {
    which: product.stokes ?? byDefault,
    alone: isAlone ? [intensityAlone(lack, header.feeds)] : [],
  };
}

/** I alone uses one hand if the other is lost, unless all four parameters are requested. */
async function asFarAsItGoes(
  { product, gains, data, telescope, file, choice, beam }: ImagePlan,
  which: 'I' | 'IQUV',
  make: (of: 'I' | 'IQUV', stokes: WideStokes) => Promise<WideSkyImage>,
): Promise<{ readonly made: WideSkyImage; readonly stokes: WideStokes }> {
  const onSky = (of: 'I' | 'IQUV'): WideStokes =>
    wideStokes(of, gains, data, {
      telescope,
      header: file.header,
      centre: choice.centre,
      field: choice.field,
      durationS: durationOf(file),
      beam,
    });
  const own = onSky(which);
  const isAsked = product.stokes !== undefined || which === 'I';
  const first = await make(which, own).catch((error: unknown) => {
    if (isAsked || !(error instanceof CorellaError)) throw error;
    return undefined;
  });
  if (first && (isAsked || !lacksProducts(first))) return { made: first, stokes: own };
  const alone = onSky('I');
  return { made: await make('I', alone), stokes: alone };
}

const setupOf = (
  { file: { header }, telescope, data, beam, from: { discs } }: ImagePlan,
  backend: Backend,
  { calibrated }: GainsOver,
  shown: ReturnType<MakingFromVisibilities['stage']>,
): WideSetup => ({
  backend,
  telescope,
  discs,
  polarisations: header.polarisations,
  calibrated,
  codes: header.products,
  kinds: kindsFor(beam, telescope),
  response: responseOf(data),
  frequenciesHz: header.frequenciesHz,
  channelWidthHz: header.channelWidthHz,
  fringes: fringesOf(header),
  onStep: (step) => {
    shown.at(0, step);
  },
  onProgress: shown.update,
});

/** The weights of moments are needed where something is divided out that changes with altitude. */
function kindsFor(beam: ElementBeam | undefined, telescope: Telescope): StationKinds | undefined {
  const stations = telescope.stations.length;
  if (beam) return kindsOf(beam, stations);
  return areBare(telescope) ? { ofStation: new Array<number>(stations).fill(0), count: 1 } : undefined;
}

const settingsOf = (
  product: Product<'images'>,
  { centre, field }: WideChoice,
): Omit<WideSettings, 'stokes' | 'channels'> => ({
  centre,
  field,
  weighting: weightingOf(product),
  accuracy: product.accuracy,
});

function pathsOf({ picture = true, beam }: Product<'images'>, path: string, isCleaned: boolean): WidePaths {
  const { dir, name } = splitPath(path);
  const beside = (ending: string): string => join(dir, `${name}${ending}`);
  return {
    fits: path,
    ...(picture && { png: beside('.png') }),
    ...((beam === true || isCleaned) && { beam: beside('-beam.fits') }),
    ...(isCleaned && {
      dirty: beside('-dirty.fits'),
      model: beside('-model.fits'),
      residual: beside('-residual.fits'),
    }),
  };
}

const weightsOf = ({
  weights = 'natural',
}: Product<'images'>): { kind: 'natural' | 'uniform' } | { kind: 'briggs'; robustness: number } => {
  if (weights === 'natural' || weights === 'uniform') return { kind: weights };
  return { kind: 'briggs', robustness: Number(weights.split(':').at(1) ?? 0) };
};

const weightingOf = (product: Product<'images'>): WideWeighting => ({
  ...weightsOf(product),
  ...(product.taper === undefined ? {} : { taperFwhm: Math.sin(product.taper * RADIANS_PER_DEGREE) }),
});

function weightWords(product: Product<'images'>): string {
  const weights = weightsOf(product);
  const kind = weights.kind === 'briggs' ? `Briggs ${weights.robustness}` : weights.kind;
  return `${kind} weights${product.taper === undefined ? '' : ' tapered'}`;
}

/** Undefined without CLEAN. */
function cleanOf(product: Product<'images'>): CleanOptions | undefined {
  const { clean = false, threshold } = product;
  const [gain, autoThreshold] = [product['loop-gain'], product['auto-threshold']];
  if (clean === false) return undefined;
  return {
    autoMask: product['auto-mask'] ?? 5,
    ...(clean === true ? {} : { mostIterations: clean }),
    thresholdJy: threshold,
    gain,
    autoThreshold,
  };
}

/** Copies of drift scans keep the object's name if a format cannot mark running fringes. */
export const fringesOf = ({
  fringes,
  object,
}: Pick<VisibilityHeader, 'fringes' | 'object'>): 'running' | 'stopped' =>
  fringes === 'running' || /^zenith$/i.test(object) ? 'running' : 'stopped';

/** How every pixel was computed, as text and for the history. */
export const methodWords = (method: WideMethod, accuracy: number): string =>
  method === 'gridded'
    ? `gridded in u, v and w to ${accuracy} of the peak`
    : 'every pixel summed over every visibility, exact';

/** Why an image has only I. */
const intensityAlone = (lack: CrossHandLack, feeds: 'linear' | 'circular' = 'linear'): string =>
  'plane I alone: Stokes Q, U and V are left out: ' +
  (lack === 'open'
    ? 'the model of the gains leaves a rotation of Q, U and V open (it takes three sources of different polarisation)'
    : `the phase between ${feeds === 'linear' ? 'X and Y' : 'R and L'} is unknown (products.gains.cross-hand), without which they are mixed`);
