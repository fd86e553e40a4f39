/** The connection to a NATS server: credentials, and retries while it is away. */
import { readFile } from 'node:fs/promises';
import type { Authenticator, Msg, NatsConnection } from '@nats-io/transport-node';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { z } from 'zod';
import type { Closable } from '../../core/closing.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { jsonOf, messageOf } from '../words.js';
import { jetStreams, nats } from './nats.js';

/** How to reach a server, as its configuration requires. */
export interface Access {
  /** Like nats://host:4222, or several separated by commas. */
  readonly server: string;
  readonly token?: string;
  /** File with an NKey seed. */
  readonly nkey?: string;
  /** Credentials file as written by `nsc`. */
  readonly creds?: string;
  /** Files of a certificate authority, and of our own certificate and key. */
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

export interface Queue extends Closable {
  readonly connection: NatsConnection;
  /** Whether the server is connected; messages published while it is not are queued in memory. */
  isUp(): boolean;
  readonly js: JetStreamClient;
  manager(): Promise<JetStreamManager>;
}

export interface RetrySettings {
  /** Ends the wait. */
  readonly stop?: AbortSignal;
  /** Called at the first failure and then repeatedly. */
  readonly onTrouble?: (line: string) => void;
  /** Called after each failed attempt; true gives up and throws. */
  readonly givesUp?: () => boolean;
}

const REQUEST_MS = 5000;
const AGAIN_MS = 250;
/** A lasting failure is reported again after this time. */
const REPORT_AGAIN_MS = 30_000;

/** Resolves after this time, or at one of these signals. */
export const sleep = (ms: number, ...stops: readonly (AbortSignal | undefined)[]): Promise<void> =>
  new Promise((resolve) => {
    if (stops.some((stop) => stop?.aborted === true)) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      for (const stop of stops) stop?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const stop of stops) stop?.addEventListener('abort', done);
  });

/** Connects. `waits` waits for a server that is not there yet; otherwise it is refused at once. */
export async function connectQueue(
  access: Access,
  name: string,
  { waits = false, ...retry }: RetrySettings & { readonly waits?: boolean } = {},
): Promise<Queue> {
  const options = {
    ...(await secrets(access)),
    servers: access.server.split(',').map((one) => one.trim()),
    name,
    // A lost server returns; calls in the meantime wait.
    maxReconnectAttempts: -1,
    reconnectTimeWait: AGAIN_MS,
    pingInterval: 5000,
    maxPingOut: 2,
    timeout: REQUEST_MS,
  };
  const open = (): Promise<NatsConnection> =>
    nats()
      .connect(options)
      .catch((error: unknown) => refuseForGood(error, access));
  const connection = waits
    ? await insist(`no server answers at ${access.server}`, open, retry)
    : await open().catch((error: unknown) => {
        if (error instanceof CorellaError) throw error;
        return refuse(
          access.server,
          `no NATS server answers there (${messageOf(error)})`,
          'start one with nats-server -js (Debian: apt-get install nats-server), or correct --server',
        );
      });
  const state = { isUp: true };
  void follow(connection, state);
  return {
    connection,
    isUp: () => state.isUp && !connection.isClosed(),
    js: jetStreams().jetstream(connection, { timeout: REQUEST_MS }),
    // Does not check for a store: a server that is just starting reports none.
    manager: () => jetStreams().jetstreamManager(connection, { timeout: REQUEST_MS, checkAPI: false }),
    close: async () => {
      // The last messages should arrive, but do not wait for a dead server.
      await Promise.race([connection.flush().catch(() => undefined), sleep(1000)]);
      await Promise.race([connection.close(), sleep(1000)]);
    },
  };
}

/** Calls back with each message on a subject; returns the function that stops it. */
export function onMessage(
  { connection }: Queue,
  subject: string,
  listener: (message: Msg) => void,
): () => void {
  const subscription = connection.subscribe(subject, {
    callback: (_, message) => {
      listener(message);
    },
  });
  return () => {
    if (!connection.isClosed()) subscription.unsubscribe();
  };
}

/** The same with JSON of a schema; other messages are ignored. */
export const onJson = <Schema extends z.ZodType>(
  queue: Queue,
  subject: string,
  schema: Schema,
  listener: (value: z.infer<Schema>, message: Msg) => void,
): (() => void) =>
  onMessage(queue, subject, (message) => {
    const checked = schema.safeParse(jsonOf(message));
    if (checked.success) listener(checked.data, message);
  });

