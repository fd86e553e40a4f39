/** The server side of a KrakenSDR: serves voltages like its firmware, to one client at a time. */
import { createServer, type Socket } from 'node:net';
import { randomStream } from '../core/random.js';
import { refuse } from '../core/errors.js';
import { addSeconds, instant, type Instant } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import { krakenFrames } from '../formats/index.js';

interface ServeKrakenSettings {
  readonly source: VoltageSource;
  readonly version: 1 | 2;
  readonly address: string;
  readonly port: number;
  /** Seconds of data per second; Infinity is as fast as requested. */
  readonly speed: number;
  /** Time of the first sample; that of the source by default. */
  readonly start?: Instant;
  readonly loop: boolean;
  readonly limitS: number;
  /** Probabilities that a frame is not sent, and that its header is damaged. */
  readonly lose: number;
  readonly corrupt: number;
  readonly seed: number;
  readonly stop: AbortSignal;
  readonly onListening: (port: number) => void;
  readonly onProgress: (frames: number) => void;
}

export interface ServedKraken {
  readonly frames: number;
  /** Lost on purpose, or because of gaps in the recording. */
  readonly skippedFrames: number;
  readonly damagedFrames: number;
  readonly seconds: number;
  /** At the end of the recording, too few for a frame. */
  readonly leftOverSamples: number;
}

/** The firmware's value for direction finding. */
const FRAME_SAMPLES = 16_384;

export async function serveKraken(settings: ServeKrakenSettings): Promise<ServedKraken> {
  const { source, version, address, port, speed, lose, corrupt, stop, limitS } = settings;
  const frameOf = krakenFrames(source, version);
  const counts = { frames: 0, skippedFrames: 0, damagedFrames: 0, leftOverSamples: 0, index: 0 };
  const frameS = FRAME_SAMPLES / source.sampleRateHz;
  const random = randomStream(settings.seed, 'kraken');
  const clients = new Clients(version);
  const server = createServer((socket) => {
    clients.add(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(error);
    });
    server.listen(port, address, resolve);
  }).catch((error: unknown) =>
    refuse(
      '--to',
      `${address}:${port} cannot be listened at: ${(error as Error).message}`,
      'take another port',
    ),
  );
  settings.onListening((server.address() as { port: number }).port);
  const stopped = (): boolean => stop.aborted;
  stop.addEventListener('abort', () => {
    clients.close();
  });
  let beganMs: number | undefined;
  try {
    do {
      const before = counts.index;
      for await (const block of source.blocks(FRAME_SAMPLES)) {
        if (stopped() || counts.index * frameS >= limitS) break;
        if (block.samples < FRAME_SAMPLES) {
          counts.leftOverSamples += block.samples;
          continue;
        }
        const index = counts.index++;
        const [isLost, isDamaged] = [random.uniform() < lose, random.uniform() < corrupt];
        if (isLost || block.gaps.length > 0) {
          counts.skippedFrames++;
          continue;
        }
        const start = addSeconds(settings.start ?? source.start, index * frameS);
        const bytes = frameOf(block, index, start);
        if (isDamaged) bytes[0] ^= 0xff;
        const client = await clients.ready();
        if (!client) break;
        beganMs ??= performance.now();
        // A frame is available after its last sample.
        const waitMs = beganMs + (1000 * (index + 1) * frameS) / speed - performance.now();
        if (waitMs > 0) await pause(waitMs, stop);
        if (isDamaged) counts.damagedFrames++;
        await client(bytes);
        counts.frames++;
        settings.onProgress(counts.frames);
      }
      if (counts.index === before && !stopped() && counts.index * frameS < limitS)
        refuse('send', `holds fewer than ${FRAME_SAMPLES} samples, a frame`, 'send a longer recording');
    } while (settings.loop && !stopped() && counts.index * frameS < limitS);
  } finally {
    clients.close();
    await new Promise((resolve) => server.close(resolve));
  }
  const { index, ...sent } = counts;
  return { ...sent, seconds: index * frameS };
}

export const now = (): Instant => instant(Math.floor(Date.now() / 1000), (Date.now() % 1000) / 1000);

const pause = (ms: number, stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop.addEventListener('abort', end);
  });

type Send = (bytes: Uint8Array) => Promise<void>;

/** Connected clients. Version 1 sends a frame per request, version 2 sends every frame. */
class Clients {
  private readonly sockets: Socket[] = [];
  private requests = 0;
  private isClosed = false;
  private wake: () => void = () => undefined;

  constructor(private readonly version: 1 | 2) {}

  add(socket: Socket): void {
    this.sockets.push(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.sockets.at(0) === socket) this.requests = 0;
      this.sockets.splice(this.sockets.indexOf(socket), 1);
      this.wake();
    });
    socket.on('data', (data: Buffer) => {
      // One word per request; two never arrive together, because the client waits for its frame.
      if (/^(?:streaming|IQDownload)$/.test(data.toString('latin1'))) this.requests++;
      else socket.destroy();
      this.wake();
    });
    this.wake();
  }

  /** Waits for a client that wants a frame; undefined if none will come. */
  async ready(): Promise<Send | undefined> {
    while (!this.isClosed) {
      const socket = this.sockets.at(0);
      if (socket && (this.version === 2 || this.requests > 0)) {
        if (this.version === 1) this.requests--;
        return (bytes) =>
          new Promise((resolve) => {
            // Also called if the connection has ended.
            socket.write(bytes, () => {
              resolve();
            });
          });
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return undefined;
  }

  close(): void {
    this.isClosed = true;
    // Sends buffered data first.
    for (const socket of this.sockets) socket.end();
    this.wake();
  }
}
