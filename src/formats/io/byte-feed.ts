/** Bytes of a stream, in pieces of the length that the reader needs. */
import type { ByteStream } from './byte-stream.js';

/** `quiet`: a timeout without bytes; `ended`: no more bytes will come. */
interface Filled {
  readonly filled: number;
  readonly then: 'more' | 'quiet' | 'ended';
}

export class ByteFeed {
  protected rest: Uint8Array = new Uint8Array(0);

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
      this.rest = this.rest.subarray(take);
      filled += take;
      if (filled === target.length) return { filled, then: 'more' };
      const came = await this.stream.next(quietMs);
      if (typeof came === 'string') return { filled, then: came };
      this.rest = came;
    }
  }

  /** The bytes received so far. */
  takeRest(): Uint8Array {
    const { rest } = this;
    this.rest = new Uint8Array(0);
    return rest;
  }

  putBack(bytes: Uint8Array): void {
    this.rest = this.rest.length === 0 ? bytes.slice() : joined(bytes, this.rest);
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
