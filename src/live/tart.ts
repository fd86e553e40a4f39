/**
 * A TART's API as a live source. It returns visibilities, one snapshot at a time, and the gains to image them with:
 * nothing is correlated here. It is polled at the cadence of images or integrations. A repeated snapshot counts once;
 * time steps longer than the shortest one count as gaps.
 */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Backend } from '../backend/backend.js';
import { Closers, nothingToClose } from '../core/closing.js';
import { CorellaError, refuse } from '../core/errors.js';
import { formatInstant, secondsBetween, type Instant } from '../core/instant.js';
import { stoppable } from '../core/ending.js';
import { formatSeconds } from '../core/units.js';
import {
  ALONE_S,
  gainsFileFrom,
  integrationOf,
  openTartApi,
  readGainFile,
  type GainsFile,
  type TartApi,
} from '../formats/index.js';
import { discsOf, historyOf, readsOf, type Observation } from '../observation/index.js';
import { productName } from '../products/index.js';
import {
  chain,
  emptyAccount,
  matchGains,
  passing,
  prepareImage,
  type Calibrated,
  type ImageInput,
  type SkyImage,
  type Stage,
} from '../stages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import type { LiveSettings } from './chain.js';
import type { LiveFiles } from './files.js';
import { machineUse } from './run-epochs.js';
import type { OpenedInput, StreamAccount } from './opened-input.js';
import type { LatestPicture } from './pictures.js';
import { imagingOf } from './plan.js';
import { openImages, openVisibilityFiles, type SinkSettings } from './products.js';
import { productsOf } from './resolve.js';
import type { LiveOutcome, LivePage, LiveRunSettings } from './run-settings.js';
import { Steering } from './steering.js';
import { isTartName } from './stream-address.js';

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

/** Fields of the observation that apply to visibilities as they come. */
const USED = new Set([
  ...['corella', 'source', 'telescope', 'for', 'eop', 'orbits', 'old-orbits', 'gains', 'products'],
  ...['overwrite', 'page', 'machine', 'flags'],
]);
const USED_OF_PRODUCTS: Readonly<Record<string, ReadonlySet<string>>> = {
  visibilities: new Set(['visibilities', 'integration', 'align', 'file-every', 'phase-centre']),
  images: new Set([
    ...['images', 'every', 'align', 'file-every', 'pixels', 'field', 'weights', 'autos', 'sources'],
    ...['picture', 'sheet', 'range', 'scale', 'colours', 'light', 'method'],
  ]),
};
const isGiven = (value: unknown): boolean =>
  value !== undefined &&
  value !== false &&
  !(typeof value === 'object' && value !== null && Object.values(value).every((one) => !isGiven(one)));

/** Refuses fields for voltages, and for products that this run cannot make. */
export function refuseNotOfTart(observation: Observation): void {
  const { flags = {}, gains = {}, products, source } = observation;
  const what = 'is not for a TART, whose API hands out visibilities';
  const refuseOthers = (part: object, used: (name: string) => boolean, at = ''): void => {
    const other = Object.entries(part).find(([name, value]) => isGiven(value) && !used(name));
    if (other) refuse(`${at}${other[0]}`, what, 'leave it out; write visibilities, and use it on those');
  };
  refuseOthers(observation, (name) => USED.has(name));
  refuseOthers(source, (name) => name === 'stream', 'source.');
  refuseOthers(gains, (name) => name === 'file', 'gains.');
  refuseOthers(flags, (name) => name === 'sky', 'flags.');
  for (const product of products) {
    const name = productName(product);
    const used = USED_OF_PRODUCTS[name] as ReadonlySet<string> | undefined;
    if (!used) refuse(`products.${name}`, what, 'ask for visibilities, images or both');
    refuseOthers(product, (one) => used.has(one), `products.${name}.`);
    if ('method' in product && product.method === 'direct')
      refuse('products.images.method', what, 'leave it out');
  }
  if (productsOf(observation).further.length > 0)
    refuse(
      'products',
      'has two of a kind, and a TART is polled for one of each',
      'ask for visibilities, images or both',
    );
}

/** Gains and positions are requested again after this many snapshots. */
const REFRESHED = 10;
/** After this many failed polls the run ends. */
const MOST_FAILED = 60;

interface Gains {
  readonly file?: GainsFile;
  /** The TART's own, which change. */
  readonly isOwn: boolean;
}

