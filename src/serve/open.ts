/** Opens the page of a run: a server, its web socket, and updates every second. */
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { Closable } from '../core/closing.js';
import { CorellaError, refuse } from '../core/errors.js';
import { formatInstant } from '../core/instant.js';
import type { Integration } from '../core/blocks.js';
import { baselineIndex, baselineCount } from '../core/axes.js';
import { productCount } from '../core/product-counts.js';
import type { GainsEvents, Steering } from '../live/index.js';
import { Again } from './again/again.js';
import { Commands, isCommand, type Helm, type Receiver } from './commands.js';
import { GainsBook } from './gains-book.js';
import { isLoopback, makeToken, openGuard, reachableName } from './guard.js';
import { createHttp } from './http.js';
import { arrayMessage, Hub, textMessage } from './clients/hub.js';
import type { Joined } from './joined/joined.js';
import { Journal } from './journal.js';
import { LiveState, type NightFacts } from './live-state.js';
import type { CheckView, PlanView, Status, Topic } from './messages.js';
import { Metrics } from './metrics.js';
import { readsOf } from './reads.js';
import { readsOfAll, steeringAll } from './joined/answers.js';
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
  readonly facts: NightFacts;
  readonly journal?: string;
  /** Receives each alarm. */
  readonly alarmUrl?: string;
  readonly receiver?: Receiver;
  /** For a page of several machines: it shows and steers all of them. */
  readonly joined?: Joined;
  readonly stop: () => void;
  readonly say: (line: string) => void;
}

export interface Page extends Closable {
  /** The page's address, without and with the steering token. */
  readonly url: string;
  readonly steerUrl: string;
  readonly token: string;
  /** Whether only this machine can reach it; other machines need the token for reading too. */
  readonly isLocal: boolean;
  readonly state: LiveState;
  /** Re-imaging; runs in time given by the chain. */
  readonly again: Again;
  readonly gainsEvents: GainsEvents;
  /** Called when data arrive: from now on the run can be steered. */
  steer(helm: Omit<Helm, 'gainsChanged'>): void;
  /** Shows gains if nothing can be steered. */
  showGains(steering: Steering): void;
  /** Shows the latest check of the live data against the reference. */
  check(view: () => CheckView | undefined): void;
  publish(topic: Topic): void;
  /** Adds an entry to the journal. */
  note(who: string, what: string): void;
  status(): Status;
  plan(): PlanView | undefined;
  /** The page's commands, for other steering clients. */
  command(
    name: string,
    body: unknown,
    who: string,
    mode: 'run' | 'rehearse',
  ): Promise<{ readonly from: string; readonly fromTick: string }>;
}

const SECOND_MS = 1000;

