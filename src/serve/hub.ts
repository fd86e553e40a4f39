/** One web socket for each page. What is said is encoded once and sent to all who asked; whoever is slow misses it. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { z } from 'zod';
import { TOPICS, type Head, type Topic } from './messages.js';
import { encodeMessage } from './wire.js';

/** Waiting for a client that does not read; more is dropped, and counted. */
const MOST_WAITING_BYTES = 4 * 2 ** 20;
/** Of what a page says to us. */
const MOST_SAID_BYTES = 4096;
/** Alive or gone: pages are asked so often. */
const PING_MS = 15_000;
const MOST_CLIENTS = 1000;

const askSchema = z.strictObject({
  subscribe: z.array(z.enum(TOPICS)).max(TOPICS.length).optional(),
  unsubscribe: z.array(z.enum(TOPICS)).max(TOPICS.length).optional(),
  pair: z.tuple([z.int().nonnegative(), z.int().nonnegative()]).optional(),
});

interface Client {
  readonly socket: WebSocket;
  readonly topics: Set<Topic>;
  pair: readonly [number, number];
  answered: boolean;
}

export interface HubEvents {
  /** What a new subscriber is told at once. */
  readonly greet: (topic: Topic, send: (message: string | Buffer) => void) => void;
}

export class Hub {
  private readonly server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MOST_SAID_BYTES,
    handleProtocols: (protocols) => (protocols.has('corella') ? 'corella' : false),
  });
  private readonly clients = new Set<Client>();
  private readonly timer: NodeJS.Timeout;
  dropped = 0;

  constructor(private readonly events: HubEvents) {
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

  /** Pairs of stations that someone looks at. */
  pairs(): readonly (readonly [number, number])[] {
    const pairs = new Map<string, readonly [number, number]>();
    for (const { topics, pair } of this.clients) if (topics.has('baseline')) pairs.set(pair.join(), pair);
    return [...pairs.values()];
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.clients.size >= MOST_CLIENTS) {
      socket.destroy();
      return;
    }
    this.server.handleUpgrade(request, socket, head, (webSocket) => {
      const client: Client = { socket: webSocket, topics: new Set(), pair: [0, 1], answered: true };
      this.clients.add(client);
      webSocket.on('pong', () => {
        client.answered = true;
      });
      webSocket.on('message', (data, isBinary) => {
        this.hear(client, data as Buffer, isBinary);
      });
      webSocket.on('close', () => {
        this.clients.delete(client);
      });
      // Oversized or malformed frames end the connection; the chain must not hear of it.
      webSocket.on('error', () => {
        webSocket.terminate();
      });
    });
  }

  publish(topic: Topic, value: unknown): void {
    if (!this.hasListeners(topic)) return;
    this.send(topic, textMessage(topic, value));
  }

  publishArray(topic: Topic, head: Omit<Head, 'topic'>, values: Float32Array): void {
    if (!this.hasListeners(topic)) return;
    this.send(topic, encodeMessage({ ...head, topic } as Head, values));
  }

  close(): void {
    clearInterval(this.timer);
    for (const { socket } of this.clients) socket.close(1001, 'the night is over');
    setTimeout(() => {
      for (const { socket } of this.clients) socket.terminate();
    }, 200).unref();
    this.server.close();
  }

  private send(topic: Topic, message: string | Buffer): void {
    for (const client of this.clients) if (client.topics.has(topic)) this.sendTo(client, message);
  }

  private sendTo({ socket }: Client, message: string | Buffer): void {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MOST_WAITING_BYTES) this.dropped++;
    else socket.send(message);
  }

  private hear(client: Client, data: Buffer, isBinary: boolean): void {
    const asked = isBinary ? undefined : parse(data);
    if (!asked) {
      client.socket.close(1008, 'say {"subscribe": [...]}');
      return;
    }
    if (asked.pair) client.pair = asked.pair;
    for (const topic of asked.unsubscribe ?? []) client.topics.delete(topic);
    for (const topic of asked.subscribe ?? []) {
      client.topics.add(topic);
      this.events.greet(topic, (message) => {
        this.sendTo(client, message);
      });
    }
  }

  private ping(): void {
    for (const client of this.clients) {
      if (!client.answered) client.socket.terminate();
      client.answered = false;
      if (client.socket.readyState === client.socket.OPEN) client.socket.ping();
    }
  }
}

export const textMessage = (topic: Topic, value: unknown): string => JSON.stringify({ topic, value });

function parse(data: Buffer): z.infer<typeof askSchema> | undefined {
  try {
    return askSchema.safeParse(JSON.parse(data.toString())).data;
  } catch {
    return undefined;
  }
}
