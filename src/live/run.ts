/** Runs an observation of live data: opens the input, plans with the first samples, makes products until the end. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Backend } from '../backend/backend.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { openBackend } from '../backend/select.js';
import { Closers } from '../core/closing.js';
import { CorellaError } from '../core/errors.js';
import { stoppable } from '../core/ending.js';
import { parseInstant, secondsBetween } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { message, orbitMessages, textOf, type Message } from '../messages/index.js';
import { into, readsOf, type Observation } from '../observation/index.js';
import { narrowed, narrowedEpochs } from './band.js';
import { rehearse } from './chain.js';
import { shownOf, type RunContext } from './context.js';
import { LiveGains, solvedOf } from './gains.js';
import { runEpochs, type RunProducts, type NightSummary } from './run-epochs.js';
import { Steering, type SteeringStart } from './steering.js';
import {
  gainsOverTime,
  ImagerStore,
  baselineLength,
  channelsNamed,
  diffuseSky,
  modelElement,
  solvingModel,
  type ChannelRange,
} from '../stages/index.js';
import { readGainFile, writeGainFiles } from '../formats/index.js';
import { ChangeLog, logPathFor, readLog } from './log.js';
import type { LiveWatcher } from './run-epochs.js';
import { silentSource, type ReadyToListen } from '../receive/index.js';
import { takeOrbitReport } from '../sky/orbits/report.js';
import { useSky } from '../sky/use-sky.js';
import { sourcesNamed } from '../sky/chosen-sources.js';
import type { Telescope } from '../telescope/telescope.js';
import { isProduct, productNames } from '../products/index.js';
import { checkDisk } from './disk.js';
import { methodLine } from '../compose/index.js';
import { liveHistory } from './history.js';
import { openLiveInput, telescopeOf } from './input.js';
import { afterSeconds } from './long-timer.js';
import { noiseAt, noiseGains } from './noise-source.js';
import type { OpenedInput } from './opened-input.js';
import { planLive, type LivePlan } from './plan.js';
import { LiveProducts } from './products.js';
import { isRealTime, productsOf, refuseBeforehand, refuseChange, resolveLive } from './resolve.js';
import type { LiveOutcome, LivePage, LiveRunSettings } from './run-settings.js';
import { refuseNotOfTart, runTart, tartAddress } from './tart.js';

/** After the end was asked for, received data are processed for at most this long. */
const FINISH_MS = 30_000;
/** Latency of at most a quarter of a second, whatever the cadence. */
const LONGEST_BLOCK_S = 0.25;
const SHORTEST_BLOCK_S = 0.005;
const USUAL_BLOCK_S = 0.04;
/** Sources below this altitude are left out of the gain model. */
const MINIMUM_ALTITUDE_DEG = 5;

interface CheckedLive {
  readonly observation: Observation;
  readonly telescope: Telescope | undefined;
  /** What the run needs and this machine lacks. */
  readonly lacks: readonly Message[];
}

/** What can be checked before data arrive, which may be hours later. Nothing is written. */
export async function checkLive(asked: Observation): Promise<CheckedLive> {
  if (tartAddress(asked) !== undefined) refuseNotOfTart(asked);
  const observation = resolveLive(asked);
  const lacks: Message[] = [];
  const onLack = (what: string): void => {
    lacks.push(message('check.not-here', { what }));
  };
  return { observation, telescope: await refuseBeforehand(observation, { onLack }), lacks };
}

