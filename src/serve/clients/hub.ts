/**
 * One web socket per page. A message is encoded once and shared by all subscribers of its topic. Each client has at
 * most one waiting message per topic, the newest, and gets nothing until its previous message has left this process.
 * Large messages of all clients share a limit, and sending is limited in each turn of the event loop: receiving data
 * has priority.
 */
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type * as WebSockets from 'ws';
import { z } from 'zod';
import { Allowance } from './allowance.js';
import { TOPICS, type Head, type Topic } from '../messages.js';
import { encodeMessage } from '../wire.js';

/** Loaded when a page is served, since other commands do not need it. Node caches it. */
const webSockets = (): typeof WebSockets => createRequire(import.meta.url)('ws') as typeof WebSockets;

/** Longest request of a page. */
const MOST_REQUEST_BYTES = 4096;
/** Pages that do not answer a ping until the next are disconnected. */
const PING_MS = 15_000;
const MOST_CLIENTS = 1000;
/** Connections of all clients: every client may open its page at once, and a few reconnect each second. */
const CONNECTIONS = { atOnce: MOST_CLIENTS, perSecond: 50 } as const;
/** Requests of one client: a page that changes its view sends about ten. */
const REQUESTS = { atOnce: 100, perSecond: 10 } as const;
/** Requests of all clients. */
const ALL_REQUESTS = { atOnce: 10_000, perSecond: 2000 } as const;
/** A state sent to one client is reused for others for this long, unless it changed. */
const STATE_MS = 250;
/** Baselines shown at a time: each is computed for every integration. */
const MOST_PAIRS = 100;
/** Messages above this size share a limit of bytes, which takes about a tenth of the event loop's time to send. */
const LARGE_BYTES = 16 * 1024;
const LARGE_MESSAGES = { atOnce: 16 * 2 ** 20, perSecond: 128 * 2 ** 20 } as const;
/** Time for sending in one turn of the event loop. */
const TURN_MS = 5;
/** Delay before the next attempt once the limit of bytes is reached. */
const LATER_MS = 20;

const requestSchema = z.strictObject({
  subscribe: z.array(z.enum(TOPICS)).max(TOPICS.length).optional(),
  unsubscribe: z.array(z.enum(TOPICS)).max(TOPICS.length).optional(),
  pair: z.tuple([z.int().nonnegative(), z.int().nonnegative()]).optional(),
});

/** Encoded once, shared by clients. */
interface Message {
  readonly bytes: Buffer;
  readonly binary: boolean;
}

export const textMessage = (topic: Topic, value: unknown): Message => ({
  bytes: Buffer.from(JSON.stringify({ topic, value })),
  binary: false,
});
export const arrayMessage = (head: Head, values: Float32Array): Message => ({
  bytes: encodeMessage(head, values),
  binary: true,
});

interface Client {
  readonly socket: WebSockets.WebSocket;
  readonly topics: Set<Topic>;
  /** The newest unsent message of each topic. */
  readonly waiting: Map<Topic, Message>;
  readonly requests: Allowance;
  /** The larger station first. */
  pair: readonly [number, number];
  answered: boolean;
  isSending: boolean;
}

export class Hub {
  private readonly server = new (webSockets().WebSocketServer)({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MOST_REQUEST_BYTES,
    handleProtocols: (protocols) => (protocols.has('corella') ? 'corella' : false),
  });
  private readonly clients = new Set<Client>();
  /** Clients with waiting messages, in the order of service. */
  private readonly queue = new Set<Client>();
  private readonly states = new Map<
    Topic,
    { readonly message: Message | undefined; readonly atMs: number }
  >();
  private readonly connections = new Allowance(CONNECTIONS);
  private readonly requests = new Allowance(ALL_REQUESTS);
  private readonly largeBytes = new Allowance(LARGE_MESSAGES);
  private readonly timer: NodeJS.Timeout;
  private isScheduled = false;
  private isClosed = false;
  /** Messages replaced by newer ones before they could be sent. */
  dropped = 0;

  /** `state`: of a topic for a new subscriber; undefined if there is none. */
  constructor(private readonly state: (topic: Topic) => Message | undefined) {
    this.timer = setInterval(() => {
      this.ping();
    }, PING_MS);
    this.timer.unref();
  }

  get count(): number {
    return this.clients.size;
  }

  hasListeners(topic: Topic): boolean {
    for (const client of this.clients) if (client.topics.has(topic)) return true;
    return false;
  }