export async function runTart(
  address: string,
  observation: Observation,
  named: Telescope | undefined,
  { backend, settings }: { readonly backend: Backend; readonly settings: LiveRunSettings },
): Promise<LiveOutcome> {
  const api = await openTartApi(address, named);
  const run = new TartRun(observation, api, backend, settings);
  const closers = new Closers();
  const stop = stoppable('live');
  let isStopped = false;
  const stopIt = (): void => {
    isStopped = true;
    run.stop();
  };
  try {
    await run.open(closers, stopIt);
    stop.signal.addEventListener('abort', stopIt, { once: true });
    settings.stop?.addEventListener('abort', stopIt, { once: true });
    if (settings.stop?.aborted === true) stopIt();
    const { visibilities, images } = productsOf(observation);
    await run.poll(Math.min(images?.every ?? Infinity, visibilities?.integration ?? Infinity));
    return { ...(await run.outcome()), isStopped };
  } finally {
    await closers.close();
    stop.release();
  }
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
  private files: LiveFiles | undefined;
  private picture: LatestPicture | undefined;
  private stage: Stage<ImageInput, unknown> | undefined;
  private gains: Gains = { isOwn: true };
  private page: LivePage | undefined;
  private first: Instant | undefined;
  private latest: Instant | undefined;
  private readonly steps: number[] = [];
  private isOver = false;
  private wake: () => void = () => undefined;
  private readonly count = { polls: 0, failedPolls: 0, integrations: 0, repeated: 0, late: 0, images: 0 };
  private readonly use = machineUse();

  constructor(
    private readonly observation: Observation,
    private readonly api: TartApi,
    private readonly backend: Backend,
    private readonly settings: LiveRunSettings,
  ) {}

  stop(): void {
    this.isOver = true;
    this.wake();
  }

  private get description(): string {
    return `${this.api.facts.title} at ${this.api.url}`;
  }

  async open(closers: Closers, stop: () => void): Promise<void> {
    const { observation, settings, api, backend } = this;
    const { telescope, facts, url } = api;
    const { visibilities, images } = productsOf(observation);
    this.gains = await this.gainsAtStart(images !== undefined);
    const spectra = {
      ...{ type: 'cf32' as const, polarisations: 1 as const, grid: { spectrumRateHz: 1 / ALONE_S } },
      ...{ frequenciesHz: Float64Array.of(facts.skyFrequencyHz), channelWidthHz: facts.bandwidthHz },
    };
    const reads = await readsOf(observation, []);
    const sinks: Omit<SinkSettings, 'plan'> = {
      historyOf: (product) => [
        ...historyOf(settings.version, observation, product, reads(product)),
        `${facts.title}: visibilities of its API, ${url}`,
      ],
      onFile: (event) => {
        settings.onFile(event);
        this.page?.file(event);
      },
      onFault: settings.say,
      onItem: settings.onItem,
    };
    const plan = { observation, telescope, spectra };
    for (const path of [visibilities?.visibilities, images?.images])
      if (path !== undefined && path !== null) await mkdir(dirname(path), { recursive: true });
    const numberOf = (product: Observation['products'][number]): number =>
      observation.products.indexOf(product);
    this.files =
      visibilities &&
      openVisibilityFiles(visibilities, numberOf(visibilities), { ...sinks, plan }, 'this thread');
    if (this.files) closers.keep(this.files);
    this.picture =
      images && openImages(images, numberOf(images), { ...sinks, plan: { ...plan, gainsAre: 'relative' } });
    if (this.picture) closers.keep(this.picture);
    const discs = discsOf(observation.flags ?? {});
    const imaging = images && imagingOf(images, [], undefined, { discs });
    if (imaging)
      this.stage = closers.keep(
        chain(
          prepareImage({
            ...{ backend, telescope, frequenciesHz: spectra.frequenciesHz },
            ...{ image: imaging.image, weight: imaging.weight },
            autos: imaging.autos ?? 'leave-out',
            beam: 'leave-out',
          }),
          passing<SkyImage>((sky) => this.image(sky)),
        ),
      );
    settings.say(`${this.description}; ${backend.kind}: ${backend.description}`);
    const { file: own } = this.gains;
    const flaggedInputs = new Uint8Array(telescope.stations.length);
    const live: LiveSettings = {
      ...{ backend, telescope, frequenciesHz: spectra.frequenciesHz, align: 'first-sample', flaggedInputs },
      imaging: imaging && { ...imaging, unit: 'counts' },
      integrationS: ALONE_S,
      // The page images again with them.
      steering: new Steering({
        ...{ flaggedInputs, integrationS: ALONE_S },
        calibrated: own && ((): Calibrated => this.calibrationBy(this.gains.file ?? own)),
      }),
    };
    const shown = await settings.openPage?.(this.input(stop), { observation, backend, stop });
    if (shown) closers.keep(shown);
    this.page = shown?.page;
    this.page?.begin({
      ...{ live, files: this.files, picture: images?.images ?? undefined, isSteered: false },
      channelWidthHz: spectra.channelWidthHz,
      spectrumRateHz: spectra.grid.spectrumRateHz,
      sources: images?.sources,
    });
  }

  /** For the page: there are no blocks of samples. */
  private input(stop: () => void): OpenedInput {
    return {
      description: this.description,
      telescope: this.api.telescope,
      isLive: true,
      sessions: () => [],
      stop,
      close: nothingToClose,
    };
  }

  /** From a file, or the TART's own. */
  private async gainsAtStart(isImaged: boolean): Promise<Gains> {
    const { api, observation } = this;
    const path = observation.gains?.file;
    if (path !== undefined) return { file: await readGainFile(path), isOwn: false };
    const own = await api.gains();
    if (!own && isImaged)
      refuse(
        `${api.url}/calibration/gain`,
        'has no gains: an image without them shows no sources',
        'give gains.file, or write visibilities alone',
      );
    return { file: own && ownGains(api, own), isOwn: true };
  }

  private calibrationBy(file: GainsFile): Calibrated {
    const { url, telescope, facts } = this.api;
    return matchGains(file, url, telescope, Float64Array.of(facts.skyFrequencyHz));
  }

  private async image(sky: SkyImage): Promise<void> {
    this.count.images++;
    const { start, durationS } = sky;
    this.settings.onEvent({ kind: 'image', start: formatInstant(start, 3), durationS });
    await this.picture?.show(sky);
    this.page?.watcher.image(sky);
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
        if (failed++ === 0) this.settings.say(`${error.message}; polled again until it answers`);
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
    const { api, count, page, settings } = this;
    const snapshot = await api.snapshot();
    if (this.latest) {
      const stepS = secondsBetween(this.latest, snapshot.time);
      if (stepS === 0) {
        count.repeated++;
        return;
      }
      if (stepS < 0) {
        if (count.late++ === 0)
          settings.say(`a snapshot of ${formatInstant(snapshot.time, 3)} came after a later one: not used`);
        return;
      }
      this.steps.push(stepS);
    }
    if (count.integrations > 0 && count.integrations % REFRESHED === 0) await this.refresh();
    this.first ??= snapshot.time;
    this.latest = snapshot.time;
    count.integrations++;
    const integration = integrationOf(snapshot, api.facts, ALONE_S, { path: `${api.url}/imaging/vis` });
    const { start, durationS } = integration;
    settings.onEvent({ kind: 'integration', start: formatInstant(start, 3), durationS, present: 1 });
    page?.arrived(start, durationS);
    await page?.watcher.integration(integration);
    const { file } = this.gains;
    if (this.stage && file)
      await this.stage.push({ integration, calibration: this.calibrationBy(file) }, () => Promise.resolve());
    await this.files?.append(integration);
  }

  private async refresh(): Promise<void> {
    try {
      await this.api.checkPositions();
    } catch (error) {
      this.mustEnd = error instanceof CorellaError && error.what.startsWith('the antennas are not');
      throw error;
    }
    if (!this.gains.isOwn) return;
    const own = await this.api.gains();
    if (own) this.gains = { file: ownGains(this.api, own), isOwn: true };
  }

  /** Completes the products. */
  async outcome(): Promise<Omit<LiveOutcome, 'isStopped'>> {
    const { count, files, first, latest, observation, picture } = this;
    await files?.close();
    await picture?.close();
    return {
      observation,
      summary: {
        ...emptyAccount(),
        integrations: count.integrations,
        images: count.images,
        emptyImages: 0,
        lateImages: 0,
        sessions: Math.min(1, count.integrations),
        dataS: first && latest ? secondsBetween(first, latest) : 0,
        pictures: picture?.drawn ?? 0,
        files: [...(files?.paths ?? []), ...(picture?.paths ?? [])],
        unwrittenIntegrations: files?.unwritten ?? 0,
        ...this.use(),
      },
      stream: this.account(),
      failures: [],
      products: [],
    };
  }

  private account(): StreamAccount {
    const { count, steps } = this;
    const { polls, failedPolls, repeated, late } = count;
    const shortestStepS = steps.length > 0 ? Math.min(...steps) : undefined;
    const lost = steps.map((one) => Math.round(one / (shortestStepS ?? 1)) - 1).filter((one) => one > 0);
    const gaps = lost.length;
    const missingIntegrations = lost.reduce((sum, one) => sum + one, 0);
    return {
      facts: {
        ...{ polls, failedPolls, repeated, late },
        ...(shortestStepS !== undefined && { gaps, missingIntegrations, shortestStepS }),
      },
      lines: [
        `${count.integrations} integrations in ${polls} polls`,
        ...(repeated > 0 ? [`${repeated} polls brought the integration before: counted once`] : []),
        ...(failedPolls > 0 ? [`${failedPolls} polls without an answer`] : []),
        ...(late > 0 ? [`${late} integrations older than one before: not used`] : []),
        shortestStepS === undefined
          ? 'gaps are unknown: there is one integration or none'
          : `${gaps} gaps, ${missingIntegrations} integrations missing, by the shortest step of ${formatSeconds(shortestStepS)}`,
      ],
    };
  }
}