export async function runLive(asked: Observation, settings: LiveRunSettings): Promise<LiveOutcome> {
  const tart = tartAddress(asked);
  if (tart !== undefined) refuseNotOfTart(asked);
  const observation = into(resolveLive(asked), settings.into);
  if (settings.into !== undefined) await mkdir(settings.into, { recursive: true });
  const telescope = await refuseBeforehand(observation, { handsOver: settings.onItem !== undefined });
  await settings.onResolved?.(observation);
  const { machine = {} } = observation;
  await useSky(observation);
  const { backend: kind = 'auto', threads, cards } = machine;
  const device = cards === undefined ? undefined : { device: cards[0] };
  const backend = await openBackend(kind, { threads, cuda: device });
  try {
    const outcome = await (tart === undefined
      ? new LiveRun(observation, telescope, backend, settings).run()
      : runTart(tart, observation, telescope, { backend, settings }));
    orbitMessages(takeOrbitReport()).forEach(settings.say);
    return outcome;
  } finally {
    await backend.close();
  }
}

class LiveRun {
  private readonly blockS: number;
  private readonly band: ChannelRange | undefined;
  /** The ring's memory, page-locked for a card. */
  private readonly locked = new Closers();
  private readonly imagers = new ImagerStore();
  /** The plan made before any data arrived. */
  private rehearsed: LivePlan | undefined;
  private plan: LivePlan | undefined;
  private products: LiveProducts | undefined;
  private gains: LiveGains | undefined;
  private page: LivePage | undefined;
  private log: ChangeLog | undefined;
  private isStopped = false;
  /** Once the end was asked for: blocks that wait longer than this are given up. */
  private finishByMs: number | undefined;
  private isRoomSaid = false;

  constructor(
    private readonly observation: Observation,
    private readonly telescope: Telescope | undefined,
    private readonly backend: Backend,
    private readonly settings: LiveRunSettings,
  ) {
    this.blockS = blockOf(observation);
    this.band = bandOf(observation);
  }

  async run(): Promise<LiveOutcome> {
    const { observation, telescope, blockS, settings } = this;
    const { say } = settings;
    const opened = await (settings.openInput ?? openLiveInput)({
      observation,
      telescope,
      forS: this.waitsS(),
      blockS,
      say,
      beforeListening: (ready, whole) => this.beforeListening(ready, whole),
    });
    const input = this.narrowedInput(opened);
    // Before data arrive, a signal ends the program.
    const stop = stoppable('live');
    try {
      const end = (): void => {
        say('stopping: received data are processed');
        this.finishByMs ??= performance.now() + FINISH_MS;
        input.stop();
      };
      const stopIt = (): void => {
        this.isStopped = true;
        end();
      };
      stop.signal.addEventListener('abort', stopIt, { once: true });
      settings.stop?.addEventListener('abort', stopIt, { once: true });
      if (settings.stop?.aborted === true) stopIt();
      const waitsS = this.waitsS();
      const callOff = waitsS !== undefined && input.isLive ? afterSeconds(waitsS, end) : undefined;
      const shown = await settings.openPage?.(input, { observation, backend: this.backend, stop: stopIt });
      this.page = shown?.page;
      try {
        const summary = await this.observe(this.page?.input ?? input);
        const stream = input.stream?.();
        await this.writeNoiseGains(input);
        return {
          observation,
          summary,
          plan: this.plan,
          isStopped: this.isStopped,
          packets: input.packets?.(),
          stream,
          failures: this.products?.failures ?? [],
          products: this.products?.made ?? [],
        };
      } finally {
        callOff?.();
        await this.gains?.close();
        await this.log?.close();
        await shown?.close();
      }
    } finally {
      await input.close();
      await this.imagers.close();
      await this.locked.close();
      stop.release();
    }
  }

  private async writeNoiseGains(input: OpenedInput): Promise<void> {
    const { plan } = this;
    const path = this.observation.source['noise-gains'];
    const solved = input.noise?.() ?? [];
    if (path === undefined) return;
    const { frequenciesHz, channelWidthHz } = plan?.spectra ?? {
      frequenciesHz: new Float64Array(),
      channelWidthHz: NaN,
    };
    const tuned = noiseAt(solved, frequenciesHz);
    if (!plan || tuned.length === 0) {
      this.settings.say(`${path} was not written: the noise source was not on at this frequency`);
      return;
    }
    const { telescope } = plan;
    const history = [this.settings.version, `delays and phases by the noise source of ${input.description}`];
    await writeGainFiles(path, noiseGains(tuned, { telescope, frequenciesHz, history }), {
      telescope,
      channelWidthHz,
      durationS: tuned[0].solution.samples / tuned[0].sampleRateHz,
    });
    this.settings.say(`${path}: gains at ${tuned.length} times, by the noise source`);
  }

