/** A live run: a source's stream epochs in sequence through the chain, with products and the account of all. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { addSeconds, formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import type { SpectraType } from '../core/axes.js';
import type { SeenBeams } from '../products/index.js';
import type { Integration } from '../core/blocks.js';
import type { Source } from '../core/sources.js';
import { sampleRateOf } from '../core/sources.js';
import { SECONDS_PER_DAY } from '../core/units.js';
import {
  RoundingWatch,
  measuredRange,
  type Rounded,
  addAccounts,
  emptyAccount,
  type Account,
  type SkyImage,
  partOfStream,
  takeChannels,
} from '../stages/index.js';
import { isThere } from '../formats/index.js';
import type { CardAccount } from '../backend/cuda/meter.js';
import { spectraOfFront } from '../compose/index.js';
import { runStreamEpoch } from './chain.js';
import { frontOf } from './front.js';
import type { FileEvent, LiveFiles } from './files.js';
import { SendersClock, seenSource } from './seen.js';
import type { LatestPicture } from './pictures.js';
import type { LiveSettings } from './settings.js';

/** The input of a run: one source per stream epoch. */
export interface LiveInput {
  sessions(): AsyncIterable<Source> | Iterable<Source>;
  /** Stops receiving; data already received are processed. */
  stop(): void;
  /** Whether packets wait in such numbers that images have to be left out. */
  isBehind?(): boolean;
}

/** Observers of a run: they see the data as they arrive and must not delay them. */
export interface LiveWatcher {
  session(source: Source, live: LiveSettings): void;
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
  readonly live: LiveSettings;
  readonly files?: LiveFiles;
  readonly picture?: LatestPicture;
  /** The number of images left out because packets waited. */
  readonly late?: () => number;
  /** Files of images and of further products. */
  readonly written?: () => readonly string[];
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
  let fileNumber = 0;
  let products: RunProducts | undefined;
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
  const prepared = async (source: Source): Promise<RunProducts> => {
    const made = await settings.prepare(source);
    if (made.live.backend.kind === 'cuda') made.live.backend.meter.begin();
    return made;
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
      products ??= await prepared(source);
      const { live, files, picture } = products;
      onEvent({ kind: 'session', session: totals.sessions++, start: formatInstant(source.start, 6) });
      watcher?.session(source, live);
      const before = totals.dataS;
      let samples = 0;
      const keep = live.flags?.channels;
      const spectrumRateHz = spectrumRateOf(source, live);
      let look = lookAtRounding(source, live, onEvent);
      const account = await runStreamEpoch(
        source,
        live,
        {
          integration: async (integration) => {
            totals.integrations++;
            const { start, durationS, counts } = integration;
            // Millions of values: an iterator would delay images.
            const sum = counts.reduce((total, count) => total + count, 0);
            const present = sum / counts.length / Math.max(1, durationS * spectrumRateHz);
            onEvent({ kind: 'integration', start: formatInstant(start, 3), durationS, present });
            await watcher?.integration(integration);
            const isKept = live.steering?.recording.at(start) ?? true;
            const wanted = live.steering?.fileNumber.at(start) ?? 0;
            if (!isKept || wanted !== fileNumber) await files?.close();
            fileNumber = wanted;
            if (isKept) await files?.append(keep ? takeChannels(integration, keep) : integration);
          },
          beforeGain: (integration) => {
            if (look?.(integration) === 'reported') look = undefined;
          },
          image: async (sky) => {
            onImage(sky.start, sky.durationS);
            const gains = live.steering?.gains.at(sky.start);
            await picture?.show(sky, live.steering && (gains ? 'Jy/beam' : 'counts'));
            watcher?.image(sky);
          },
          noImage: (why) => {
            totals.emptyImages++;
            onEvent({ kind: 'no-image', why });
          },
        },
        {
          until: () => isOver(),
          onProgress: ({ done }) => {
            samples = done;
            totals.dataS = before + samples / sampleRateOf(source);
          },
        },
      );
      totals.account = addAccounts(totals.account, account);
      await files?.close();
      if (isOver()) break;
      const reached = addSeconds(source.start, (samples + 0.5) / sampleRateOf(source));
      if (settings.end && secondsBetween(settings.end, reached) > 0) break;
    }
  } finally {
    try {
      await products?.files?.close();
    } finally {
      await products?.files?.end?.();
    }
    await products?.picture?.close();
    const backend = products?.live.backend;
    if (backend?.kind === 'cuda') card = backend.meter.account();
  }
  const { files, picture } = products ?? {};
  const left = await stillThere([...(files?.paths ?? []), ...(products?.written?.() ?? [])], onEvent);
  const sorted = ages.sort((x, y) => x - y);
  return {
    ...totals.account,
    ...use(),
    lateImages: products?.late?.() ?? 0,
    integrations: totals.integrations,
    images: totals.images,
    sessions: totals.sessions,
    dataS: totals.dataS,
    emptyImages: totals.emptyImages,
    pictures: picture?.drawn ?? 0,
    files: left,
    unwrittenIntegrations: files?.unwritten ?? 0,
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

/** The spectrum rate in a run. */
export const spectrumRateOf = (source: Source, live: LiveSettings): number =>
  spectraOfFront(frontOf(source, live)).grid.spectrumRateHz;

/** Live data cannot be measured before rounding, so this checks the rounded samples; only if rounding happens here. */
function lookAtRounding(
  source: Source,
  live: LiveSettings,
  onEvent: RunInput['onEvent'],
): ((integration: Integration) => 'reported' | 'fine') | undefined {
  const front = frontOf(source, live);
  const { type } = spectraOfFront(front);
  if (front.source.kind !== 'voltages' || type === 'cf32') return undefined;
  const watch = new RoundingWatch(type);
  return (integration) => {
    watch.add(measuredRange(integration));
    const rounded = watch.found();
    if (!rounded || rounded.weak === 0) return 'fine';
    onEvent({ kind: 'weak', rounded, type });
    return 'reported';
  };
}
