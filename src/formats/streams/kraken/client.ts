/** A client of a KrakenSDR: connects, reconnects after failures, and reads frame by frame. */
import { refuse } from '../../../core/errors.js';
import { formatBytes } from '../../../core/units.js';
import { ByteFeed } from '../../io/byte-feed.js';
import { connectTcp, RECONNECT_MS, streamOf, type ByteStream } from '../../io/byte-stream.js';
import { MOST_CHANNELS, MOST_FRAME_BYTES, type KrakenFrame } from './frame.js';
import * as v1 from './version1.js';
import * as v2 from './version2.js';

export type KrakenVersion = 1 | 2;

export interface KrakenAddress {
  readonly host: string;
  readonly port: number;
  readonly version: KrakenVersion;
}

export type ClientEvent =
  | { readonly kind: 'waiting' | 'connected' | 'silent' }
  /** The connection ended, within a frame or between two. */
  | { readonly kind: 'cut'; readonly within: 'frame' | 'nothing' }
  /** An invalid header; this many bytes were skipped. */
  | { readonly kind: 'damaged'; readonly bytes: number };

/** Without data for this long, the receiver counts as silent. */
const SILENT_MS = 1000;
const STALL_MS = 50;
/** After a damaged header from a receiver that sends one frame per request: no more data follow after this time. */
const DRAIN_MS = 300;
/** A frame whose rest does not come within this time never will: its header has a wrong length. */
const MOST_FRAME_WAIT_MS = 10_000;
/** More bytes without a frame are of another server; after frames, the connection is made anew. */
const MOST_UNKNOWN_BYTES = 2 ** 24;

export class KrakenClient {
  private stopping = false;
  private socket: ByteStream | undefined;
  private wake: () => void = () => undefined;
  private readonly name: string;
  private payload = new ArrayBuffer(0);
  /** Of the longest frame so far; 0 before the first. */
  private frameBytes = 0;

  constructor(
    private readonly address: KrakenAddress,
    private readonly onEvent: (event: ClientEvent) => void,
    private readonly mostFrameWaitMs = MOST_FRAME_WAIT_MS,
  ) {
    const { host, port, version } = address;
    this.name = `${version === 1 ? 'kraken' : 'kraken2'}://${host}:${port}`;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.wake();
    await this.socket?.close();
  }

  /** A frame's voltages are valid until the next is requested. */
  async *frames(): AsyncGenerator<KrakenFrame> {
    let isWaiting = false;
    while (!this.isStopped()) {
      const { host, port, version } = this.address;
      const socket = await connectTcp(host, port);
      if (!socket || this.isStopped()) {
        socket?.destroy();
        if (!isWaiting) this.onEvent({ kind: 'waiting' });
        isWaiting = true;
        await this.pause(RECONNECT_MS);
        continue;
      }
      isWaiting = false;
      socket.setNoDelay(true);
      // A broken connection is detected from the missing bytes.
      socket.on('error', () => undefined);
      this.onEvent({ kind: 'connected' });
      this.socket = streamOf(this.name, socket);
      const feed = new ByteFeed(this.socket, SILENT_MS);
      yield* version === 1 ? this.version1(feed, (text) => socket.write(text)) : this.version2(feed);
      await this.socket.close();
      if (!this.isStopped()) await this.pause(DRAIN_MS);
    }
  }