  /** Longest wait, by the wall clock. */
  private waitsS(): number | undefined {
    const { for: forS, end } = this.observation;
    if (end === undefined) return forS;
    const now = { unixSeconds: Math.floor(Date.now() / 1000), fraction: (Date.now() % 1000) / 1000 };
    // Data arrive some time after they were sampled.
    const untilEndS = Math.max(1, secondsBetween(now, parseInstant(end, 'end')) + 10);
    return Math.min(forS ?? Infinity, untilEndS);
  }

  /** A chain that is too slow would be at work for minutes after the end. */
  private isOverdue({ isLive }: OpenedInput): boolean {
    return isLive && this.finishByMs !== undefined && performance.now() > this.finishByMs;
  }

  /** The input, reduced to its part of the band. */
  private narrowedInput(input: OpenedInput): OpenedInput {
    const { band } = this;
    return band === undefined
      ? input
      : // Only the stream epochs are wrapped; the methods stay bound to the input.
        Object.assign(Object.create(input) as OpenedInput, {
          sessions: () => narrowedEpochs(input, band),
        });
  }

  private observe(input: OpenedInput): Promise<NightSummary> {
    const { observation, settings, page } = this;
    const { start, end } = observation;
    const watcher: LiveWatcher = {
      session: (source, shown) => page?.watcher.session(source, shown),
      integration: async (integration) => {
        await page?.watcher.integration(integration);
        await this.gains?.integration(integration);
      },
      image: (sky) => page?.watcher.image(sky),
    };
    return runEpochs({
      input,
      forS: observation.for,
      isOverdue: () => this.isOverdue(input),
      onEvent: settings.onEvent,
      watcher,
      start: start === undefined ? undefined : parseInstant(start, 'start'),
      end: end === undefined ? undefined : parseInstant(end, 'end'),
      prepare: (source) => this.prepare(source, input),
    });
  }

  /** Refuses what it can, and does slow preparations, before the first packet can be lost. */
  private async beforeListening(ready: ReadyToListen, whole: Telescope | undefined): Promise<void> {
    const { backend, band, blockS } = this;
    const description = `${ready.ring.stream.format} packets`;
    const silence = band === undefined ? silentSource(ready) : narrowed(silentSource(ready), band);
    const telescope = telescopeOf(silence, whole, description);
    const plan = await planLive(this.observation, silence, telescope, {
      backend,
      blockS,
      description,
      data: 'arrive',
    });
    await this.checkDisk(plan, this.settings.say);
    if (backend.kind === 'cuda' && 'frequenciesHz' in ready.band) this.lockMemory(backend, ready.memory);
    await rehearse(silence, { backend, plan, imagers: this.imagers });
    this.rehearsed = plan;
  }

  /** Without locked pages the host copies blocks once more: slower, and reported. */
  private lockMemory({ session }: CudaBackend, memory: ReadyToListen['memory']): void {
    try {
      for (const block of memory) this.locked.keep(session.lockPages('a block of the ring', block));
    } catch (error) {
      if (!(error instanceof CorellaError)) throw error;
      this.settings.say(
        `the ring's memory is not page-locked, so blocks are copied on the host first: ${error.what}`,
      );
    }
  }