  /** Pairs of stations whose baseline is shown, the larger station first. */
  pairs(): readonly (readonly [number, number])[] {
    const pairs = new Map<string, readonly [number, number]>();
    for (const { topics, pair } of this.clients) if (topics.has('baseline')) pairs.set(pair.join(), pair);
    return [...pairs.values()];
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.clients.size >= MOST_CLIENTS || !this.connections.take()) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n\r\n');
      return;
    }
    this.server.handleUpgrade(request, socket, head, (webSocket) => {
      const client: Client = {
        socket: webSocket,
        topics: new Set(),
        waiting: new Map(),
        requests: new Allowance(REQUESTS),
        pair: [1, 0],
        answered: true,
        isSending: false,
      };
      this.clients.add(client);
      webSocket.on('pong', () => {
        client.answered = true;
      });
      webSocket.on('message', (data, isBinary) => {
        this.request(client, data as Buffer, isBinary);
      });
      webSocket.on('close', () => {
        this.remove(client);
      });
      // Oversized or malformed frames only end the connection.
      webSocket.on('error', () => {
        webSocket.terminate();
      });
    });
  }

  /** Publishes the changed state of a topic: encoded once, if there are subscribers. */
  changed(topic: Topic): void {
    this.states.delete(topic);
    if (!this.hasListeners(topic)) return;
    const message = this.stateOf(topic);
    if (message) this.send(topic, message);
  }

  /** Sends values that are not a topic's state to its subscribers; a baseline only to clients that show it. */
  publishArray(topic: Topic, head: Omit<Head, 'topic'>, values: Float32Array): void {
    this.states.delete(topic);
    if (!this.hasListeners(topic)) return;
    const pair = topic === 'baseline' ? String(head.pair) : undefined;
    this.send(
      topic,
      arrayMessage({ ...head, topic } as Head, values),
      (client) => pair === undefined || client.pair.join() === pair,
    );
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    for (const { socket } of this.clients) socket.close(1001, 'the observation is over');
    setTimeout(() => {
      for (const { socket } of this.clients) socket.terminate();
    }, 200).unref();
    this.server.close();
  }

  private stateOf(topic: Topic): Message | undefined {
    const nowMs = performance.now();
    const known = this.states.get(topic);
    if (known && nowMs - known.atMs < STATE_MS) return known.message;
    const message = this.state(topic);
    this.states.set(topic, { message, atMs: nowMs });
    return message;
  }

  private send(topic: Topic, message: Message, isFor: (client: Client) => boolean = () => true): void {
    for (const client of this.clients)
      if (client.topics.has(topic) && isFor(client)) this.enqueue(client, topic, message);
  }

  private enqueue(client: Client, topic: Topic, message: Message): void {
    if (client.waiting.has(topic)) this.dropped++;
    client.waiting.set(topic, message);
    if (client.isSending) return;
    this.queue.add(client);
    this.schedule(0);
  }

  private schedule(afterMs: number): void {
    if (this.isScheduled || this.isClosed) return;
    this.isScheduled = true;
    const serve = (): void => {
      this.isScheduled = false;
      this.serve();
    };
    if (afterMs > 0) setTimeout(serve, afterMs).unref();
    else setImmediate(serve);
  }

  /** Sends waiting messages for one turn of the event loop, longest wait first. */
  private serve(): void {
    const endMs = performance.now() + TURN_MS;
    for (const client of [...this.queue]) {
      if (performance.now() > endMs) {
        this.schedule(0);
        return;
      }
      this.sendNext(client);
    }
    if (this.queue.size > 0) this.schedule(LATER_MS);
  }

  /** The client's next message; small ones first, which are not limited. */
  private sendNext(client: Client): void {
    const { socket, waiting } = client;
    const small = [...waiting].find(([, { bytes }]) => bytes.length <= LARGE_BYTES);
    const [topic, message] = small ?? [...waiting][0];
    if (!small && !this.largeBytes.take(message.bytes.length)) return;
    waiting.delete(topic);
    this.queue.delete(client);
    client.isSending = true;
    socket.send(message.bytes, { binary: message.binary }, () => {
      client.isSending = false;
      if (client.waiting.size === 0 || !this.clients.has(client)) return;
      this.queue.add(client);
      this.schedule(0);
    });
  }

  private request(client: Client, data: Buffer, isBinary: boolean): void {
    if (!this.clients.has(client)) return;
    if (!client.requests.take() || !this.requests.take()) {
      this.disconnect(client, 'too many requests');
      return;
    }
    const asked = isBinary ? undefined : parse(data);
    if (!asked) {
      this.disconnect(client, 'send {"subscribe": [...]}');
      return;
    }
    if (asked.pair) client.pair = [Math.max(...asked.pair), Math.min(...asked.pair)];
    for (const topic of asked.unsubscribe ?? []) {
      client.topics.delete(topic);
      client.waiting.delete(topic);
    }
    if (client.waiting.size === 0) this.queue.delete(client);
    for (const topic of asked.subscribe ?? []) {
      if (client.topics.has(topic)) continue;
      client.topics.add(topic);
      const state = this.stateOf(topic);
      if (state) this.enqueue(client, topic, state);
    }
    if (client.topics.has('baseline') && this.pairs().length > MOST_PAIRS)
      this.disconnect(client, `${MOST_PAIRS} baselines are shown already`);
  }

  private remove(client: Client): void {
    this.clients.delete(client);
    this.queue.delete(client);
  }

  /** Sends the reason, stops reading, and ends the connection. */
  private disconnect(client: Client, why: string): void {
    this.remove(client);
    client.socket.close(1008, why);
    client.socket.pause();
    setTimeout(() => {
      client.socket.terminate();
    }, 200).unref();
  }

  private ping(): void {
    for (const client of this.clients) {
      if (!client.answered) client.socket.terminate();
      client.answered = false;
      if (client.socket.readyState === client.socket.OPEN) client.socket.ping();
    }
  }
}

function parse(data: Buffer): z.infer<typeof requestSchema> | undefined {
  try {
    return requestSchema.safeParse(JSON.parse(data.toString())).data;
  } catch {
    return undefined;
  }
}