  /** A stop may come during any wait. */
  private isStopped(): boolean {
    return this.stopping;
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Waits for all bytes; returns how many came if the connection ended first. */
  private async whole(feed: ByteFeed, target: Uint8Array, mostWaitMs: number): Promise<number> {
    let filled = 0;
    let waitedMs = 0;
    let isSilent = false;
    for (;;) {
      const came = await feed.fill(target, filled);
      filled = came.filled;
      if (came.then !== 'quiet') return filled;
      // A stalled event loop is not a silence: the data have already arrived.
      const late = await feed.fill(target, filled, STALL_MS);
      filled = late.filled;
      if (late.then !== 'quiet') {
        if (filled === target.length || late.then === 'ended') return filled;
        continue;
      }
      if (!isSilent) this.onEvent({ kind: 'silent' });
      isSilent = true;
      waitedMs += SILENT_MS + STALL_MS;
      if (waitedMs > mostWaitMs) return filled;
    }
  }

  /** The same; false, and reported, if the connection ended first. `before`: bytes of the frame read already. */
  private async isFilled(
    feed: ByteFeed,
    target: Uint8Array,
    before = 0,
    mostWaitMs = Infinity,
  ): Promise<boolean> {
    const filled = await this.whole(feed, target, mostWaitMs);
    if (filled === target.length) return true;
    if (!this.isStopped()) this.onEvent({ kind: 'cut', within: before + filled > 0 ? 'frame' : 'nothing' });
    return false;
  }

  /**
   * Reports skipped bytes; false where they are too many for a damaged frame. A receiver that never sent a frame is not
   * a KrakenSDR.
   */
  private isDamage(bytes: number): boolean {
    const isTooMuch = bytes >= Math.max(MOST_UNKNOWN_BYTES, 2 * this.frameBytes);
    if (isTooMuch && this.frameBytes === 0)
      refuse(
        this.name,
        `sends no frames of a KrakenSDR: ${formatBytes(bytes)} without a header`,
        'check its host, port and version of the protocol; samples without headers are read as tcp://HOST:PORT',
      );
    if (!this.isStopped()) this.onEvent({ kind: 'damaged', bytes });
    if (isTooMuch && !this.isStopped()) this.onEvent({ kind: 'cut', within: 'frame' });
    return !isTooMuch;
  }

  private buffer(bytes: number): ArrayBuffer {
    if (this.payload.byteLength < bytes) this.payload = new ArrayBuffer(bytes);
    return this.payload;
  }

  private async *version1(feed: ByteFeed, ask: (text: string) => void): AsyncGenerator<KrakenFrame> {
    const header = new Uint8Array(v1.HEADER_BYTES);
    let request = v1.START_REQUEST;
    for (;;) {
      ask(request);
      request = v1.FRAME_REQUEST;
      if (!(await this.isFilled(feed, header))) return;
      const read = v1.readHeader(header);
      if (!read || !isLikely(read.channels, v1.payloadBytes(read))) {
        if (isVersion2(header))
          refuse(this.name, 'sends version 2 of the protocol', 'name it kraken2://HOST:8091');
        if (!this.isDamage(header.length + (await this.drain(feed)))) return;
        continue;
      }
      if (!v1.isFloat(read) && read.samples > 0) {
        if (this.frameBytes === 0)
          refuse(
            this.name,
            `its samples have ${read.bits} bits`,
            'read the output of the last stage of the receiver, which has 32 bits',
          );
        if (!this.isDamage(header.length + (await this.drain(feed)))) return;
        continue;
      }
      const bytes = v1.payloadBytes(read);
      const payload = new Uint8Array(this.buffer(bytes), 0, bytes);
      if (!(await this.isFilled(feed, payload, v1.HEADER_BYTES, this.mostFrameWaitMs))) return;
      this.frameBytes = Math.max(this.frameBytes, header.length + bytes);
      const { timeMs, ...facts } = read;
      const time = v1.timeOf(read);
      const voltages = new Float32Array(payload.buffer, 0, bytes / 4);
      yield { ...facts, ...(timeMs > 0 && time && { time }), voltages, arrivedMs: Date.now() };
    }
  }

  /** Reads everything up to a silence, or more than a frame can be: after a damaged header the length is unknown. */
  private async drain(feed: ByteFeed): Promise<number> {
    const target = new Uint8Array(2 ** 16);
    let bytes = 0;
    for (;;) {
      const { filled, then } = await feed.fill(target, 0, DRAIN_MS);
      bytes += filled;
      if (then !== 'more' || bytes >= Math.max(MOST_UNKNOWN_BYTES, 2 * this.frameBytes)) return bytes;
    }
  }

  private async *version2(feed: ByteFeed): AsyncGenerator<KrakenFrame> {
    const words = new Uint8Array(v2.WORDS_BYTES);
    let skipped = 0;
    let last: v2.Version2Words | undefined;
    for (;;) {
      if (!(await this.isFilled(feed, words))) return;
      const read = v2.readWords(words);
      if (!read || !isLikely(read.channels, v2.restBytes(read))) {
        if (skipped === 0 && !last && new DataView(words.buffer).getUint32(0, true) === v1.SYNC_WORD)
          refuse(this.name, 'sends version 1 of the protocol', 'name it kraken://HOST:5000');
        // Packets are contiguous: the next begins where this one ends, or at the next magic word.
        if (last && skipped === 0) {
          const rest = new Uint8Array(v2.restBytes(last));
          if (!(await this.isFilled(feed, rest, words.length))) return;
          skipped = words.length + rest.length;
        } else {
          feed.putBack(words.subarray(1));
          skipped += 1 + feed.skipTo(MAGIC_BYTES);
        }
        if (skipped >= Math.max(MOST_UNKNOWN_BYTES, 2 * this.frameBytes) && !this.isDamage(skipped)) return;
        continue;
      }
      if (skipped > 0) this.onEvent({ kind: 'damaged', bytes: skipped });
      const damagedSamples = last === undefined ? 0 : skippedSamples(skipped, last);
      skipped = 0;
      last = read;
      const bytes = v2.restBytes(read);
      const rest = new Uint8Array(this.buffer(bytes), 0, bytes);
      if (!(await this.isFilled(feed, rest, words.length))) return;
      this.frameBytes = Math.max(this.frameBytes, words.length + bytes);
      const first = v2.samplesFrom(read.channels);
      const voltages = new Int8Array(rest.buffer, first, bytes - first);
      let clipped = 0;
      for (let a = 0; a < read.channels; a++) {
        const from = first + 2 * a * read.samples;
        if (rest.subarray(from, from + 2 * read.samples).includes(255)) clipped |= 1 << a;
      }
      // Unsigned bytes with 128 for zero become signed.
      for (let n = first; n < bytes; n++) rest[n] ^= 0x80;
      yield {
        ...read,
        frequencyHz: v2.frequencyOf(rest),
        overdriven: clipped >>> 0,
        voltages,
        arrivedMs: Date.now(),
        skippedSamples: damagedSamples,
      };
    }
  }
}

const MAGIC_BYTES = Buffer.from([v2.MAGIC >>> 24, v2.MAGIC >>> 16, v2.MAGIC >>> 8, v2.MAGIC]);

/** Samples of damaged packets, estimated from their bytes. */
const skippedSamples = (bytes: number, last: v2.Version2Words): number =>
  Math.round((bytes / (v2.WORDS_BYTES + v2.restBytes(last))) * last.samples);

const isLikely = (channels: number, bytes: number): boolean =>
  channels >= 1 && channels <= MOST_CHANNELS && bytes <= MOST_FRAME_BYTES;

const isVersion2 = (bytes: Uint8Array): boolean => v2.readWords(bytes) !== undefined;