export async function openPage(settings: PageSettings): Promise<Page> {
  const token = settings.token ?? makeToken();
  const { facts, joined } = settings;
  const webhook = settings.alarmUrl === undefined ? undefined : new Webhook(settings.alarmUrl, settings.say);
  let helm: Helm | undefined;
  let check: (() => CheckView | undefined) | undefined;
  const gains = new GainsBook();
  const around = (): Surroundings => ({
    clients: hub.count,
    dropped: hub.dropped,
    gains,
    steerable: helm !== undefined,
    ...(check && { check }),
  });
  const metrics: Metrics = new Metrics(() => ({
    ...(facts.packets && { packets: facts.packets() }),
    ...(state.isNow && state.senders?.clockErrorS && { clockErrorS: state.senders.clockErrorS.mean }),
    antennas: state.antennas?.rows(undefined) ?? [],
    status: statusOf(state, around()),
    chain: chainOf(state, around()),
    totals: state.totals,
    ...(state.book.newestUnixS !== undefined && { newestFileUnixS: state.book.newestUnixS }),
    ...(gains.residual !== undefined && { residual: gains.residual }),
    ...(gains.unsolved !== undefined && { unsolvedInputs: gains.unsolved }),
  }));
  const state: LiveState = new LiveState(facts, {
    onLatency: metrics.observeLatency,
    onLateness: metrics.observeLateness,
    onAlarm: (alarm, isUp) => {
      const { where, what } = alarm;
      webhook?.alarm(alarm, isUp, new Date());
      journal.add({ who: 'corella', what: `${isUp ? 'alarm' : 'over'}: ${where}: ${what}` });
    },
  });
  const status = (): Status => {
    const own = statusOf(state, around());
    return joined ? joined.status(own) : own;
  };
  const values = {
    status,
    plan: () => (joined ? joined.plan() : planOf(state)),
    sources: () => state.sendersView(),
    antennas: () => state.antennas?.rows(state.begun?.live.steering?.latestGains),
    fringes: () => state.fringes?.view(),
    gains: () => gains.view(),
    chain: () => chainOf(state, around()),
    night: () => (joined ? joined.night() : state.book.view()),
    machines: () => joined?.machines(),
    alarms: () => state.alarms.all,
    journal: () => journal.entries,
  } satisfies Partial<Record<Topic, () => unknown>>;
  const valueOf = (topic: Topic): unknown =>
    topic in values ? values[topic as keyof typeof values]() : undefined;
  const bandpassHead = (time: string) => ({
    time,
    shape: [state.antennas?.levels.length ?? 0, state.begun?.live.frequenciesHz.length ?? 0],
  });
  const hub = new Hub({
    state: (topic) => {
      const { frame, antennas, roads } = state;
      if (topic === 'sky')
        return frame && arrayMessage({ ...frame.head, ageS: state.imageAgeS ?? 0 }, frame.plane);
      if (topic === 'roads') return roads && arrayMessage(roads.head, roads.values);
      if (topic === 'bandpass')
        return antennas && state.totals.integrations > 0
          ? arrayMessage({ topic, ...bandpassHead('') }, antennas.bandpass)
          : undefined;
      const value = valueOf(topic);
      return value === undefined ? undefined : textMessage(topic, value);
    },
  });
  const publish = (topic: Topic): void => {
    hub.changed(topic);
  };
  const journal = new Journal(
    () => {
      publish('journal');
    },
    settings.journal,
    settings.say,
  );
  state.listen({
    hasListeners: (topic) => hub.hasListeners(topic),
    changed: publish,
    bandpass: (integration) => {
      const time = formatInstant(integration.start, 3);
      if (state.antennas) hub.publishArray('bandpass', bandpassHead(time), state.antennas.bandpass);
      for (const pair of hub.pairs()) publishBaseline(hub, integration, pair);
    },
    beams: (head, values) => {
      hub.publishArray('beams', head, values);
    },
  });
  const again = new Again(state);
  again.isIdle = facts.showing !== undefined;
  const commands = new Commands({
    helm: () => helm,
    ...(settings.receiver && { receiver: settings.receiver }),
    journal,
    alarms: state.alarms,
    stop: () => {
      state.isStopping = true;
      settings.stop();
    },
  });
  const guard = openGuard({
    host: settings.host,
    port: () => (server.address() as AddressInfo | null)?.port ?? settings.port,
    token,
    names: settings.names ?? [],
  });
  const server = createHttp({
    guard,
    hub,
    metrics,
    commands: joined ? steeringAll(joined, commands, journal) : commands,
    gets: { ...readsOf({ state, again, journal, around }), ...(joined && readsOfAll(joined, status)) },
  });
  const port = await listen(server, settings);
  const timer = setInterval(() => {
    state.load.tick();
    const { files } = state.begun ?? {};
    if (files) state.book.wrote(files.written, files.unwritten, Date.now() / 1000);
    if (facts.packets) state.senders?.tick(facts.packets(), Date.now() / 1000);
    joined?.tick();
    const faults = [...faultsOf(measure(state, around())), ...(joined?.faults() ?? [])];
    if (state.alarms.judge(faults, Date.now() / 1000)) publish('alarms');
    for (const topic of ['status', 'sources', 'chain', 'night', 'machines'] as const) publish(topic);
  }, SECOND_MS);
  const url = `http://${reachableName(settings.host)}:${port}/`;
  return {
    url,
    isLocal: isLoopback(settings.host),
    steerUrl: `${url}#token=${token}`,
    token,
    state,
    again,
    gainsEvents: {
      solved: (solved, from) => {
        gains.changed(solved);
        journal.add({
          who: 'corella',
          what: `gains of ${solved.solvedInputs} inputs solved, residual ${(100 * solved.residual).toFixed(1)} %`,
          fromTick: from.tick?.toString(),
          from: formatInstant(from.at, 6),
        });
        publish('gains');
      },
      failed: (why) => {
        journal.add({ who: 'corella', what: `gains were not solved: ${why}` });
        publish('gains');
      },
    },
    steer: (given) => {
      gains.follow(given.steering, given.gains, given.steering.flags.latest.length);
      helm = {
        ...given,
        gainsChanged: () => {
          gains.changed();
          publish('gains');
        },
      };
    },
    showGains: (steering) => {
      gains.follow(steering, undefined, steering.flags.latest.length);
    },
    check: (view) => {
      check = view;
    },
    publish,
    note: (who, what) => {
      journal.add({ who, what });
    },
    status,
    plan: values.plan,
    command: async (command, body, who, mode) =>
      isCommand(command)
        ? commands.run(command, body, who, mode)
        : refuse(
            'steer',
            `'${command}' is no command`,
            'choose flags, gains, integration, recording or stop',
          ),
    close: async () => {
      clearInterval(timer);
      state.load.close();
      await again.close();
      await journal.close();
      await webhook?.close();
      hub.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) =>
        server.close(() => {
          resolve();
        }),
      );
    },
  };
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
        what: code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be listened on (${code})`,
        fix: 'give another address, or page.address: false',
        code: 'network.unavailable',
      },
      { cause: error },
    );
  }
}
