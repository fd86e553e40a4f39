/** Whole arrays to the card and back, through page-locked memory. For single transfers, not for streams of blocks. */
import koffi from 'koffi';
import { preparing } from '../../core/closing.js';
import { PIECE_BYTES, type CudaSession, type DeviceMemory, type Stream } from './session.js';

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** New device memory holding a copy of the array. */
export async function uploadArray(
  session: CudaSession,
  what: string,
  array: ArrayBufferView,
): Promise<DeviceMemory> {
  return preparing(async (closers) => {
    const memory = closers.keep(session.allocate(what, array.byteLength));
    await uploadInto(session, memory, array);
    return memory;
  });
}

export async function uploadInto(
  session: CudaSession,
  memory: DeviceMemory,
  array: ArrayBufferView,
  stream: Stream = session.streams.compute,
): Promise<void> {
  const bytes = bytesOf(array);
  const pinned = session.borrowPiece();
  const arrived = session.createEvent();
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      pinned.view(Uint8Array, piece.length).set(piece);
      const to = memory.pointer + BigInt(at);
      session.call('cuMemcpyHtoDAsync', to, pinned.pointer, piece.length, stream.handle);
      arrived.record(stream);
      await arrived.passed();
    }
    await pinned.close(); // not after an error, when a transfer may still use it
  } finally {
    await arrived.close();
  }
}

interface Memcpy {
  async(to: Uint8Array, from: Uint8Array, bytes: number, done: (fault: unknown) => void): void;
}
let memcpy: Memcpy | undefined | 'none';

function load(): Memcpy | undefined {
  try {
    return koffi.load('libc.so.6').func('void *memcpy(void *to, const void *from, size_t bytes)');
  } catch {
    // Another C library: copied here instead.
    return undefined;
  }
}

/**
 * Fills `to` from `from` of the same length, on a thread of the pool: hundreds of megabytes would block the event loop; neither
 * may be used until the promise resolves.
 */
export async function copyApart(to: Uint8Array, from: Uint8Array): Promise<void> {
  if (to.length !== from.length) throw new Error(`${from.length} bytes do not fill ${to.length}`);
  memcpy ??= load() ?? 'none';
  const copy = memcpy;
  if (copy === 'none') to.set(from);
  else
    await new Promise<void>((resolve, reject) => {
      copy.async(to, from, to.length, (fault) => {
        if (fault) reject(new Error('memory could not be copied', { cause: fault }));
        else resolve();
      });
    });
}

/** Pieces of a download in progress at once. */
const BUFFERS = 8;

/** Fills the array from the start of device memory, after all work in the stream. */
export async function downloadInto(
  session: CudaSession,
  memory: DeviceMemory,
  array: ArrayBufferView,
  stream: Stream = session.streams.compute,
): Promise<void> {
  const bytes = bytesOf(array);
  const pieces = Math.ceil(bytes.length / PIECE_BYTES);
  // Several, so that some arrive while others are copied out, each by a thread of the pool.
  const buffers = Array.from({ length: Math.min(pieces, BUFFERS) }, () => ({
    pinned: session.borrowPiece(),
    arrived: session.createEvent(),
    copied: Promise.resolve(),
  }));
  const start = (n: number): void => {
    const { pinned, arrived } = buffers[n % BUFFERS];
    const from = memory.pointer + BigInt(n * PIECE_BYTES);
    const length = Math.min(PIECE_BYTES, bytes.length - n * PIECE_BYTES);
    session.call('cuMemcpyDtoHAsync', pinned.pointer, from, length, stream.handle);
    arrived.record(stream);
  };
  try {
    for (let n = 0; n < buffers.length; n++) start(n);
    for (let n = 0; n < pieces; n++) {
      const buffer = buffers[n % BUFFERS];
      await buffer.arrived.passed();
      const at = n * PIECE_BYTES;
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      buffer.copied = copyApart(piece, buffer.pinned.view(Uint8Array, piece.length));
      // The oldest is needed next.
      const next = n + 1 - BUFFERS / 2;
      if (next < 0 || next + BUFFERS >= pieces) continue;
      await buffers[next % BUFFERS].copied;
      start(next + BUFFERS);
    }
    for (const { copied } of buffers) await copied;
    for (const { pinned } of buffers) await pinned.close();
  } finally {
    for (const { arrived } of buffers) await arrived.close();
  }
}
