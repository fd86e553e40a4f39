/**
 * Samples from a ZeroMQ publisher or pusher, such as GNU Radio's ZMQ PUB and PUSH sinks: ZMTP 3.0 over TCP, without
 * encryption (mechanism NULL). The messages are concatenated. A slow subscriber loses whole messages, which cannot be
 * detected.
 */
import type { Socket } from 'node:net';
import { preparing } from '../../core/closing.js';
import { entryOf } from '../../core/entry-of.js';
import { refuse } from '../../core/errors.js';
import { ByteFeed } from '../io/byte-feed.js';
import {
  connectTcp,
  RECONNECT_MS,
  reconnecting,
  streamOf,
  type ByteStream,
  type Came,
} from '../io/byte-stream.js';

const MECHANISM = 'NULL';
const GREETING_BYTES = 64;
/** Bits of a frame's first byte. */
const [MORE, LONG, COMMAND] = [1, 2, 4];
/** Longer messages are not samples of a live stream. */
const MOST_BYTES = 2 ** 28;

/** GNU Radio's header before the samples of each message if "Pass Tags" is set: this, then two 8-byte numbers. */
const TAGS = [0xf0, 0x5f, 1] as const;
const TAGS_BYTES = 19;
const MOST_TAGS = 1e6;

const isTagged = (message: Uint8Array): boolean =>
  message.length >= TAGS_BYTES &&
  TAGS.every((byte, k) => message[k] === byte) &&
  Buffer.from(message).readBigUInt64LE(11) < MOST_TAGS;

/** Signature, version 3.0, mechanism, "no server". */
function greeting(): Uint8Array {
  const bytes = new Uint8Array(GREETING_BYTES);
  bytes[0] = 0xff;
  bytes[9] = 0x7f;
  bytes[10] = 3;
  bytes.set(Buffer.from(MECHANISM), 12);
  return bytes;
}

export function frameOf(body: Uint8Array, flags = 0): Uint8Array {
  const head = body.length > 255 ? Buffer.alloc(9) : Buffer.from([flags, body.length]);
  if (body.length > 255) {
    head[0] = flags | LONG;
    head.writeBigUInt64BE(BigInt(body.length), 1);
  }
  return Buffer.concat([head, body]);
}

/** The command READY with our socket type. */
export function readyOf(socketType: string): Uint8Array {
  const [name, value] = ['Socket-Type', socketType].map((text) => Buffer.from(text));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length);
  return frameOf(
    Buffer.concat([Buffer.from([5]), Buffer.from('READY'), Buffer.from([name.length]), name, length, value]),
    COMMAND,
  );
}

/** The peer's socket type, "PUB" or "PUSH". */
export function socketTypeOf(ready: Uint8Array): string | undefined {
  const body = Buffer.from(ready);
  if (body.subarray(1, 1 + body[0]).toString() !== 'READY') return undefined;
  for (let at = 1 + body[0]; at + 1 < body.length;) {
    const name = body.subarray(at + 1, at + 1 + body[at]).toString();
    at += 1 + body[at];
    if (at + 4 > body.length) return undefined;
    const length = body.readUInt32BE(at);
    if (name.toLowerCase() === 'socket-type') return body.subarray(at + 4, at + 4 + length).toString();
    at += 4 + length;
  }
  return undefined;
}

export function zmqStream(host: string, port: number): ByteStream {
  const name = `zmq:${host}:${port}`;
  return reconnecting(name, (quietMs) =>
    preparing(async (closers) => {
      const socket = await connectTcp(host, port);
      if (!socket) return undefined;
      const stream = closers.keep(streamOf(name, socket));
      socket.write(greeting());
      const joined = await joinedSocket(name, new ByteFeed(stream, quietMs), socket, quietMs);
      if (!joined) await stream.close();
      // The rest of a truncated message is lost; the next connection begins a new one.
      return joined && { name, next: joined, close: () => stream.close() };
    }),
  );
}

