/** A simulated KrakenSDR: sends a test's frames, and controls the connection as the test asks. */
import { createServer, type Socket } from 'node:net';
import { FRAME_REQUEST, START_REQUEST } from '../version1.js';

/** Bytes to send, or an event on the connection before the next bytes. */
export type Sent = Uint8Array | { readonly cutAfter: Uint8Array };

export interface PretendKraken {
  readonly port: number;
  /** The number of clients so far. */
  readonly clients: () => number;
  close(): Promise<void>;
}

const piece = 1447;

/** In uneven pieces, so that frames never arrive whole. */
function put(socket: Socket, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += piece) socket.write(bytes.subarray(at, at + piece));
}

/** 'asked': one frame per request, as version 1; 'pushed': as version 2. */
export async function pretendKraken(
  script: readonly Sent[],
  how: 'asked' | 'pushed',
): Promise<PretendKraken> {
  let next = 0;
  let clients = 0;
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    clients++;
    sockets.push(socket);
    socket.on('error', () => undefined);
    const sendNext = (): boolean => {
      const one = script.at(next++);
      if (one === undefined) return false;
      if (one instanceof Uint8Array) {
        put(socket, one);
        return true;
      }
      socket.end(one.cutAfter);
      return false;
    };
    if (how === 'pushed') while (sendNext());
    let said = '';
    socket.on('data', (data: Buffer) => {
      said += data.toString('latin1');
      for (const word of [START_REQUEST, FRAME_REQUEST])
        while (said.startsWith(word)) {
          said = said.slice(word.length);
          sendNext();
        }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    clients: () => clients,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
