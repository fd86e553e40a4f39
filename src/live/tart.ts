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
import { spectraOfFront, type ComposedProduct } from '../compose/index.js';
import type { SpectraSource } from '../core/sources.js';
import {
  emptyAccount,
  integrationClock,
  matchGains,
  type Calibrated,
  type SkyImage,
} from '../stages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { shownOf } from './context.js';
import { machineUse } from './run-epochs.js';
import type { OpenedInput, StreamAccount } from './opened-input.js';
import { imagingOf, type LivePlan } from './plan.js';
import { LiveProducts } from './products.js';
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
  if (new Set(products.map(productName)).size < products.length)
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

/** The snapshots as spectra, for planning. */
function sourceOf({ telescope, facts }: TartApi): SpectraSource {
  return {
    kind: 'spectra',
    type: 'cf32',
    inputs: telescope.stations.length,
    polarisations: 1,
    channels: 1,
    spectrumRateHz: 1 / ALONE_S,
    frequenciesHz: Float64Array.of(facts.skyFrequencyHz),
    channelWidthHz: facts.bandwidthHz,
    start: { unixSeconds: Math.floor(Date.now() / 1000), fraction: 0 },
    blocks: () => refuse('source.stream', 'a TART has no samples', 'report this'),
    close: nothingToClose,
  };
}

const isOfIntegrations = (
  product: ComposedProduct,
): product is Extract<ComposedProduct, { readonly from: 'integrations' }> => product.from === 'integrations';

class TartRun {
  private products: LiveProducts | undefined;
  private epoch: Awaited<ReturnType<LiveProducts['begin']>> | undefined;
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
    const { facts, url } = api;
    const { visibilities, images } = productsOf(observation);
    this.gains = await this.gainsAtStart(images !== undefined);
    for (const path of [visibilities?.visibilities, images?.images])
      if (path !== undefined && path !== null) await mkdir(dirname(path), { recursive: true });
    const reads = await readsOf(observation, []);
    const source = sourceOf(api);
    const plan = this.planOf(source);
    const products = new LiveProducts({
      backend,
      plan,
      onItem: settings.onItem,
      writing: {
        historyOf: (product) => [
          ...historyOf(settings.version, observation, product, reads(product)),
          `${facts.title}: visibilities of its API, ${url}`,
        ],
        onFile: (event) => {
          settings.onFile(event);
          this.page?.file(event);
        },
        onFault: settings.say,
      },
    });
    closers.keep(products);
    this.products = products;
    products.listener = {
      image: (sky) => {
        this.image(sky);
      },
    };
    settings.say(`${this.description}; ${backend.kind}: ${backend.description}`);
    const { file: own } = this.gains;
    // The page images again with them.
    const steering = new Steering({
      ...{ flaggedInputs: plan.observed.flaggedInputs, integrationS: ALONE_S },
      calibrated: own && ((): Calibrated => this.calibrationBy(this.gains.file ?? own)),
    });
    const shown = await settings.openPage?.(this.input(stop), { observation, backend, stop });
    if (shown) closers.keep(shown);
    this.page = shown?.page;
    this.page?.begin({
      shown: shownOf({ backend, plan, steering }),
      ...{ files: visibilities && products, picture: images?.images ?? undefined, isSteered: false },
      channelWidthHz: source.channelWidthHz,
      spectrumRateHz: source.spectrumRateHz,
      sources: images?.sources,
    });
    const clock = integrationClock({ integrationS: ALONE_S }, plan.spectra.grid);
    this.epoch = await products.begin(plan.front, source, { cuts: clock, files: clock });
    for (const { stage } of this.epoch.composed) closers.keep(stage);
  }

  /** Snapshots are integrations: nothing is cut, summed or flagged. */
  private planOf(source: SpectraSource): LivePlan {
    const { api, observation } = this;
    const { telescope } = api;
    const front = { source };
    const { visibilities, images } = productsOf(observation);
    const observed = {
      telescope,
      flaggedInputs: new Uint8Array(telescope.stations.length),
      rules: [],
      discs: discsOf(observation.flags ?? {}),
      calibrated: (): Calibrated => this.calibration(),
      gainsAre: 'relative' as const,
      equaliserIsLost: false,
    };
    const numberOf = (one: object | undefined): number => observation.products.findIndex((k) => k === one);
    return {
      observation,
      telescope,
      frontSettings: { telescope },
      front,
      spectra: spectraOfFront(front),
      observed,
      shown: { visibilities: numberOf(visibilities), images: numberOf(images) },
      integrationS: ALONE_S,
      align: 'first-sample',
      imaging: images && { ...imagingOf(images, observed), unit: 'counts' },
      warnings: [],
      methods: new Map(),
      kurtosis: [],
    };
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

  private calibration(): Calibrated {
    const { file } = this.gains;
    return this.calibrationBy(file ?? refuse('gains.file', 'is not given', 'give it to make images'));
  }

  private calibrationBy(file: GainsFile): Calibrated {
    const { url, telescope, facts } = this.api;
    return matchGains(file, url, telescope, Float64Array.of(facts.skyFrequencyHz));
  }

  private image(sky: SkyImage): void {
    this.count.images++;
    const { start, durationS } = sky;
    this.settings.onEvent({ kind: 'image', start: formatInstant(start, 3), durationS });
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
    for (const product of this.epoch?.composed ?? [])
      if (isOfIntegrations(product)) await product.stage.push(integration, () => Promise.resolve());
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
    const { count, epoch, first, latest, observation, products } = this;
    for (const { stage } of epoch?.composed ?? []) await stage.flush(() => Promise.resolve());
    await epoch?.finish();
    await products?.close();
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
        pictures: products?.drawn ?? 0,
        files: products?.paths ?? [],
        unwrittenIntegrations: products?.unwritten ?? 0,
        ...this.use(),
      },
      stream: this.account(),
      failures: products?.failures ?? [],
      products: products?.made ?? [],
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