/** Introduces us as the counterpart of the peer; then reads its messages. Undefined if it does not answer. */
async function joinedSocket(
  name: string,
  feed: ByteFeed,
  socket: Socket,
  quietMs: number,
): Promise<ByteStream['next'] | undefined> {
  /** The current frame: its remaining bytes, and whether it is a command. */
  let left = 0;
  // Set by `head`, which the type check does not follow.
  let isCommand = false as boolean;
  /** Whether the next bytes begin the first message of the connection. */
  let isFirst = true;

  const take = async (length: number, mostMs: number): Promise<Came> => {
    const bytes = new Uint8Array(length);
    const { filled, then } = await feed.fill(bytes, 0, mostMs);
    if (filled === length) return bytes;
    feed.putBack(bytes.subarray(0, filled));
    return then === 'quiet' ? 'quiet' : 'ended';
  };
  /** A frame's header; the samples are read later, in pieces. */
  const head = async (mostMs: number): Promise<'there' | 'quiet' | 'ended'> => {
    const first = await take(2, mostMs);
    if (typeof first === 'string') return first;
    const isLong = (first[0] & LONG) !== 0;
    if (first[0] > (MORE | LONG | COMMAND))
      refuse(name, 'sends what is no frame of ZMTP 3', 'check the port: is it a ZMQ PUB or PUSH sink?');
    if (!isLong) left = first[1];
    else {
      const rest = await take(7, mostMs);
      if (typeof rest === 'string') {
        feed.putBack(first);
        return rest;
      }
      const length = Number(Buffer.concat([first.subarray(1), rest]).readBigUInt64BE());
      if (length > MOST_BYTES) refuse(name, `sends a message of ${length} bytes`, 'check the port');
      left = length;
    }
    isCommand = (first[0] & COMMAND) !== 0;
    return 'there';
  };
  const theirs = await take(GREETING_BYTES, Math.max(quietMs, RECONNECT_MS));
  if (typeof theirs === 'string') return undefined;
  const mechanism = Buffer.from(theirs.subarray(12, 32)).toString().replace(/\0.*$/s, '');
  if (theirs[0] !== 0xff || theirs[9] !== 0x7f || theirs[10] < 3)
    refuse(name, 'does not greet as ZeroMQ 4 does', 'check the port: is it a ZMQ PUB or PUSH sink?');
  if (mechanism !== MECHANISM)
    refuse(name, `asks for the mechanism ${mechanism}`, 'serve it without encryption or password');
  // SUB connects to a publisher, PULL to a pusher; the peer gets our type before it sends samples.
  let their: string | undefined;
  while (their === undefined) {
    if ((await head(RECONNECT_MS)) !== 'there') return undefined;
    const body = await take(left, RECONNECT_MS);
    left = 0;
    if (typeof body === 'string') return undefined;
    if (isCommand) their = socketTypeOf(body) ?? refuse(name, 'refused the connection', 'check its socket');
  }
  const ours = entryOf({ PUB: 'SUB', XPUB: 'SUB', PUSH: 'PULL' }, their);
  if (ours === undefined) refuse(name, `is a ${their} socket`, 'serve samples by a PUB or a PUSH sink');
  socket.write(readyOf(ours));
  // Subscribes to everything: the empty prefix.
  if (ours === 'SUB') socket.write(frameOf(Uint8Array.of(1)));
  return async (mostMs) => {
    for (;;) {
      if (left === 0) {
        const came = await head(mostMs);
        if (came !== 'there') return came;
        continue;
      }
      const bytes = await take(Math.min(left, 2 ** 18), mostMs);
      if (typeof bytes === 'string') return bytes;
      left -= bytes.length;
      if (isCommand) continue;
      if (isFirst && isTagged(bytes))
        refuse(name, 'sends tags among its samples', 'set "Pass Tags" of the ZMQ sink to No');
      isFirst = false;
      return bytes;
    }
  };
}
