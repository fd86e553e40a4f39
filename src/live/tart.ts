/**
 * A TART's API as a live source. It returns visibilities, one snapshot at a time, and the gains to image them with:
 * nothing is correlated here. It is polled at the cadence of images or integrations. A repeated snapshot counts once;
 * time steps longer than the shortest one count as gaps.
 */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openBackend } from '../backend/select.js';
import { Closers } from '../core/closing.js';
import { CorellaError, refuse } from '../core/errors.js';
import { formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import { stoppable } from '../core/ending.js';
import {
  ALONE_S,
  gainsFileFrom,
  integrationOf,
  openTartApi,
  readGainFile,
  type GainsFile,
  type TartApi,
} from '../formats/index.js';
import { historyOf, type Observation } from '../observation/index.js';
import { lookOf, type Product } from '../products/index.js';
import {
  chain,
  matchGains,
  passing,
  prepareImage,
  type ImageInput,
  type SkyImage,
  type Stage,
} from '../stages/index.js';
import { useSky } from '../sky/use-sky.js';
import { loadTelescope } from '../telescope/load.js';
import { ImageCubes } from './cubes.js';
import type { FileEvent } from './files.js';
import { FilesByTime } from './files.js';
import { openLatestPicture, type LatestPicture } from './pictures.js';
import { imagingOf } from './plan.js';
import { productsOf, refuseProduct } from './resolve.js';
import { isTartName } from './stream-address.js';

export type TartEvent =
  | { readonly kind: 'integration'; readonly start: string }
  | { readonly kind: 'image'; readonly start: string }
  | { readonly kind: 'note'; readonly text: string };

export interface TartOutcome {
  readonly description: string;
  readonly polls: number;
  /** Failed polls: the TART could not be reached, or its answer was invalid. */
  readonly failedPolls: number;
  readonly integrations: number;
  /** Polls that returned the previous snapshot. */
  readonly repeated: number;
  /** Snapshots older than an earlier one: not used. */
  readonly late: number;
  readonly gaps: number;
  /** In gaps, in units of the shortest step. */
  readonly missingIntegrations: number;
  readonly shortestStepS?: number;
  readonly images: number;
  readonly pictures: number;
  readonly files: readonly string[];
  readonly isStopped: boolean;
}

export interface TartRunSettings {
  readonly version: string;
  readonly onEvent: (event: TartEvent) => void;
  readonly onFile: (event: FileEvent) => void;
  readonly stop?: AbortSignal;
}

/** The TART address that an observation polls; undefined for other sources. */
export function tartAddress({ source: { stream } }: Observation): string | undefined {
  const names = stream === undefined ? [] : [stream].flat();
  if (!names.some(isTartName)) return undefined;
  if (names.length > 1)
    refuse(
      'source.stream',
      'a TART and others side by side',
      'their visibilities have nothing in common: give one',
    );
  const address = names[0].slice('tart:'.length);
  return /^https?:\/\//i.test(address) ? address : `http://${address.replace(/^\/\//, '')}`;
}

/** Refuses fields for voltages, and for products that this run cannot make. */
function refuseForeign(observation: Observation): void {
  const { front, flags, gains = {}, page, products, source } = observation;
  const what = 'is not for a TART, whose API hands out visibilities';
  for (const [name, part] of Object.entries({ front, flags }))
    if (part !== undefined && Object.values(part).some((one) => one !== undefined && one !== false))
      refuse(name, what, 'leave it out; write visibilities, and flag those');
  const other = Object.keys(gains).find((name) => name !== 'file');
  if (other !== undefined) refuse(`gains.${other}`, what, 'leave it out');
  if (page?.address !== undefined && page.address !== false)
    refuse('page.address', 'is not for a TART: it has no page', 'leave it out');
  const asked = Object.keys(source).find((name) => name !== 'stream');
  if (asked !== undefined) refuse(`source.${asked}`, what, 'leave it out');
  const { further, images } = productsOf(observation);
  if (further.length > 0)
    refuse(
      'products',
      `${Object.keys(products[further[0]])[0]} ${what}`,
      'ask for visibilities, images or both',
    );
  if (images?.method === 'direct') refuse('products.images.method', what, 'leave it out');
}

const POLL_S = 1;
/** Gains and positions are requested again after this many snapshots. */
const REFRESHED = 10;
/** After this many failed polls the run ends. */
const MOST_FAILED = 60;
const PICTURE_WIDTH = 800;

export async function runTart(observation: Observation, settings: TartRunSettings): Promise<TartOutcome> {
  const address = tartAddress(observation) ?? refuse('source.stream', 'is no TART', 'write tart:URL');
  refuseForeign(observation);
  const { visibilities, images } = productsOf(observation);
  for (const product of observation.products) await refuseProduct(product, observation, false);
  await useSky(observation);
  const named = observation.telescope === undefined ? undefined : await loadTelescope(observation.telescope);
  const api = await openTartApi(address, named);
  const gains = await gainsOf(observation, api, images !== undefined);
  const closers = new Closers();
  const stop = stoppable('live');
  try {
    const run = new TartRun(observation, api, settings, gains);
    await run.open(closers, { visibilities, images });
    let isStopped = false;
    const stopIt = (): void => {
      isStopped = true;
      run.stop();
    };
    stop.signal.addEventListener('abort', stopIt, { once: true });
    settings.stop?.addEventListener('abort', stopIt, { once: true });
    if (settings.stop?.aborted === true) stopIt();
    await run.poll(Math.min(images?.every ?? POLL_S, visibilities?.integration ?? POLL_S));
    await run.finish();
    return { ...run.outcome(), isStopped };
  } finally {
    await closers.close();
    stop.release();
  }
}

/** From a file, or the TART's own. */
async function gainsOf(
  { gains }: Observation,
  api: TartApi,
  isImaged: boolean,
): Promise<{ readonly file?: GainsFile; readonly isOwn: boolean }> {
  if (gains?.file !== undefined) return { file: await readGainFile(gains.file), isOwn: false };
  const own = await api.gains();
  if (!own && isImaged)
    refuse(
      `${api.url}/calibration/gain`,
      'has no gains: an image without them shows nothing',
      'give gains.file, or write visibilities alone',
    );
  return { file: own && ownGains(api, own), isOwn: true };
}

const ownGains = (
  { url, telescope, facts }: TartApi,
  found: NonNullable<Awaited<ReturnType<TartApi['gains']>>>,
): GainsFile =>
  gainsFileFrom(
    `${url}/calibration/gain`,
    telescope,
    facts.skyFrequencyHz,
    { unixSeconds: 0, fraction: 0 },
    found,
  );

class TartRun {
  private files: FilesByTime | undefined;
  private picture: (LatestPicture & { readonly paths?: readonly string[] }) | undefined;
  private stage: Stage<ImageInput, unknown> | undefined;
  private gains: GainsFile | undefined;
  private latest: Instant | undefined;
  private readonly steps: number[] = [];
  private isOver = false;
  private wake: () => void = () => undefined;
  private readonly count = { polls: 0, failedPolls: 0, integrations: 0, repeated: 0, late: 0, images: 0 };

  constructor(
    private readonly observation: Observation,
    private readonly api: TartApi,
    private readonly settings: TartRunSettings,
    private readonly begun: { readonly file?: GainsFile; readonly isOwn: boolean },
  ) {
    this.gains = begun.file;
  }

  stop(): void {
    this.isOver = true;
    this.wake();
  }

  async open(
    closers: Closers,
    { visibilities, images }: { visibilities?: Product<'visibilities'>; images?: Product<'images'> },
  ): Promise<void> {
    const { observation, settings } = this;
    const { telescope, facts, url } = this.api;
    const frequenciesHz = Float64Array.of(facts.skyFrequencyHz);
    const channelWidthHz = facts.bandwidthHz;
    const historyFor = (product: object): readonly string[] => [
      ...historyOf(settings.version, observation, observation.products.indexOf(product as never), []),
      `${facts.title}: visibilities of its API, ${url}`,
    ];
    for (const path of [visibilities?.visibilities, images?.images])
      if (path !== undefined && path !== null) await mkdir(dirname(path), { recursive: true });
    if (visibilities?.visibilities !== undefined && visibilities.visibilities !== null) {
      const header = {
        telescope,
        polarisations: 1 as const,
        frequenciesHz,
        channelWidthHz,
        fringes: 'running' as const,
        units: 'uncalib' as const,
        history: historyFor(visibilities),
      };
      this.files = new FilesByTime(
        {
          path: visibilities.visibilities,
          everyS: visibilities['file-every'],
          values: 'means',
          header,
          overwrite: observation.overwrite === true,
        },
        settings.onFile,
      );
      closers.keep(this.files);
    }
    if (!images) return;
    const { backend: kind = 'auto', threads } = observation.machine ?? {};
    const backend = closers.keep(await openBackend(kind, { threads }));
    const { image, weight } = imagingOf(images, [], undefined);
    this.picture = this.pictureOf(images, historyFor(images), { frequenciesHz, channelWidthHz });
    this.stage = closers.keep(
      chain(
        prepareImage({
          backend,
          telescope,
          frequenciesHz,
          image,
          weight,
          autos: 'leave-out',
          beam: 'leave-out',
        }),
        passing<SkyImage>(async (sky) => {
          this.count.images++;
          settings.onEvent({ kind: 'image', start: formatInstant(sky.start, 3) });
          await this.picture?.show(sky);
        }),
      ),
    );
  }

  private pictureOf(
    images: Product<'images'>,
    history: readonly string[],
    spectra: { readonly frequenciesHz: Float64Array; readonly channelWidthHz: number },
  ): LatestPicture | undefined {
    const { images: path, sources = 'all' } = images;
    const { observation } = this;
    const { telescope } = this.api;
    if (path === null) return undefined;
    if (/\.fits?$/i.test(path))
      return new ImageCubes({
        fields: images,
        path,
        telescope,
        spectra,
        unit: 'counts',
        history,
        overwrite: observation.overwrite === true,
      });
    return openLatestPicture(
      {
        path,
        width: PICTURE_WIDTH,
        telescope,
        unit: 'counts',
        channelWidthHz: spectra.channelWidthHz,
        look: lookOf(images),
        road: `Live, ${telescope.title}`,
        sources: sources === 'all' ? 'all' : sources.split(',').map((one) => one.trim()),
        sky: observation,
      },
      (why) => {
        this.note(`the picture cannot be drawn: ${why}`);
      },
    );
  }

  private note(text: string): void {
    this.settings.onEvent({ kind: 'note', text });
  }

  /** Until it is stopped, or for the requested time. */
  async poll(everyS: number): Promise<void> {
    const { for: forS = Infinity } = this.observation;
    const beganMs = performance.now();
    let failed = 0;
    for (let k = 0; !this.isOver; k++) {
      try {
        this.count.polls++;
        await this.take();
        failed = 0;
      } catch (error) {
        if (!(error instanceof CorellaError) || this.count.integrations === 0 || this.mustEnd) throw error;
        this.count.failedPolls++;
        if (failed++ === 0) this.note(`${error.message}; polled again until it answers`);
        if (failed >= MOST_FAILED) throw error;
      }
      const nextMs = beganMs + 1000 * everyS * (k + 1);
      const endMs = beganMs + 1000 * forS;
      if (Math.max(nextMs, performance.now()) >= endMs) break;
      await this.sleep(nextMs - performance.now());
    }
  }

  private sleep(ms: number): Promise<void> {
    if (this.isOver || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Set by errors that polling again cannot fix. */
  private mustEnd = false;

  private async take(): Promise<void> {
    const { api, count, settings } = this;
    const snapshot = await api.snapshot();
    if (this.latest) {
      const stepS = secondsBetween(this.latest, snapshot.time);
      if (stepS === 0) {
        count.repeated++;
        return;
      }
      if (stepS < 0) {
        if (count.late++ === 0)
          this.note(`a snapshot of ${formatInstant(snapshot.time, 3)} came after a later one: not used`);
        return;
      }
      this.steps.push(stepS);
    }
    if (count.integrations > 0 && count.integrations % REFRESHED === 0) await this.refresh();
    this.latest = snapshot.time;
    count.integrations++;
    settings.onEvent({ kind: 'integration', start: formatInstant(snapshot.time, 3) });
    const integration = integrationOf(snapshot, api.facts, ALONE_S, { path: `${api.url}/imaging/vis` });
    if (this.stage && this.gains) {
      const { telescope, facts } = api;
      const calibration = matchGains(this.gains, api.url, telescope, Float64Array.of(facts.skyFrequencyHz));
      await this.stage.push({ integration, calibration }, () => Promise.resolve());
    }
    await this.files?.append(integration);
  }

  private async refresh(): Promise<void> {
    try {
      await this.api.checkPositions();
    } catch (error) {
      this.mustEnd = error instanceof CorellaError && error.what.startsWith('the antennas are not');
      throw error;
    }
    if (!this.begun.isOwn) return;
    const own = await this.api.gains();
    if (own) this.gains = ownGains(this.api, own);
  }

  async finish(): Promise<void> {
    await this.files?.close();
    await this.picture?.close();
  }

  outcome(): Omit<TartOutcome, 'isStopped'> {
    const { api, count, files, picture, steps } = this;
    const shortest = steps.reduce((least, one) => Math.min(least, one), Infinity);
    const lost = steps.map((one) => Math.round(one / shortest) - 1).filter((one) => one > 0);
    return {
      description: `${api.facts.title} at ${api.url}`,
      ...count,
      gaps: lost.length,
      missingIntegrations: lost.reduce((sum, one) => sum + one, 0),
      ...(steps.length > 0 && { shortestStepS: shortest }),
      pictures: picture?.drawn ?? 0,
      files: [...(files?.paths ?? []), ...(picture?.paths ?? [])],
    };
  }
}
