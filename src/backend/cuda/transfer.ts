/** Whole arrays to the card and back, through page-locked memory. For what is moved once, not for streams of blocks. */
import { preparing } from '../../core/closing.js';
import { copyApart } from './host-copy.js';
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
      new Uint8Array(pinned.buffer).set(piece);
      const to = memory.pointer + BigInt(at);
      session.call('cuMemcpyHtoDAsync', to, pinned.pointer, piece.length, stream.handle);
      arrived.record(stream);
      await arrived.passed();
    }
    await pinned.close(); // not after an error, when something may still be on its way through it
  } finally {
    await arrived.close();
  }
}

/** Fills the array from the start of device memory, after everything already in the stream. */
export async function downloadInto(
  session: CudaSession,
  memory: DeviceMemory,
  array: ArrayBufferView,
  stream: Stream = session.streams.compute,
): Promise<void> {
  const bytes = bytesOf(array);
  // Two, so that one arrives while the other is copied out.
  const buffers = [0, 1].map(() => ({
    pinned: session.borrowPiece(),
    arrived: session.createEvent(),
  }));
  const pieces = Math.ceil(bytes.length / PIECE_BYTES);
  const start = (n: number): void => {
    const { pinned, arrived } = buffers[n % 2];
    const from = memory.pointer + BigInt(n * PIECE_BYTES);
    const length = Math.min(PIECE_BYTES, bytes.length - n * PIECE_BYTES);
    session.call('cuMemcpyDtoHAsync', pinned.pointer, from, length, stream.handle);
    arrived.record(stream);
  };
  try {
    if (pieces > 0) start(0);
    for (let n = 0; n < pieces; n++) {
      const { pinned, arrived } = buffers[n % 2];
      await arrived.passed();
      if (n + 1 < pieces) start(n + 1);
      const length = Math.min(PIECE_BYTES, bytes.length - n * PIECE_BYTES);
      const at = n * PIECE_BYTES;
      await copyApart(bytes.subarray(at, at + length), new Uint8Array(pinned.buffer, 0, length));
    }
    for (const { pinned } of buffers) await pinned.close();
  } finally {
    for (const { arrived } of buffers) await arrived.close();
  }
}
