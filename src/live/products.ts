/** The products of a live run: planned and made anew in each stream epoch; what writes them goes on over all. */
import { join, parse } from 'node:path';
import { spectraOfFront, type ComposedProduct, type Front } from '../compose/index.js';
import { formatInstant, type Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { Guarded, type ProductOutcome } from '../observation/index.js';
import {
  planProduct,
  productName,
  type LiveRecording,
  type Making,
  type Observed,
  type PlannedProduct,
  type Product,
  type RealTimeCost,
  type ProductListener,
  type Recorder,
} from '../products/index.js';
import type { Listener, RunContext } from './context.js';
import { endless } from './plan.js';
import type { Clocks } from './steering.js';

/** The products of one stream epoch. */
interface EpochProducts {
  readonly composed: readonly ComposedProduct[];
  /** At the end of the epoch: the products are completed. */
  finish(): Promise<void>;
  /** After a failure: finished products are kept. */
  keep(): Promise<void>;
}

/** Of an observation, by its number; -1 for integrations that are made for the page alone. */
type Numbered = readonly [number: number, product: Product];

export class LiveProducts {
  /** Products that ended before the others. */
  readonly failures: string[] = [];
  /** Outcomes of each stream epoch. */
  readonly made: ProductOutcome[] = [];
  /** Receives what is shown. */
  listener: Listener = {};
  private readonly recorders = new Map<number, Recorder>();
  /** Files of products that are completed with each stream epoch. */
  private readonly completed: string[] = [];
  private epochs = 0;
  private isClosed = false;
  /** For the current stream epoch, by product number. */
  private planned = new Map<number, PlannedProduct>();

  private readonly costs = new Map<number, RealTimeCost>();

  constructor(readonly context: RunContext) {}

  /** Every file with data. */
  get paths(): readonly string[] {
    return [...Array.from(this.recorders.values()).flatMap(({ paths }) => paths), ...this.completed];
  }

  /** Integrations in files. */
  get written(): number {
    return Array.from(this.recorders.values()).reduce((sum, { written = 0 }) => sum + written, 0);
  }

  /** Integrations that were lost to a full disk or a removed file. */
  get unwritten(): number {
    return Array.from(this.recorders.values()).reduce((sum, { unwritten = 0 }) => sum + unwritten, 0);
  }

  /** Images that were drawn or written, of the product that is shown. */
  get drawn(): number {
    return this.recorders.get(this.context.plan.shown.images)?.drawn ?? 0;
  }

  /** Refuses other beam positions as at the start. */
  refusePlaces(product: number, places: readonly string[], at: Instant): void {
    this.planned.get(product)?.refusePlaces?.(places, at);
  }

  async begin(front: Front, source: Source, clocks: Clocks): Promise<EpochProducts> {
    const epoch = this.epochs++;
    const { backend, late, onItem, writing } = this.context;
    const made: (readonly [number, Guarded])[] = [];
    const planned = new Map<number, PlannedProduct>();
    for (const [number, product] of this.numbered()) {
      const one = await planProduct(
        laterName(product, epoch, source.start),
        this.observedBy(number, { front, source, clocks }),
      );
      planned.set(number, one);
      const cost = this.costs.get(number) ?? {};
      this.costs.set(number, cost);
      const making: Making = {
        backend,
        history: number < 0 ? [] : (writing?.historyOf(number) ?? []),
        emit: onItem && number >= 0 ? (item) => onItem({ ...item, product: number }) : undefined,
        realTime: late && cost,
        listener: this.listenerOf(number),
        recording: this.recordingOf(number),
      };
      const guarded: Guarded = new Guarded(one, await one.make(making), () => {
        this.context.writing?.onFault(`${one.name}: ${guarded.failure?.message ?? ''}`);
        return made.every(([k, { failure }]) => k < 0 || failure);
      });
      made.push([number, guarded]);
    }
    this.planned = planned;
    const end = async (how: 'finish' | 'keep'): Promise<void> => {
      for (const [number, one] of made) {
        await one[how]();
        const { name, paths, facts } = one.planned;
        const recorder = this.recorders.get(number);
        if (one.failure) this.failures.push(`${name}: ${one.failure.message}`);
        else if (!recorder) this.completed.push(...paths);
        this.made.push({ name, paths: recorder?.paths ?? paths, facts: facts(), failure: one.failure });
      }
    };
    return {
      composed: made.map(([, { composed }]) => composed),
      finish: () => end('finish'),
      keep: () => end('keep'),
    };
  }

  /** Closes what is written, at the end of the run. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const recorder of this.recorders.values()) {
      try {
        await recorder.close();
      } finally {
        await recorder.end?.();
      }
      const { leftOut = 0 } = recorder;
      if (leftOut > 0)
        this.failures.push(`images: ${leftOut} of them ${leftOut === 1 ? 'is' : 'are'} in no file`);
    }
  }

  /** Integrations are made for the page too, unless a card would make them for nothing. */
  private numbered(): readonly Numbered[] {
    const { backend, onItem, plan, steering } = this.context;
    const { shown, observation, integrationS, align } = plan;
    const all = observation.products.map((product, number): Numbered => [number, product]);
    // Summing and reading back millions of unused products costs a card more than the images.
    const isLookedAt = backend.kind !== 'cuda' || steering !== undefined || shown.images < 0;
    const own = observation.products.at(Math.max(0, shown.visibilities));
    if (shown.visibilities < 0)
      return isLookedAt ? [[-1, { visibilities: null, integration: integrationS, align }], ...all] : all;
    const isUsed =
      isLookedAt || onItem !== undefined || (own && 'visibilities' in own && own.visibilities !== null);
    return isUsed ? all : all.filter(([number]) => number !== shown.visibilities);
  }

  private observedBy(
    number: number,
    { front, source, clocks }: { readonly front: Front; readonly source: Source; readonly clocks: Clocks },
  ): Observed {
    const { plan, steering, late, imagers } = this.context;
    const { observed, observation, shown, inForce, methods, telescope } = plan;
    const spectra = spectraOfFront(front);
    const isImaged = number === shown.images;
    // Steering counts the current integration by `cuts`.
    const ofIntegrations = shown.images < 0 ? clocks.cuts : clocks.files;
    const product = observation.products.at(Math.max(0, number));
    return {
      ...observed,
      recording: endless(source, sourceName(plan), telescope),
      front,
      spectra,
      delays: front.delays,
      places: steering?.beams.get(number),
      solutionsInto: number === 0 ? inForce : undefined,
      calibrated: steering
        ? (moment, start) => steering.directGains(moment, spectra.channels, start)
        : observed.calibrated,
      live: {
        clock: isImaged ? clocks.cuts : number === shown.visibilities ? ofIntegrations : undefined,
        steering,
        late,
        imagers: isImaged ? imagers : undefined,
        imaging: product && methods.get(product),
      },
    };
  }

  private listenerOf(number: number): ProductListener {
    const { plan, onBeams } = this.context;
    const { shown } = plan;
    const { integration, rounded, image, noImage } = this.listener;
    return {
      ...(number === shown.visibilities && { integration, rounded }),
      ...(number === shown.images && { image, noImage }),
      beams:
        onBeams &&
        ((seen) => {
          onBeams(number, seen);
        }),
    };
  }

  private recordingOf(number: number): LiveRecording | undefined {
    const { plan, writing } = this.context;
    return (
      writing && {
        opened: <One extends Recorder>(open: () => One): One => {
          // A product opens recorders of one kind.
          const recorder = (this.recorders.get(number) as One | undefined) ?? open();
          this.recorders.set(number, recorder);
          return recorder;
        },
        overwrite: plan.observation.overwrite === true,
        sky: plan.observation,
        onFile: writing.onFile,
        onFault: writing.onFault,
      }
    );
  }
}

/** The source in the names of errors and in a spectra file. */
const sourceName = ({ observation: { source } }: RunContext['plan']): string =>
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
