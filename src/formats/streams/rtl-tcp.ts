/**
 * A dongle behind rtl_tcp: the server sends "RTL0", the tuner and its number of gains, and accepts five-byte commands.
 * Rate and frequency are set from the observation; the gain stays as the server set it.
 */
import { refuse } from '../../core/errors.js';
import type { VoltageSource } from '../../core/sources.js';
import { ByteFeed } from '../io/byte-feed.js';
import { connectTcp, RECONNECT_MS, reconnecting, streamOf, type ByteStream } from '../io/byte-stream.js';

const GREETING_BYTES = 12;
const [SET_FREQUENCY, SET_RATE] = [1, 2];
/** The rates that the chip samples without loss. */
const RATES = { low: [225_001, 300_000], high: [900_001, 3_200_000] } as const;

export function command(code: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(5);
  bytes[0] = code;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

/** Bytes of (I, Q), unsigned. A server that was absent is set again. */
export function rtlTcpStream(
  host: string,
  port: number,
  { sampleRateHz, centreFrequencyHz }: Pick<VoltageSource, 'sampleRateHz' | 'centreFrequencyHz'>,
): ByteStream {
  const name = `rtl_tcp:${host}:${port}`;
  for (const [what, value] of [
    ['rate', sampleRateHz],
    ['frequency', centreFrequencyHz],
  ] as const)
    if (!Number.isInteger(value) || value <= 0 || value >= 2 ** 32)
      refuse(name, `a ${what} of ${value} Hz cannot be set`, 'give whole hertz below 4.29 GHz');
  if (!Object.values(RATES).some(([least, most]) => sampleRateHz >= least && sampleRateHz <= most))
    refuse(
      name,
      `an RTL2832U cannot sample at ${sampleRateHz} Hz`,
      'give a rate from 225001 to 300000 Hz, or from 900001 to 3200000 Hz',
    );
  return reconnecting(name, async () => {
    const socket = await connectTcp(host, port);
    if (!socket) return undefined;
    const stream = streamOf(name, socket);
    const feed = new ByteFeed(stream, RECONNECT_MS);
    const greeting = new Uint8Array(GREETING_BYTES);
    const { filled } = await feed.fill(greeting, 0);
    if (Buffer.from(greeting.subarray(0, Math.min(4, filled))).toString('latin1') !== 'RTL0') {
      await stream.close();
      if (filled < GREETING_BYTES) return undefined;
      refuse(name, 'does not greet as rtl_tcp does', `read plain samples as tcp://${host}:${port}`);
    }
    socket.write(command(SET_RATE, sampleRateHz));
    socket.write(command(SET_FREQUENCY, centreFrequencyHz));
    return { name, next: (quietMs) => nextOf(feed, quietMs), close: () => stream.close() };
  });
}

/** The first bytes after the greeting. */
async function nextOf(feed: ByteFeed, quietMs: number): ReturnType<ByteStream['next']> {
  const first = new Uint8Array(1);
  const { filled, then } = await feed.fill(first, 0, quietMs);
  if (filled === 0) return then === 'quiet' ? 'quiet' : 'ended';
  const rest = feed.takeRest();
  const all = new Uint8Array(1 + rest.length);
  all[0] = first[0];
  all.set(rest, 1);
  return all;
}