  private async checkDisk(
    { integrationS, spectra, telescope }: LivePlan,
    say: LiveRunSettings['say'],
  ): Promise<void> {
    const { visibilities } = productsOf(this.observation);
    const { channels, frequenciesHz, polarisations } = spectra;
    const kept = visibilities?.channels?.join(',');
    const room = await checkDisk({
      integrationS,
      polarisations,
      stations: telescope.stations.length,
      channels:
        kept === undefined
          ? channels
          : channelsNamed(kept, frequenciesHz, 'products.visibilities.channels').length,
      out: visibilities?.visibilities ?? undefined,
      for: this.observation.for,
    });
    // Once, and not with every restart of the senders.
    if (room && !this.isRoomSaid) say(room);
    this.isRoomSaid = true;
  }

  /** Prepares everything that depends on the first samples. */
  private async prepare(source: Source, input: OpenedInput): Promise<RunProducts> {
    const { backend, blockS, observation, page } = this;
    const { say } = this.settings;
    const { description } = input;
    const telescope = telescopeOf(source, this.telescope ?? input.telescope, description);
    const plan = await planLive(observation, source, telescope, {
      backend,
      blockS,
      description,
      data: input.isLive ? 'arrive' : 'wait',
      known: this.rehearsed,
      solutions: {
        onUnused: (why) => {
          say(message('gains.solution-not-used', { why }));
          page?.gainsEvents.failed(why);
        },
        onSolution: ({ solution }, at) => page?.gainsEvents.solved(solvedOf(solution), { at }),
      },
    });
    this.plan = plan;
    this.settings.onPlan?.(plan);
    [
      ...plan.warnings,
      ...Array.from(plan.methods.values()).flatMap(({ slow }) => slow ?? []),
      ...new Set(Array.from(plan.methods.values(), ({ chosen }) => methodLine(chosen))),
    ].forEach(say);
    if (input.isLive) await this.checkDisk(plan, say);
    for (const path of outputsOf(observation)) await mkdir(dirname(path), { recursive: true });
    const steering = await this.steeringFor(plan);
    if (steering) this.settings.onSteering?.(steering, plan);
    const reads = await readsOf(observation, input.paths ?? []);
    let leftOut = 0;
    const context: RunContext = {
      backend,
      plan,
      steering,
      imagers: this.imagers,
      look: page?.look,
      onBeams: page && ((product, seen) => page.watcher.beams?.(product, seen)),
      onItem: this.settings.onItem,
      late: input.isLive
        ? {
            isBehind: () => input.isBehind?.() ?? false,
            leftOut: () => {
              if (leftOut++ === 0) say(message('image.late'));
            },
            get count() {
              return leftOut;
            },
          }
        : undefined,
      writing: {
        historyOf: (product) =>
          liveHistory(this.settings.version, observation, product, {
            reads: reads(product),
            description,
            notes: plan.warnings.map(textOf),
            log: this.log?.path,
          }),
        onFile: (event) => {
          this.settings.onFile(event);
          page?.file(event);
        },
        onFault: say,
      },
    };
    const products = new LiveProducts(context);
    this.products = products;
    this.gains = this.gainsFor(context);
    this.settings.onStart?.(source, description, `${backend.kind}: ${backend.description}`);
    const { visibilities, images } = productsOf(observation);
    page?.begin({
      ...{ shown: shownOf(context), gains: this.gains, isSteered: true },
      files: isReceived(visibilities?.visibilities, this.settings) ? products : undefined,
      channelWidthHz: plan.spectra.channelWidthHz,
      spectrumRateHz: plan.spectra.grid.spectrumRateHz,
      sources: images?.sources,
      picture: images?.images ?? undefined,
    });
    return { products, late: () => leftOut };
  }

