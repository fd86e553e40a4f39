/** Little-endian bytes in sequence, for HDF5's classic structures. */
export class ByteWriter {
  length = 0;
  private buffer = new Uint8Array(256);

  private grow(more: number): DataView {
    if (this.length + more > this.buffer.length) {
      const larger = new Uint8Array(Math.max(2 * this.buffer.length, this.length + more));
      larger.set(this.buffer);
      this.buffer = larger;
    }
    return new DataView(this.buffer.buffer);
  }

  private put(
    sizeBytes: number,
    values: readonly number[],
    set: (view: DataView, at: number, value: number) => void,
  ): this {
    for (const value of values) {
      set(this.grow(sizeBytes), this.length, value);
      this.length += sizeBytes;
    }
    return this;
  }

  u8(...values: number[]): this {
    return this.put(1, values, (view, at, value) => {
      view.setUint8(at, value);
    });
  }

  u16(...values: number[]): this {
    return this.put(2, values, (view, at, value) => {
      view.setUint16(at, value, true);
    });
  }

  u32(...values: number[]): this {
    return this.put(4, values, (view, at, value) => {
      view.setUint32(at, value, true);
    });
  }

  /** Integers below 2⁵³: sizes and addresses. */
  u64(...values: number[]): this {
    return this.put(8, values, (view, at, value) => {
      view.setBigUint64(at, BigInt(value), true);
    });
  }

  /** The undefined address: all bits set. */
  nowhere(times = 1): this {
    return this.bytes(new Uint8Array(8 * times).fill(255));
  }

  ascii(text: string): this {
    return this.bytes(new TextEncoder().encode(text));
  }

  bytes(bytes: Uint8Array): this {
    this.grow(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  /** Zeros up to a multiple of eight. */
  pad8(): this {
    return this.padTo(Math.ceil(this.length / 8) * 8);
  }

  /** Zeros up to a length. */
  padTo(length: number): this {
    return this.bytes(new Uint8Array(Math.max(0, length - this.length)));
  }

  done(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }
}
