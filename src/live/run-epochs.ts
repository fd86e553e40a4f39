/** A live run: a source's stream epochs in sequence through the chain, with products and the account of all. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { addSeconds, formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import type { SpectraType } from '../core/axes.js';
import type { FileEvent, SeenBeams } from '../products/index.js';
import type { Integration } from '../core/blocks.js';
import type { Source } from '../core/sources.js';
import { sampleRateOf } from '../core/sources.js';
import { SECONDS_PER_DAY } from '../core/units.js';
import {
  type Rounded,
  addAccounts,
  emptyAccount,
  type Account,
  type SkyImage,
  partOfStream,
} from '../stages/index.js';
import { isThere } from '../formats/index.js';
import type { CardAccount } from '../backend/cuda/meter.js';
import { spectraOfFront } from '../compose/index.js';
import { runStreamEpoch } from './chain.js';
import { frontOf } from './front.js';
import { SendersClock, seenSource } from './seen.js';
import { shownOf } from './context.js';
import type { LiveInput } from './opened-input.js';
import type { ShownRun } from './shown.js';
import type { LiveProducts } from './products.js';

/** Observers of a run: they see the data as they arrive and must not delay them. */
export interface LiveWatcher {
  session(source: Source, shown: ShownRun): void;
  /** Its arrays belong to the observer. The run waits for the promise. */
  integration(integration: Integration): Promise<void> | void;
  /** Its arrays are reused for the next image: copy what is needed at once. */
  image(sky: SkyImage): void;
  /** For the product with this number; its arrays are reused for the next. */
  beams?(product: number, seen: SeenBeams): void;
}

export type NightEvent =
  | { readonly kind: 'session'; readonly session: number; readonly start: string }
  | {
      readonly kind: 'integration';
      readonly start: string;
      readonly durationS: number;
      readonly present: number;
    }
  | { readonly kind: 'image'; readonly start: string; readonly durationS: number; readonly ageS?: number }
  | { readonly kind: 'no-image'; readonly why: string }
  | { readonly kind: 'note'; readonly text: string }
  /** Once per stream epoch: signals that are below one level after rounding. */
  | { readonly kind: 'weak'; readonly rounded: Rounded; readonly type: SpectraType }
  | ({ readonly kind: 'file' } & Omit<FileEvent, 'kind'> & { readonly what: FileEvent['kind'] });

/** Made when the first samples arrive; all stream epochs of a run have one shape. */
export interface RunProducts {
  readonly products: LiveProducts;
  /** The number of images left out because packets waited. */
  readonly late?: () => number;
}

interface RunInput {
  readonly input: LiveInput;
  readonly prepare: (source: Source) => Promise<RunProducts>;
  /** Ends after this much data. */
  readonly forS?: number;
  /** Whether the data that still wait are given up. */
  readonly isOverdue?: () => boolean;
  /** Only data from then on. */
  readonly start?: Instant;
  /** Only data before then. */
  readonly end?: Instant;
  readonly onEvent: (event: NightEvent) => void;
  /** Receives the data themselves: a page. */
  readonly watcher?: LiveWatcher;
}

export interface NightSummary extends Account {
  readonly sessions: number;
  readonly wallS: number;
  readonly dataS: number;
  /** Images without any data. */
  readonly emptyImages: number;
  /** Images left out because packets waited. */
  readonly lateImages: number;
  readonly pictures: number;
  readonly files: readonly string[];
  readonly unwrittenIntegrations: number;
  /** Age of an image when it was ready: since its last packet arrived, or for other sources since its last sample. */
  readonly imageAgeS?: { readonly median: number; readonly p99: number; readonly most: number };
  /** Lag of packets behind their timestamps: transit time plus this clock's offset from the senders'. */
  readonly sendersClockS?: number;
  /** How the card's time was used. */
  readonly card?: CardAccount;
  readonly eventLoopMs: { readonly p50: number; readonly p99: number; readonly most: number };
  readonly peakMemoryBytes: number;
}

const now = (): Instant => ({
  unixSeconds: Math.floor(Date.now() / 1000),
  fraction: (Date.now() % 1000) / 1000,
});
const GIVEN_UP =
  'received data that still wait are given up: they are not processed in time, by a machine or a disk that is too slow';
/** Number of ages kept, however long the run. */
const AGES = 4096;

