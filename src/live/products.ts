/** Outputs of a live run: files by time, the latest picture, cubes, and further products. */
import { join, parse } from 'node:path';
import type { Integration } from '../core/blocks.js';
import { formatInstant, type Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import type { Line } from '../messages/index.js';
import { Guarded, type ObservedItem, type ProductOutcome } from '../observation/index.js';
import { type ComposedProduct, spectraOfFront, type Front, type FrontSpectra } from '../compose/index.js';
import {
  channelsNamed,
  type PictureOptions,
  type SkyImage,
  integrationClock,
  passing,
} from '../stages/index.js';
import { stoppedAt, type FileEvent, FilesByTime, type LiveFiles } from './files.js';
import { openLatestPicture, type LatestPicture } from './pictures.js';
import { imagesProduct } from './chain.js';
import type { FurtherProducts, LiveImaging, LiveSettings } from './settings.js';
import {
  lookOf,
  isProduct,
  planProduct,
  productName,
  type MadeProduct,
  type PlannedProduct,
  type RealTimeCost,
  type Product,
  type SeenBeams,
} from '../products/index.js';
import { imagedRules, imageOptions } from '../products/making/images.js';
import { largestSumOf } from '../products/making/visibilities.js';
import { parsePhaseCentre } from '../sky/phase-centre.js';
import { ImageCubes } from './cubes.js';
import { endless, imagingOf, type LivePlan } from './plan.js';
import { openFilesByThread, type FileThreadSettings } from './files-by-thread.js';

/** What files and pictures need of a plan. */
type SinkPlan = Pick<LivePlan, 'observation' | 'telescope' | 'centre' | 'calibrated'> & {
  readonly gainsAre?: PictureOptions['gainsAre'];
  readonly spectra: Pick<FrontSpectra, 'type' | 'polarisations' | 'frequenciesHz' | 'channelWidthHz'> & {
    readonly grid: Pick<FrontSpectra['grid'], 'spectrumRateHz'>;
  };
};

export interface SinkSettings<Plan extends SinkPlan = LivePlan> {
  readonly plan: Plan;
  /** For the product with this number. */
  readonly historyOf: (product: number) => readonly string[];
  readonly onFile: (event: FileEvent) => void;
  readonly onFault: (line: Line) => void;
  /** Receives the items of products without a path. */
  readonly onItem?: (item: ObservedItem) => Promise<void>;
  readonly onBeams?: (product: number, seen: SeenBeams) => void;
}

const PICTURE_WIDTH = 800;

/** Writes integrations to files; undefined if they are not written. */
export function openVisibilityFiles(
  fields: Product<'visibilities'>,
  number: number,
  { plan, historyOf, onFile, onItem }: SinkSettings<SinkPlan>,
  by: 'own thread' | 'this thread',
): LiveFiles | undefined {
  const { visibilities: path } = fields;
  const { telescope, spectra, observation, centre } = plan;
  const { frequenciesHz, channelWidthHz, polarisations } = spectra;
  const kept = fields.channels && channelsOf(fields, frequenciesHz);
  const own = fields['phase-centre'];
  const header = {
    telescope,
    polarisations,
    channelWidthHz,
    frequenciesHz: kept ? Float64Array.from(kept, (c) => frequenciesHz[c]) : frequenciesHz,
    history: historyOf(number),
  };
  const middle = own === undefined ? centre : parsePhaseCentre(own, 'products.visibilities.phase-centre');
  if (path === null)
    return (
      onItem &&
      handed((integration) =>
        onItem({
          kind: 'visibilities',
          integration,
          product: number,
          header: { ...header, ...stoppedAt(middle, telescope, integration.start), feedFrame: 'feeds' },
        }),
      )
    );
  return openFiles(
    {
      path,
      everyS: fields['file-every'],
      values: fields.values ?? 'means',
      largestSum: largestSumOf(spectra, Infinity, fields.integration ?? 1),
      overwrite: observation.overwrite === true,
      centre: middle,
      header,
      eop: observation.eop,
    },
    onFile,
    by,
  );
}

/** Integrations that are not written are passed to the program that asked for them. */
function handed(append: LiveFiles['append']): LiveFiles {
  return { append, close: () => Promise.resolve(), paths: [], written: 0, unwritten: 0 };
}

const channelsOf = ({ channels = [] }: Product<'visibilities'>, frequenciesHz: Float64Array) =>
  channelsNamed(channels.join(','), frequenciesHz, 'products.visibilities.channels');

/** The latest picture, cubes, or nothing if images are only shown on the page. */
export function openImages(
  fields: Product<'images'>,
  number: number,
  { plan, historyOf, onFault, onItem }: SinkSettings<SinkPlan>,
): LatestPicture | undefined {
  const { images: path, sources = 'all' } = fields;
  const { telescope, spectra, observation, calibrated, gainsAre } = plan;
  const history = historyOf(number);
  if (path === null)
    return (
      onItem && {
        show: (image, unit) => {
          const about = imageOptions(
            fields,
            { telescope, spectra, calibrated },
            ...([{ history }, image.frame] as const),
          );
          return onItem({
            kind: 'images',
            image,
            product: number,
            about: { ...about, gainsAre, ...(unit !== undefined && { unit }) },
          });
        },
        close: () => Promise.resolve(),
        drawn: 0,
        paths: [],
      }
    );
  const unit = calibrated === undefined ? 'counts' : 'Jy/beam';
  if (/\.fits?$/i.test(path))
    return new ImageCubes(
      { fields, path, telescope, spectra, unit, history, overwrite: observation.overwrite === true },
      onFault,
    );
  return openLatestPicture(
    {
      path,
      width: PICTURE_WIDTH,
      telescope,
      unit,
      gainsAre,
      channelWidthHz: spectra.channelWidthHz,
      look: lookOf(fields),
      method:
        fields.method === 'direct'
          ? 'Live, direct imaging (EPIC)'
          : `Live, from visibilities, ${fields.weights ?? 'natural'} weight`,
      sources: sources === 'all' ? 'all' : sources.split(',').map((one) => one.trim()),
      sky: { eop: observation.eop, orbits: observation.orbits, 'old-orbits': observation['old-orbits'] },
    },
    (why) => {
      onFault(`the picture cannot be drawn: ${why}`);
    },
    onFault,
  );
}

type PlannedFurther = Pick<PlannedProduct, 'name' | 'paths'> &
  Partial<Pick<PlannedProduct, 'facts' | 'refusePlaces'>>;

/** Products in addition to the first files and the first images, restarted for each stream epoch. */
export class Further {
  readonly paths: string[] = [];
  /** Products that ended before the others. */
  readonly failures: string[] = [];
  /** Outcomes, per stream epoch, of products planned as for recordings. */
  readonly made: ProductOutcome[] = [];
  private epochs = 0;
  /** For the current stream epoch, by product number. */
  private readonly planned = new Map<number, PlannedFurther>();
  private readonly costs = new Map<number, RealTimeCost>();

  constructor(private readonly settings: SinkSettings) {}

  /** Refuses other beam positions as at the start. */
  refusePlaces(product: number, places: readonly string[], at: Instant): void {
    this.planned.get(product)?.refusePlaces?.(places, at);
  }

  async begin(front: Front, source: Source, live: LiveSettings): Promise<FurtherProducts> {
    const epoch = this.epochs++;
    const made: Guarded<PlannedFurther>[] = [];
    for (const number of this.settings.plan.products.further)
      made.push(await this.make(number, { front, source, live, epoch }));
    for (const [k, number] of this.settings.plan.products.further.entries())
      this.planned.set(number, made[k].planned);
    const end = async (how: 'finish' | 'keep'): Promise<void> => {
      for (const one of made) {
        await one[how]();
        if (one.failure) this.failures.push(`${one.planned.name}: ${one.failure.message}`);
        else this.paths.push(...one.planned.paths);
        const { name, paths, facts } = one.planned;
        if (facts) this.made.push({ name, paths, facts: facts(), failure: one.failure });
      }
    };
    // Solved gains must exist before the images that they calibrate.
    const isFirst = this.settings.plan.inForce !== undefined && this.settings.plan.products.further[0] === 0;
    const composed = made.map((one) => one.composed);
    return {
      ...(isFirst ? { first: composed.slice(0, 1), composed: composed.slice(1) } : { first: [], composed }),
      finish: () => end('finish'),
      keep: () => end('keep'),
    };
  }

  private async make(number: number, about: Epoch): Promise<Guarded<PlannedFurther>> {
    const product = this.settings.plan.observation.products[number];
    if (isProduct('visibilities', product)) return this.visibilities(product, number, about);
    if (isProduct('images', product)) return this.images(product, number, about);
    const { plan, historyOf, onItem, onBeams } = this.settings;
    const { front, source, live, epoch } = about;
    const { steering } = live;
    const { channels } = spectraOfFront(front);
    const cost = this.costs.get(number) ?? {};
    this.costs.set(number, cost);
    const planned = await planProduct(laterName(product, epoch, source.start), {
      recording: endless(source, sourceName(plan), plan.telescope),
      telescope: plan.telescope,
      front,
      spectra: spectraOfFront(front),
      delays: front.delays,
      flaggedInputs: live.flaggedInputs ?? new Uint8Array(source.inputs),
      rules: live.flags?.rules ?? [],
      discs: live.discs ?? [],
      centre: plan.centre,
      equaliserIsLost: false,
      places: steering?.beams.get(number),
      solutionsInto: number === 0 ? plan.inForce : undefined,
      calibrated: steering
        ? (moment, start) => steering.directGains(moment, channels, start)
        : plan.calibrated,
    });
    return new Guarded<PlannedFurther>(
      planned,
      await planned.make({
        backend: live.backend,
        history: historyOf(number),
        realTime: live.late && cost,
        emit: onItem && ((item) => onItem({ ...item, product: number })),
        onBeams:
          onBeams &&
          ((seen) => {
            onBeams(number, seen);
          }),
      }),
      goOn,
    );
  }

  private visibilities(fields: Product<'visibilities'>, number: number, { front, live }: Epoch) {
    const { frequenciesHz, grid } = spectraOfFront(front);
    const files = openVisibilityFiles(fields, number, this.settings, 'this thread');
    const { steering } = live;
    let fileNumber = steering?.fileNumber.latest ?? 0;
    const append = async (integration: Integration): Promise<void> => {
      const isKept = steering?.recording.at(integration.start) ?? true;
      const wanted = steering?.fileNumber.at(integration.start) ?? 0;
      if (!isKept || wanted !== fileNumber) await files?.close();
      fileNumber = wanted;
      if (isKept) await files?.append(integration);
    };
    const composed: ComposedProduct = {
      from: 'integrations',
      clock: integrationClock({ integrationS: fields.integration ?? 1, align: fields.align }, grid),
      vanVleck: fields['van-vleck'] === true ? {} : undefined,
      values: fields.values ?? 'means',
      flags: {
        rules: live.flags?.rules ?? [],
        channels: fields.channels && channelsOf(fields, frequenciesHz),
      },
      stage: passing(append),
    };
    const close = async (): Promise<void> => {
      await files?.close();
      await files?.end?.();
    };
    return new Guarded<PlannedFurther>(
      {
        name: 'visibilities',
        get paths() {
          return files?.paths ?? [];
        },
      },
      { composed, finish: close, keep: () => close().then(() => ''), abandon: close },
      goOn,
    );
  }

  private images(fields: Product<'images'>, number: number, { front, live }: Epoch) {
    const { grid } = spectraOfFront(front);
    const sink = openImages(fields, number, this.settings);
    const { plan } = this.settings;
    const rules = imagedRules(fields, live.flags?.rules ?? [], plan.spectra.frequenciesHz);
    const imaging: LiveImaging = {
      ...imagingOf(fields, rules, live.imaging?.calibrated),
      ...plan.methods.get(fields),
    };
    const clock = integrationClock({ integrationS: imaging.everyS, align: fields.align }, grid);
    const show = async (sky: SkyImage): Promise<void> => {
      const gains = live.steering?.gains.at(sky.start);
      await sink?.show(sky, live.steering && (gains ? 'Jy/beam' : 'counts'));
    };
    const composed = imagesProduct(
      front,
      clock,
      { ...live, imaging, align: fields.align ?? 'utc', imagers: undefined },
      { image: show, noImage: () => undefined },
    );
    const close = async (): Promise<void> => {
      await sink?.close();
    };
    const made: MadeProduct = {
      composed,
      finish: close,
      abandon: close,
      keep: () => close().then(() => ''),
    };
    return new Guarded<PlannedFurther>(
      {
        name: 'images',
        get paths() {
          return sink?.paths ?? [fields.images ?? ''].filter((path) => path !== '');
        },
      },
      made,
      goOn,
    );
  }
}

/** The other products continue. */
const goOn = (): boolean => false;

interface Epoch {
  readonly front: Front;
  readonly source: Source;
  readonly live: LiveSettings;
  readonly epoch: number;
}

/** The source name in a spectra file. */
const sourceName = ({ observation: { source } }: LivePlan): string =>
  parse([source.capture ?? source.recording ?? []].flat().at(0) ?? 'live data').base;

/** After the first stream epoch each file has its start in its name. */
function laterName(product: Product, epoch: number, start: Instant): Product {
  const key = productName(product);
  const path = (product as Readonly<Record<string, unknown>>)[key];
  if (epoch === 0 || typeof path !== 'string') return product;
  const { dir, name, ext } = parse(path);
  const stamp = formatInstant(start, 0).replaceAll(':', '');
  return { ...product, [key]: join(dir, `${name}-${stamp}${ext}`) };
}

const openFiles = (
  settings: FileThreadSettings,
  onEvent: (event: FileEvent) => void,
  by: 'own thread' | 'this thread',
): LiveFiles =>
  by === 'own thread' ? openFilesByThread(settings, onEvent) : new FilesByTime(settings, onEvent);
