/** Little-endian bytes in sequence, for HDF5's classic structures. */
interface ByteWriter {
  readonly length: number;
  u8(...values: number[]): ByteWriter;
  u16(...values: number[]): ByteWriter;
  u32(...values: number[]): ByteWriter;
  /** Integers below 2⁵³: sizes and addresses. */
  u64(...values: number[]): ByteWriter;
  /** The undefined address: all bits set. */
  nowhere(times?: number): ByteWriter;
  ascii(text: string): ByteWriter;
  bytes(bytes: Uint8Array): ByteWriter;
  /** Zeros up to a multiple of eight. */
  pad8(): ByteWriter;
  /** Zeros up to a length. */
  padTo(length: number): ByteWriter;
  done(): Uint8Array;
}

export function byteWriter(): ByteWriter {
  let buffer = new Uint8Array(256);
  let length = 0;
  const grow = (more: number): DataView => {
    if (length + more > buffer.length) {
      const larger = new Uint8Array(Math.max(2 * buffer.length, length + more));
      larger.set(buffer);
      buffer = larger;
    }
    return new DataView(buffer.buffer);
  };
  const writer: ByteWriter = {
    get length() {
      return length;
    },
    u8: (...values) => {
      for (const value of values) grow(1).setUint8(length++, value);
      return writer;
    },
    u16: (...values) => {
      for (const value of values) {
        grow(2).setUint16(length, value, true);
        length += 2;
      }
      return writer;
    },
    u32: (...values) => {
      for (const value of values) {
        grow(4).setUint32(length, value, true);
        length += 4;
      }
      return writer;
    },
    u64: (...values) => {
      for (const value of values) {
        grow(8).setBigUint64(length, BigInt(value), true);
        length += 8;
      }
      return writer;
    },
    nowhere: (times = 1) => {
      for (let k = 0; k < times; k++) writer.bytes(new Uint8Array(8).fill(255));
      return writer;
    },
    ascii: (text) => writer.bytes(new TextEncoder().encode(text)),
    bytes: (bytes) => {
      grow(bytes.length);
      buffer.set(bytes, length);
      length += bytes.length;
      return writer;
    },
    pad8: () => writer.padTo(Math.ceil(length / 8) * 8),
    padTo: (end) => {
      if (end > length) {
        grow(end - length);
        buffer.fill(0, length, end);
        length = end;
      }
      return writer;
    },
    done: () => buffer.slice(0, length),
  };
  return writer;
}
