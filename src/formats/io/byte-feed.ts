/** Bytes of a stream, in pieces of the length that the reader needs. */
import type { ByteStream } from './byte-stream.js';

/** `quiet`: a timeout without bytes; `ended`: no more bytes will come. */
interface Filled {
  readonly filled: number;
  readonly then: 'more' | 'quiet' | 'ended';
}

export class ByteFeed {
  protected rest: Uint8Array = new Uint8Array(0);
  /** Bytes of the current piece before the rest. */
  private taken = 0;

  constructor(
    readonly stream: ByteStream,
    protected readonly quietMs: number,
  ) {}

  /** Fills `target` from `from` on; returns how many bytes came before a timeout or the end, and which it was. */
  async fill(target: Uint8Array, from: number, quietMs = this.quietMs): Promise<Filled> {
    let filled = from;
    for (;;) {
      const take = Math.min(this.rest.length, target.length - filled);
      target.set(this.rest.subarray(0, take), filled);
      this.drop(take);
      filled += take;
      if (filled === target.length) return { filled, then: 'more' };
      const came = await this.stream.next(quietMs);
      if (typeof came === 'string') return { filled, then: came };
      this.hold(came);
    }
  }

  /** The bytes received so far. */
  takeRest(): Uint8Array {
    const { rest } = this;
    this.hold(new Uint8Array(0));
    return rest;
  }

  protected hold(bytes: Uint8Array): void {
    this.rest = bytes;
    this.taken = 0;
  }

  private drop(length: number): void {
    this.rest = this.rest.subarray(length);
    this.taken += length;
  }

  /** Drops the bytes received so far up to these, or to what may be their beginning; returns how many. */
  skipTo(bytes: Uint8Array): number {
    const found = Buffer.from(this.rest.buffer, this.rest.byteOffset, this.rest.length).indexOf(bytes);
    const skipped = found >= 0 ? found : Math.max(0, this.rest.length - bytes.length + 1);
    this.drop(skipped);
    return skipped;
  }

  /** Takes back the bytes that were read last. */
  putBack(bytes: Uint8Array): void {
    const { buffer, byteOffset, length } = this.rest;
    if (bytes.length > this.taken) this.hold(joined(bytes, this.rest));
    else {
      this.rest = new Uint8Array(buffer, byteOffset - bytes.length, length + bytes.length);
      this.taken -= bytes.length;
    }
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
