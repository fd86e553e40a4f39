/** Bytes from a pipe, or from a TCP socket that is reconnected when it breaks. */
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Closable } from '../../core/closing.js';

/** `quiet`: a timeout without bytes; `ended`: no more bytes will come. */
export type Came = Uint8Array | 'quiet' | 'ended';

export interface ByteStream extends Closable {
  readonly name: string;
  /** Waits for bytes, at most this long. */
  next(quietMs: number): Promise<Came>;
}

export function streamOf(name: string, stream: Readable): ByteStream {
  let hasEnded = false;
  let wake = (): void => undefined;
  stream.on('readable', () => {
    wake();
  });
  for (const event of ['end', 'close', 'error'])
    stream.on(event, () => {
      hasEnded = true;
      wake();
    });
  return {
    name,
    next: async (quietMs) => {
      for (;;) {
        const bytes = stream.read() as Uint8Array | null;
        if (bytes !== null) return bytes;
        if (hasEnded || stream.destroyed) return 'ended';
        const wasQuiet = await new Promise<boolean>((resolve) => {
          const timer = setTimeout(() => {
            wake = () => undefined;
            resolve(true);
          }, quietMs);
          wake = () => {
            clearTimeout(timer);
            wake = () => undefined;
            resolve(false);
          };
        });
        if (wasQuiet) return 'quiet';
      }
    },
    close: () => {
      stream.destroy();
      wake();
      return Promise.resolve();
    },
  };
}

export const RECONNECT_MS = 1000;
/** rtl_tcp begins with 12 bytes: its name, the tuner and its gains. */
const RTL_GREETING = 'RTL0';
const RTL_GREETING_BYTES = 12;

/** Undefined if there is no answer. */
export async function connectTcp(host: string, port: number): Promise<Socket | undefined> {
  const socket: Socket = connect({ host, port });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => {
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
  if (isOpen) return socket;
  socket.destroy();
  return undefined;
}

/** Never ends by itself: it connects again, and retries every second to reach a sender that is absent. */
export function reconnecting(
  name: string,
  connectOnce: (quietMs: number) => Promise<ByteStream | undefined>,
): ByteStream {
  let inner: ByteStream | undefined;
  const state = { isClosed: false };
  return {
    name,
    next: async (quietMs) => {
      if (state.isClosed) return 'ended';
      inner ??= await connectOnce(quietMs);
      if (!inner) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(quietMs, RECONNECT_MS)));
        return 'quiet';
      }
      const came = await inner.next(quietMs);
      if (came !== 'ended') return came;
      await inner.close();
      inner = undefined;
      return 'quiet';
    },
    close: async () => {
      state.isClosed = true;
      await inner?.close();
    },
  };
}

export function tcpStream(host: string, port: number): ByteStream {
  const name = `tcp://${host}:${port}`;
  return reconnecting(name, async () => {
    const socket = await connectTcp(host, port);
    if (!socket) return undefined;
    const stream = streamOf(name, socket);
    let isFirst = true;
    return {
      ...stream,
      next: async (quietMs) => {
        const came = await stream.next(quietMs);
        if (typeof came === 'string' || !isFirst) return came;
        isFirst = false;
        const greets = Buffer.from(came.subarray(0, RTL_GREETING.length)).toString('latin1') === RTL_GREETING;
        return greets ? came.subarray(RTL_GREETING_BYTES) : came;
      },
    };
  });
}
