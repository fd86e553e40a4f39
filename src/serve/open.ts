/** Opens the page of a run: a server, its web socket, and updates every second. */
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Closable } from '../core/closing.js';
import { CorellaError, refuse } from '../core/errors.js';
import { formatInstant } from '../core/instant.js';
import type { Integration } from '../core/blocks.js';
import { baselineIndex, baselineCount } from '../core/axes.js';
import { productCount } from '../core/product-counts.js';
import type { GainsEvents, Steering } from '../live/index.js';
import { ReImager } from './reimage/reimager.js';
import { Commands, isCommand, type Helm, type Receiver } from './commands.js';
import { GainHistory } from './gain-history.js';
import { isLoopback, makeToken, openGuard, reachableName } from './guard.js';
import { createHttp } from './http.js';
import { arrayMessage, Hub, textMessage } from './clients/hub.js';
import { readsOfAll, steeringAll, type JoinedPage } from './joined/joined.js';
import { Journal } from './journal.js';
import { LiveState, type PageFacts } from './live-state.js';
import type { CheckView, PlanView, Status, Topic } from './messages.js';
import { Metrics } from './metrics.js';
import { readsOf } from './reads.js';
import { faultsOf } from './rules.js';
import { Webhook } from './webhook.js';
import { chainOf, measure, planOf, statusOf, type Surroundings } from './views.js';

interface PageSettings {
  readonly host: string;
  /** `orAny`: any free port if this one is in use. */
  readonly port: number;
  readonly orAny?: boolean;
  /** Further names of the page. */
  readonly names?: readonly string[];
  readonly token?: string;
  readonly facts: PageFacts;
  readonly journal?: string;
  /** Receives each alarm. */
  readonly alarmUrl?: string;
  readonly receiver?: Receiver;
  /** For a page of several machines: it shows and steers all of them. */
  readonly joined?: JoinedPage;
  readonly stop: () => void;
  readonly say: (line: string) => void;
}

const SECOND_MS = 1000;

export async function openPage(settings: PageSettings): Promise<Page> {
  const page = new Page(settings);
  await page.open();
  return page;
}

export class Page implements Closable {
  readonly token: string;
  /** Whether only this machine can reach it; other machines need the token for reading too. */
  readonly isLocal: boolean;
  readonly state: LiveState;
  /** Re-imaging; runs in time given by the chain. */
  readonly reImager: ReImager;
  private readonly gains = new GainHistory();
  private readonly metrics = new Metrics(() => this.measured());
  private readonly hub = new Hub((topic) => this.messageOf(topic));
  private readonly journal: Journal;
  private readonly webhook: Webhook | undefined;
  private readonly commands: Commands;
  private readonly server: ReturnType<typeof createHttp>;
  private port: number;
  private timer: NodeJS.Timeout | undefined;
  private helm: Helm | undefined;
  private checked: (() => CheckView | undefined) | undefined;

  constructor(private readonly settings: PageSettings) {
    const { facts, joined, host, port, receiver, alarmUrl, say, token = makeToken() } = settings;
    this.token = token;
    this.port = port;
    this.isLocal = isLoopback(host);
    this.webhook = alarmUrl === undefined ? undefined : new Webhook(alarmUrl, say);
    const { metrics, hub } = this;
    const publishJournal = (): void => {
      this.publish('journal');
    };
    const journal = (this.journal = new Journal(publishJournal, settings.journal, say));
    const state = (this.state = new LiveState(facts, {
      onLatency: metrics.observeLatency,
      onLateness: metrics.observeLateness,
      onAlarm: (alarm, isUp) => {
        const { where, what } = alarm;
        this.webhook?.alarm(alarm, isUp, new Date());
        this.note('corella', `${isUp ? 'alarm' : 'over'}: ${where}: ${what}`);
      },
    }));
    state.listen({
      hasListeners: (topic) => hub.hasListeners(topic),
      changed: (topic) => {
        this.publish(topic);
      },
      bandpass: (integration) => {
        this.publishSpectra(integration);
      },
      beams: (head, values) => {
        hub.publishArray('beams', head, values);
      },
    });
    const reImager = (this.reImager = new ReImager(state));
    reImager.isIdle = facts.showing !== undefined;
    const commands = (this.commands = new Commands({
      helm: () => this.helm,
      receiver,
      journal,
      alarms: state.alarms,
      stop: () => {
        state.isStopping = true;
        settings.stop();
      },
    }));
    const reads = readsOf({ state, reImager, journal, around: () => this.around() });
    this.server = createHttp({
      guard: openGuard({ host, port: () => this.port, token, names: settings.names ?? [] }),
      hub,
      metrics,
      commands: joined ? steeringAll(joined, commands, journal) : commands,
      gets: { ...reads, ...(joined && readsOfAll(joined, () => this.status())) },
    });
  }

