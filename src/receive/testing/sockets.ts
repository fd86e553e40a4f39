/** Packets over a loopback socket, no faster than they are read: shared by the socket tests. */
import { createSocket, type Socket } from 'node:dgram';

const bound = (address: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind(0, address, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });

/** For node:test: false if sockets are available. */
export async function skipSockets(): Promise<string | false> {
  try {
    (await bound('127.0.0.1')).close();
    return false;
  } catch (error) {
    return `no loopback sockets here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** An unused port. */
export async function freePort(): Promise<number> {
  const socket = await bound('127.0.0.1');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

/** Like skipSockets, for a multicast group on the loopback interface, which some systems block. */
export async function skipMulticast(group: string): Promise<string | false> {
  const skip = await skipSockets();
  if (skip !== false) return skip;
  const [listener, sender] = [await bound('0.0.0.0'), await bound('127.0.0.1')];
  try {
    listener.addMembership(group, '127.0.0.1');
    sender.setMulticastInterface('127.0.0.1');
    return await new Promise<string | false>((resolve, reject) => {
      const timer = setTimeout(resolve, 2000, 'the loopback interface carries no multicast');
      listener.once('message', () => {
        clearTimeout(timer);
        resolve(false);
      });
      sender.send(new Uint8Array(8), listener.address().port, group, (error) => {
        if (error) {
          clearTimeout(timer);
          reject(error);
        }
      });
    });
  } catch (error) {
    return `no multicast here: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    listener.close();
    sender.close();
  }
}

/** The most packets in flight. */
const UNREAD = 200;
const YIELD = 16;

export interface Sender {
  /** Resolves when the receiver has counted all of them. */
  send(packets: readonly Uint8Array[]): Promise<void>;
  close(): void;
}

/** `received`: the number of datagrams that the receiver has counted. */
export async function openSender(
  port: number,
  received: () => number,
  address = '127.0.0.1',
): Promise<Sender> {
  const socket = await bound('127.0.0.1');
  if (address !== '127.0.0.1') {
    socket.setMulticastInterface('127.0.0.1');
    socket.setMulticastLoopback(true);
  }
  let sent = 0;
  const untilRead = async (behind: number): Promise<void> => {
    for (let waits = 0; received() < sent - behind; waits++) {
      // A packet was lost on the way: the test fails with a message.
      if (waits === 20_000) throw new Error(`${received()} of ${sent} datagrams arrived`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  return {
    send: async (packets) => {
      for (const packet of packets) {
        await new Promise<void>((resolve, reject) => {
          socket.send(packet, port, address, (error) => {
            if (error) reject(error);
            else resolve();
          });
        });
        sent++;
        // Callbacks alone would starve the event loop.
        if (sent % YIELD === 0) await new Promise((resolve) => setImmediate(resolve));
        if (sent % UNREAD === 0) await untilRead(UNREAD);
      }
      await untilRead(0);
    },
    close: () => {
      socket.close();
    },
  };
}