  /** Steering of what may change during the run. */
  private async steeringFor(plan: LivePlan): Promise<Steering | undefined> {
    const { observation, settings } = this;
    const { log } = observation;
    const isSteered = this.page !== undefined || settings.onSteering !== undefined || log !== undefined;
    if (!isSteered) return undefined;
    const { telescope, spectra } = plan;
    const loadGains = async (file: string) =>
      gainsOverTime(await readGainFile(file), file, telescope, spectra.frequenciesHz, 'live');
    const beside = outputsOf(observation).at(0);
    if ((this.page ?? settings.onSteering) && log === undefined && beside !== undefined)
      this.log = ChangeLog.open(logPathFor(beside), settings.version, settings.say);
    return steeringOf(plan, {
      beams: beamPlaces(observation),
      check: (change, places, at) => {
        refuseChange(observation, change);
        if ('beams' in change) this.products?.refusePlaces(change.beams.product, places, at);
      },
      onChange: this.log?.add,
      logged: log === undefined ? undefined : await readLog(log, loadGains),
    });
  }

  private gainsFor({ plan, steering }: RunContext): LiveGains | undefined {
    const { imaging, observation, spectra, telescope } = plan;
    const { frequenciesHz } = spectra;
    if (!steering || !imaging) return undefined;
    const { solve, element, diffuse, 'min-baseline': least } = observation.gains ?? {};
    const names = solve ?? productsOf(observation).images?.sources ?? 'all';
    const gains = new LiveGains(
      {
        backend: this.backend,
        telescope,
        frequenciesHz,
        polarisations: telescope.polarisations,
        sources: sourcesNamed(names === 'all' ? 'all' : names.split(',').map((one) => one.trim())),
        minimumAltitudeDeg: MINIMUM_ALTITUDE_DEG,
        model: () =>
          solvingModel(
            {
              element: modelElement(element, telescope),
              diffuse: diffuse === undefined ? undefined : diffuseSky(diffuse),
              minBaseline: least === undefined ? undefined : baselineLength(least),
            },
            telescope,
            frequenciesHz,
          ),
      },
      steering,
      {
        solved: (solved, from) => this.page?.gainsEvents.solved(solved, from),
        failed: (why) => this.page?.gainsEvents.failed(why),
      },
    );
    return gains;
  }
}

/**
 * Length of a block of packets. In real time images wait for it. A capture always has the same length, so that it
 * begins and ends at the same samples for all products.
 */
function blockOf(observation: Observation): number {
  const everyS = observation.products.flatMap((one) =>
    'images' in one ? [one.every ?? LONGEST_BLOCK_S] : [],
  );
  if (!isRealTime(observation) || everyS.length === 0) return USUAL_BLOCK_S;
  return Math.max(SHORTEST_BLOCK_S, Math.min(LONGEST_BLOCK_S, ...everyS));
}

const outputsOf = ({ products }: Observation): string[] =>
  products.flatMap((one) =>
    Object.entries(one).flatMap(([key, value]) =>
      (productNames as readonly string[]).includes(key) && typeof value === 'string' ? [value] : [],
    ),
  );

/** The beam positions of each product at the start. */
const beamPlaces = ({ products, front }: Observation): ReadonlyMap<number, readonly string[]> =>
  new Map(
    products.flatMap((one, number) =>
      isProduct('beams', one) ? [[number, one.towards ?? [front?.delays?.track ?? []].flat()] as const] : [],
    ),
  );

function bandOf({ source }: Observation): ChannelRange | undefined {
  if (source.channels === undefined) return undefined;
  const [first, last] = source.channels.split('-').map(Number);
  return { first, end: last + 1 };
}

/** Whether integrations reach a file or a program. */
const isReceived = (path: string | null | undefined, { onItem }: LiveRunSettings): boolean =>
  path !== undefined && (path !== null || onItem !== undefined);

/** What may change while data arrive. */
export const steeringOf = (
  { integrationS, observed }: Pick<LivePlan, 'integrationS' | 'observed'>,
  more: Pick<SteeringStart, 'beams' | 'check' | 'onChange' | 'logged'> = {},
): Steering =>
  new Steering({
    ...more,
    flaggedInputs: observed.flaggedInputs,
    integrationS,
    calibrated: observed.calibrated,
  });