  async open(): Promise<void> {
    this.port = await listen(this.server, this.settings);
    this.timer = setInterval(() => {
      this.tick();
    }, SECOND_MS);
  }

  /** The page's address, without and with the steering token. */
  get url(): string {
    return `http://${reachableName(this.settings.host)}:${this.port}/`;
  }

  get steerUrl(): string {
    return `${this.url}#token=${this.token}`;
  }

  private around(): Surroundings {
    const { hub, gains, helm, checked } = this;
    return {
      clients: hub.count,
      dropped: hub.dropped,
      gains,
      steerable: helm !== undefined,
      check: checked,
    };
  }

  private measured() {
    const { state, gains, settings } = this;
    const { packets } = settings.facts;
    return {
      packets: packets?.(),
      ...(state.isNow && state.senders?.clockErrorS && { clockErrorS: state.senders.clockErrorS.mean }),
      antennas: state.antennas?.rows(undefined) ?? [],
      status: statusOf(state, this.around()),
      chain: chainOf(state, this.around()),
      totals: state.totals,
      newestFileUnixS: state.minutes.newestUnixS,
      ...(gains.residual !== undefined && { residual: gains.residual }),
      unsolvedInputs: gains.unsolved,
    };
  }

  status(): Status {
    const own = statusOf(this.state, this.around());
    return this.settings.joined?.status(own) ?? own;
  }

  plan(): PlanView | undefined {
    const { joined } = this.settings;
    return joined ? joined.plan() : planOf(this.state);
  }

  private valueOf(topic: Topic): unknown {
    const { state, gains, journal } = this;
    const { joined } = this.settings;
    const values = {
      status: () => this.status(),
      plan: () => this.plan(),
      sources: () => state.sendersView(),
      antennas: () => state.antennas?.rows(state.begun?.shown.steering?.latestGains),
      fringes: () => state.fringes?.view(),
      gains: () => gains.view(),
      chain: () => chainOf(state, this.around()),
      observation: () => (joined ? joined.observation() : state.minutes.view()),
      machines: () => joined?.machines(),
      alarms: () => state.alarms.all,
      journal: () => journal.entries,
    } satisfies Partial<Record<Topic, () => unknown>>;
    return topic in values ? values[topic as keyof typeof values]() : undefined;
  }

  private bandpassHead(time: string) {
    const { antennas, begun } = this.state;
    return { time, shape: [antennas?.levels.length ?? 0, begun?.shown.frequenciesHz.length ?? 0] };
  }

  /** For a client that has just subscribed. */
  private messageOf(topic: Topic) {
    const { frame, antennas, methods, imageAgeS, totals } = this.state;
    if (topic === 'sky') return frame && arrayMessage({ ...frame.head, ageS: imageAgeS ?? 0 }, frame.plane);
    if (topic === 'methods') return methods && arrayMessage(methods.head, methods.values);
    if (topic === 'bandpass')
      return antennas && totals.integrations > 0
        ? arrayMessage({ topic, ...this.bandpassHead('') }, antennas.bandpass)
        : undefined;
    const value = this.valueOf(topic);
    return value === undefined ? undefined : textMessage(topic, value);
  }

  publish(topic: Topic): void {
    this.hub.changed(topic);
  }

  private publishSpectra(integration: Integration): void {
    const { hub, state } = this;
    const time = formatInstant(integration.start, 3);
    if (state.antennas) hub.publishArray('bandpass', this.bandpassHead(time), state.antennas.bandpass);
    for (const pair of hub.pairs()) publishBaseline(hub, integration, pair);
  }