/** A warning about a server that other machines can reach and that needs no credentials; undefined if none. */
export function openServerWarning({ connection }: Pick<Queue, 'connection'>): string | undefined {
  const { info } = connection;
  const at = connection.getServer();
  const isLocal = /^(?:127\.\d+\.\d+\.\d+|localhost|\[?::1\]?):\d+$/i.test(at);
  if (isLocal || info?.auth_required === true || info?.tls_verify === true) return undefined;
  return (
    `warning: the NATS server ${at} asks for no credentials: anyone who reaches it can forge results, images and ` +
    'what machines report; give it tokens, NKeys or certificates (docs/machines.md)'
  );
}

async function follow(connection: NatsConnection, state: { isUp: boolean }): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') state.isUp = false;
    if (type === 'reconnect') state.isUp = true;
  }
}

async function secrets(access: Access): Promise<{
  readonly authenticator?: Authenticator;
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
}> {
  const { token, nkey, creds, tlsCa, tlsCert, tlsKey } = access;
  const given = [token, nkey, creds].filter((one) => one !== undefined);
  if (given.length > 1)
    refuse('--token', 'and --nkey and --creds exclude each other', 'give the one the server asks for');
  const read = (path: string): Promise<Uint8Array> =>
    readFile(path).catch((error: unknown) =>
      refuse(path, `cannot be read (${messageOf(error)})`, 'check the name'),
    );
  const authenticator =
    token !== undefined
      ? nats().tokenAuthenticator(token)
      : nkey !== undefined
        ? nats().nkeyAuthenticator(new TextEncoder().encode(seedIn(await read(nkey), nkey)))
        : creds !== undefined
          ? nats().credsAuthenticator(await read(creds))
          : undefined;
  // A missing file would look like a missing server.
  for (const path of [tlsCa, tlsCert, tlsKey]) if (path !== undefined) await read(path);
  const tls = {
    ...(tlsCa === undefined ? {} : { caFile: tlsCa }),
    ...(tlsCert === undefined ? {} : { certFile: tlsCert }),
    ...(tlsKey === undefined ? {} : { keyFile: tlsKey }),
  };
  return { authenticator, ...(Object.keys(tls).length > 0 && { tls }) };
}

function seedIn(bytes: Uint8Array, path: string): string {
  const seed = /\bS[A-Z2-7]{57}\b/.exec(new TextDecoder().decode(bytes));
  return seed?.[0] ?? refuse(path, 'holds no seed of an NKey', 'make one with nk -gen user, or nsc');
}

/** Throws errors that waiting cannot fix. */
function refuseForGood(error: unknown, { server }: Access): never {
  const words = `${error instanceof Error ? error.name : ''} ${messageOf(error)}`;
  if (/authorization|authentication|AuthorizationError/i.test(words))
    refuse(
      server,
      'refuses us: it asks for other credentials',
      'give --token, --nkey or --creds as its configuration says',
    );
  if (/certificate|self[- ]signed|tls|ssl/i.test(words))
    refuse(
      server,
      `no secure connection (${messageOf(error)})`,
      'give --tls-ca, and --tls-cert and --tls-key where it asks for them',
    );
  throw error;
}

/** Called by submitters: a server without a store keeps no jobs. */
export async function requireStore({ connection }: Queue, { server }: Access): Promise<void> {
  await jetStreams()
    .jetstreamManager(connection, { timeout: REQUEST_MS })
    .catch((error: unknown) => {
      refuse(
        server,
        `has no JetStream, which keeps jobs and results (${messageOf(error)})`,
        'start it with nats-server -js, or with a jetstream block in its configuration',
      );
    });
}

/** Retries until it succeeds, so every call made this way may be made twice. Refusals are not retried. */
export async function insist<Result>(
  what: string,
  call: () => Promise<Result>,
  { stop, onTrouble, givesUp }: RetrySettings = {},
): Promise<Result> {
  let reportedMs = -Infinity;
  for (;;) {
    stop?.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (error instanceof CorellaError) throw error;
      if (givesUp?.() === true)
        refuse(
          what,
          `${messageOf(error)}; given up`,
          'start the server (nats-server -js), or correct --server',
        );
      if (performance.now() - reportedMs > REPORT_AGAIN_MS) {
        reportedMs = performance.now();
        onTrouble?.(`${what}: ${messageOf(error)}; trying on`);
      }
      await sleep(AGAIN_MS, stop);
    }
  }
}