export async function runEpochs(settings: RunInput): Promise<NightSummary> {
  const { input, forS, onEvent, watcher } = settings;
  let prepared: RunProducts | undefined;
  let card: CardAccount | undefined;
  const use = machineUse();
  const ages: number[] = [];
  const clock = new SendersClock();
  const totals = {
    account: emptyAccount(),
    sessions: 0,
    dataS: 0,
    emptyImages: 0,
    // Not including those that images are made from.
    integrations: 0,
    images: 0,
    aged: 0,
    mostAgeS: 0,
  };
  let isGivenUp = false;
  const isOver = (): boolean => {
    if (forS !== undefined && totals.dataS >= forS) return true;
    if (settings.isOverdue?.() !== true) return false;
    if (!isGivenUp) onEvent({ kind: 'note', text: GIVEN_UP });
    isGivenUp = true;
    return true;
  };
  const onImage = (start: Instant, durationS: number): void => {
    const ageS = secondsBetween(addSeconds(start, durationS), now()) - (clock.latestS ?? 0);
    totals.images++;
    // The age of data from another day is meaningless.
    const isNow = Math.abs(ageS) < SECONDS_PER_DAY;
    if (isNow) {
      ages[totals.aged++ % AGES] = ageS;
      totals.mostAgeS = Math.max(totals.mostAgeS, ageS);
    }
    onEvent({ kind: 'image', start: formatInstant(start, 3), durationS, ...(isNow && { ageS }) });
  };
  try {
    for await (const whole of input.sessions()) {
      const part = partOfStream(whole, { from: settings.start, to: settings.end });
      if (!part) continue;
      const source = seenSource(part, clock.see);
      if (!prepared) {
        prepared = await settings.prepare(source);
        const { backend } = prepared.products.context;
        if (backend.kind === 'cuda') backend.meter.begin();
      }
      const { products } = prepared;
      const { context } = products;
      onEvent({ kind: 'session', session: totals.sessions++, start: formatInstant(source.start, 6) });
      watcher?.session(source, shownOf(context));
      const before = totals.dataS;
      let samples = 0;
      const { type, grid } = spectraOfFront(frontOf(source, context.plan.frontSettings));
      let isWeak = false;
      products.listener = {
        integration: async (integration) => {
          totals.integrations++;
          const { start, durationS, counts } = integration;
          // Millions of values: an iterator would delay images.
          const sum = counts.reduce((total, count) => total + count, 0);
          const present = sum / counts.length / Math.max(1, durationS * grid.spectrumRateHz);
          onEvent({ kind: 'integration', start: formatInstant(start, 3), durationS, present });
          await watcher?.integration(integration);
        },
        rounded: (found) => {
          const rounded = isWeak ? undefined : found();
          if (!rounded || rounded.weak === 0) return;
          isWeak = true;
          onEvent({ kind: 'weak', rounded, type });
        },
        image: (sky) => {
          onImage(sky.start, sky.durationS);
          watcher?.image(sky);
        },
        noImage: (why) => {
          totals.emptyImages++;
          onEvent({ kind: 'no-image', why });
        },
      };
      const account = await runStreamEpoch(source, products, {
        until: () => isOver(),
        onProgress: ({ done }) => {
          samples = done;
          totals.dataS = before + samples / sampleRateOf(source);
        },
      });
      totals.account = addAccounts(totals.account, account);
      if (isOver()) break;
      const reached = addSeconds(source.start, (samples + 0.5) / sampleRateOf(source));
      if (settings.end && secondsBetween(settings.end, reached) > 0) break;
    }
  } finally {
    await prepared?.products.close();
    const backend = prepared?.products.context.backend;
    if (backend?.kind === 'cuda') card = backend.meter.account();
  }
  const { products } = prepared ?? {};
  const left = await stillThere(products?.paths ?? [], onEvent);
  const sorted = ages.sort((x, y) => x - y);
  return {
    ...totals.account,
    ...use(),
    lateImages: prepared?.late?.() ?? 0,
    integrations: totals.integrations,
    images: totals.images,
    sessions: totals.sessions,
    dataS: totals.dataS,
    emptyImages: totals.emptyImages,
    pictures: products?.drawn ?? 0,
    files: left,
    unwrittenIntegrations: products?.unwritten ?? 0,
    ...(sorted.length > 0 && {
      imageAgeS: {
        median: sorted[sorted.length >> 1],
        p99: sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))],
        most: totals.mostAgeS,
      },
    }),
    sendersClockS: clock.leastS,
    card,
  };
}

/** Call the result at the end of a run. */
export function machineUse(): () => Pick<NightSummary, 'wallS' | 'eventLoopMs' | 'peakMemoryBytes'> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const began = performance.now();
  const ms = (ns: number): number => Math.round(ns / 1e4) / 100;
  return () => {
    loop.disable();
    return {
      wallS: (performance.now() - began) / 1000,
      eventLoopMs: { p50: ms(loop.percentile(50)), p99: ms(loop.percentile(99)), most: ms(loop.max) },
      peakMemoryBytes: process.resourceUsage().maxRSS * 1024,
    };
  };
}

/** Complete files may be moved during a run: missing files are reported and not listed as products. */
async function stillThere(
  paths: readonly string[],
  onEvent: RunInput['onEvent'],
): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(isThere));
  const gone = paths.filter((_, n) => !found[n]);
  if (gone.length > 0)
    onEvent({
      kind: 'note',
      text: `written and closed, and no longer there: ${gone.join(', ')}`,
    });
  return paths.filter((_, n) => found[n]);
}