  private tick(): void {
    const { state, settings } = this;
    const { facts, joined } = settings;
    const nowS = Date.now() / 1000;
    state.load.tick();
    const { files } = state.begun ?? {};
    if (files) state.minutes.wrote(files.written, files.unwritten, nowS);
    if (facts.packets) state.senders?.tick(facts.packets(), nowS);
    joined?.tick();
    const faults = [...faultsOf(measure(state, this.around())), ...(joined?.faults() ?? [])];
    if (state.alarms.update(faults, nowS)) this.publish('alarms');
    for (const topic of ['status', 'sources', 'chain', 'observation', 'machines'] as const)
      this.publish(topic);
  }

  readonly gainsEvents: GainsEvents = {
    solved: (solved, from) => {
      this.gains.changed(solved);
      this.journal.add({
        who: 'corella',
        what: `gains of ${solved.solvedInputs} inputs solved, residual ${(100 * solved.residual).toFixed(1)} %`,
        fromTick: from.tick?.toString(),
        from: formatInstant(from.at, 6),
      });
      this.publish('gains');
    },
    failed: (why) => {
      this.note('corella', `gains were not solved: ${why}`);
      this.publish('gains');
    },
  };

  /** Called when data arrive: from now on the run can be steered. */
  steer(given: Omit<Helm, 'gainsChanged'>): void {
    this.gains.follow(given.steering, given.gains, given.steering.flags.latest.length);
    this.helm = {
      ...given,
      gainsChanged: () => {
        this.gains.changed();
        this.publish('gains');
      },
    };
  }

  /** Shows gains if nothing can be steered. */
  showGains(steering: Steering): void {
    this.gains.follow(steering, undefined, steering.flags.latest.length);
  }

  /** Shows the latest check of the live data against the reference. */
  check(view: () => CheckView | undefined): void {
    this.checked = view;
  }

  /** Adds an entry to the journal. */
  note(who: string, what: string): void {
    this.journal.add({ who, what });
  }

  /** The page's commands, for other steering clients. */
  async command(name: string, body: unknown, who: string, mode: 'run' | 'rehearse') {
    return isCommand(name)
      ? this.commands.run(name, body, who, mode)
      : refuse('steer', `'${name}' is no command`, 'choose flags, gains, integration, recording or stop');
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.state.load.close();
    await this.reImager.close();
    await this.journal.close();
    await this.webhook?.close();
    this.hub.close();
    this.server.closeAllConnections();
    await new Promise<void>((resolve) =>
      this.server.close(() => {
        resolve();
      }),
    );
  }
}

/** baseline : [product][c][re, im], means over the integration; NaN without data. */
function publishBaseline(hub: Hub, integration: Integration, pair: readonly [number, number]): void {
  const { channels, stations, polarisations, visibilities, start } = integration;
  const [i, j] = [Math.max(...pair), Math.min(...pair)];
  if (i >= stations) return;
  const baselines = baselineCount(stations);
  const products = polarisations ** 2;
  const values = new Float32Array(2 * products * channels);
  for (let c = 0; c < channels; c++) {
    const b = c * baselines + baselineIndex(i, j);
    for (let k = 0; k < products; k++) {
      const count = productCount(integration, b, Math.floor(k / polarisations), k % polarisations);
      for (let part = 0; part < 2; part++)
        values[2 * (k * channels + c) + part] =
          count > 0 ? visibilities[2 * (b * products + k) + part] / count : NaN;
    }
  }
  hub.publishArray(
    'baseline',
    { pair: [i, j], time: formatInstant(start, 3), shape: [products, channels, 2] },
    values,
  );
}

/** Refuses before the run rather than when the first data arrive. */
export async function checkPageAddress(address: Pick<PageSettings, 'host' | 'port'>): Promise<void> {
  const server = createServer();
  await listen(server, address);
  await new Promise((resolve) => server.close(resolve));
}

async function listen(
  server: Server,
  settings: Pick<PageSettings, 'host' | 'port' | 'orAny'>,
): Promise<number> {
  const { host, port, orAny } = settings;
  const attempt = (wanted: number): Promise<number> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, host.replace(/^\[|\]$/g, ''), () => {
        server.removeListener('error', reject);
        resolve((server.address() as AddressInfo).port);
      });
    });
  try {
    return await attempt(port);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && orAny === true) return attempt(0);
    throw new CorellaError(
      {
        where: `page.address: ${host}:${port}`,
        what: code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be listened on (${code})`,
        fix: 'give another address, or page.address: false',
        code: 'network.unavailable',
      },
      { cause: error },
    );
  }
}
