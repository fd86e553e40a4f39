/**
 * Spectra in device memory, as every kernel of the cuda backend reads and writes them:
 *   [c][a][pitch], rows of (re, im): int8 for ci8 and ci4, float32 for cf32.
 * A row's pitch is a multiple of 128 bytes, and integer rows are zero from their last sample to the next such multiple,
 * so that kernels may read whole spans.
 */
import {
  allocateSpectra,
  spectraCAT,
  spectraSizeBytes,
  type SpectraCAT,
  type SpectraType,
} from '../../core/axes.js';
import { ownBlock, type SpectraBlock, type SpectraShape } from '../../core/blocks.js';
import { Closers, type Closable } from '../../core/closing.js';
import { wholeNumber } from '../../core/errors.js';
import { roundUp } from '../../core/round-up.js';
import type { SpectraGap } from '../../core/gaps.js';
import type { Kernel, KernelRequest, KernelShop } from './kernels.js';
import type { CardMeter } from './meter.js';
import { powersBytesOf, type PowerCells } from './power-cells.js';
import type { CudaSession, DeviceMemory, DevicePointer, PinnedMemory, Stream } from './session.js';
import { kernelSource } from './sources.js';
import type { RowCopy } from './structs.js';

/** Facts about what was written. */
interface Written {
  /** Invalid input values were replaced; false by default. */
  readonly faulty?: boolean;
  /** Powers of the written spectra are in the block's memory for them. */
  readonly powers?: PowerCells | undefined;
}

export interface CudaSpectraBlock extends SpectraBlock {
  readonly home: 'cuda';
  /** Memory for sums of powers, where requested and windows are long enough. */
  readonly powersBuffer: DeviceMemory | undefined;
  /** The powers there, while they match the block's content. */
  readonly powers: PowerCells | undefined;
  readonly pointer: DevicePointer;
  readonly pitchBytes: number;
  /** Some written value is outside its range (docs/conventions.md, Numbers). Known once write() has resolved. */
  readonly faulty: boolean;
  /** Before a kernel in `stream` reads the block: waits for its writers. Afterwards, `doneReading`. */
  reading(stream: Stream): void;
  doneReading(stream: Stream): void;
  /** Before a kernel in `stream` fills the block: waits for its readers. Afterwards, `doneWriting`. */
  writing(stream: Stream): void;
  doneWriting(stream: Stream, samples: number, gaps: readonly SpectraGap[], more?: Written): void;
  /** After a kernel in `stream`, between `writing` and this, zeroed more of the block. */
  addGaps(stream: Stream, more: readonly SpectraGap[]): void;
}

export const SPAN_BYTES = 128;
/** ci4 is kept unpacked. */
const deviceSampleBytes = { ci8: 2, ci4: 2, cf32: 8 } satisfies Record<SpectraType, number>;

export const pitchBytesFor = (type: SpectraType, capacity: number): number =>
  Math.max(SPAN_BYTES, roundUp(capacity * deviceSampleBytes[type], SPAN_BYTES));
/** Packed 4-bit rows on the device: eight samples are read at once. */
const packedPitchFor = (capacity: number): number => Math.max(16, roundUp(capacity, 16));

const entries = {
  unpackCi4: ['pointer', 'i64', 'pointer', 'i64', 'i32', 'i64', 'pointer'],
  packCi4: ['pointer', 'i64', 'pointer', 'i64', 'i32', 'i64'],
  checkCi8: ['pointer', 'i64', 'i32', 'i64', 'pointer'],
  checkCf32: ['pointer', 'i64', 'i32', 'i64', 'pointer'],
} as const;
type SpectraKernels = Record<keyof typeof entries, Kernel>;

export const spectraRequest = () =>
  ({
    ...kernelSource(import.meta.url, 'spectra.cu'),
    defines: {},
    entries,
  }) satisfies KernelRequest;

export async function openSpectraAllocator(
  session: CudaSession,
  shop: KernelShop,
  meter: CardMeter,
): Promise<(shape: SpectraShape) => CudaSpectraBlock> {
  const kernels = await shop.prepare(spectraRequest());
  return (shape) => allocateCudaSpectra(session, kernels, shape, meter);
}

/** Threads along a row, and as many rows as fit in the grid's second axis; kernels stride over the rest. */
function rowGrid(items: number, rows: number): { grid: readonly [number, number]; threads: number } {
  const threads = 128;
  return { grid: [Math.max(1, Math.ceil(items / threads)), Math.min(rows, 65_535)], threads };
}

const titleOf = ({ channels, inputs, capacity }: SpectraShape): string =>
  `a block of ${channels} channels × ${inputs} inputs × ${capacity} spectra`;

/** All device objects of a block. */
function allocateParts(session: CudaSession, shape: SpectraShape) {
  const { type, channels, inputs, capacity } = shape;
  const rows = channels * inputs;
  const title = titleOf(shape);
  const closers = new Closers();
  try {
    return {
      closers,
      memory: closers.keep(session.allocate(title, rows * pitchBytesFor(type, capacity))),
      faultWord: closers.keep(session.allocate('a fault word', 4)),
      faultOnHost: closers.keep(session.allocatePinned('a fault word', 4)),
      filled: closers.keep(session.createEvent()),
      read: closers.keep(session.createEvent()),
      uploaded: closers.keep(session.createEvent()),
      powersBuffer:
        powersBytesOf(shape) > 0
          ? closers.keep(session.allocate(`${title}, powers`, powersBytesOf(shape)))
          : undefined,
      packed:
        type === 'ci4'
          ? closers.keep(session.allocate(`${title}, packed`, rows * packedPitchFor(capacity)))
          : undefined,
    };
  } catch (error) {
    // Blocks are allocated without waiting, so this cannot wait either.
    void closers.close().catch(() => undefined);
    throw error;
  }
}

function allocateCudaSpectra(
  session: CudaSession,
  kernels: SpectraKernels,
  shape: SpectraShape,
  meter: CardMeter,
): CudaSpectraBlock {
  const { type, channels, inputs, capacity } = shape;
  const rows = channels * inputs;
  const pitchBytes = pitchBytesFor(type, capacity);
  const packedPitch = packedPitchFor(capacity);
  const parts = allocateParts(session, shape);
  const { closers, memory, faultWord, faultOnHost, filled, read, uploaded, packed, powersBuffer } = parts;
  const faultView = faultOnHost.view(Int32Array, 1);
  /** Pinned copy of pageable data in transfer; made when first needed. */
  let staging: PinnedMemory | undefined;
  let samples = 0;
  let gaps: readonly SpectraGap[] = [];
  let faulty = false;
  let powers: PowerCells | undefined;

  const rowBytes = (count: number): number => count * spectraSizeBytes(type);
  /** All samples in the canonical order, there and in the block or its packed copy. */
  const rowsAt = (host: bigint): RowCopy => ({
    host,
    hostPitchBytes: rowBytes(samples),
    widthBytes: rowBytes(samples),
    rows,
    device: packed?.pointer ?? memory.pointer,
    devicePitchBytes: packed ? packedPitch : pitchBytes,
  });
  const stage = (): PinnedMemory =>
    (staging ??= closers.keep(session.allocatePinned(titleOf(shape), rows * rowBytes(capacity))));

  /** Zero tails, 4-bit samples unpacked, every sample checked: in the prepare stream, after the upload. */
  function prepare(): void {
    const { handle } = session.streams.prepare;
    session.call('cuMemsetD8Async', faultWord.pointer, 0, 4, handle);
    const dataBytes = samples * deviceSampleBytes[type];
    const tailBytes = roundUp(dataBytes, SPAN_BYTES) - dataBytes;
    if (samples > 0) {
      if (type === 'ci8' && tailBytes > 0) {
        const tail = memory.pointer + BigInt(dataBytes);
        session.call('cuMemsetD2D8Async', tail, pitchBytes, 0, tailBytes, rows, handle);
      }
      const { pointer } = memory;
      const [kernel, from, items] = (
        {
          ci8: [kernels.checkCi8, [], Math.ceil(samples / 8)],
          ci4: [kernels.unpackCi4, [packed?.pointer ?? 0n, packedPitch], roundUp(samples, 64) / 8],
          cf32: [kernels.checkCf32, [], samples],
        } satisfies Record<SpectraType, [Kernel, (number | bigint)[], number]>
      )[type];
      kernel.set([...from, pointer, pitchBytes, samples, rows, faultWord.pointer]);
      kernel.launch(rowGrid(items, rows), session.streams.prepare);
    }
    session.call('cuMemcpyDtoHAsync', faultOnHost.pointer, faultWord.pointer, 4, handle);
  }

  async function write(
    spectra: SpectraCAT,
    newSamples: number,
    newGaps: readonly SpectraGap[] = [],
  ): Promise<void> {
    const count = wholeNumber('spectra block', 'samples', newSamples, 0, capacity);
    const canonical = spectraCAT(spectra, type, channels, inputs, count);
    const { upload, prepare: preparing } = session.streams;
    let host = session.pinnedAddress(canonical);
    const isCopied = host === undefined;
    if (host === undefined) {
      await uploaded.passed(); // the staging memory may still be in transfer
      const pinned = stage();
      const { buffer, byteOffset, byteLength } = canonical;
      pinned.view(Uint8Array, byteLength).set(new Uint8Array(buffer, byteOffset, byteLength));
      host = pinned.pointer;
    }
    samples = count;
    gaps = newGaps;
    powers = undefined;
    read.holdBack(upload);
    // A packed copy is still read by the unpacking of the block's former contents.
    filled.holdBack(upload);
    const copy = rowsAt(host);
    meter.around('upload', upload, () => {
      session.copyRows(copy, 'up', upload);
    });
    meter.sent({ bytes: rows * copy.widthBytes, isCopied });
    uploaded.record(upload);
    uploaded.holdBack(preparing);
    prepare();
    filled.record(preparing);
    await filled.passed();
    faulty = faultView[0] !== 0;
  }

  async function readBack(): Promise<SpectraCAT> {
    const { compute } = session.streams;
    const pinned = stage();
    const result = allocateSpectra(type, channels, inputs, samples);
    filled.holdBack(compute);
    if (packed && samples > 0) {
      kernels.packCi4.set([memory.pointer, pitchBytes, packed.pointer, packedPitch, samples, rows]);
      kernels.packCi4.launch(rowGrid(samples, rows), compute);
    }
    session.copyRows(rowsAt(pinned.pointer), 'down', compute);
    read.record(compute);
    await read.passed();
    const bytes = pinned.view(Uint8Array, rows * rowBytes(samples));
    new Uint8Array(result.buffer, result.byteOffset, result.byteLength).set(bytes);
    return result;
  }

  return {
    home: 'cuda',
    shape,
    pointer: memory.pointer,
    pitchBytes,
    powersBuffer,
    get powers() {
      return powers;
    },
    get samples() {
      return samples;
    },
    get gaps() {
      return gaps;
    },
    get faulty() {
      return faulty;
    },
    write,
    read: readBack,
    reading: (stream) => {
      filled.holdBack(stream);
    },
    doneReading: (stream) => {
      read.record(stream);
    },
    writing: (stream) => {
      read.holdBack(stream);
      filled.holdBack(stream);
    },
    doneWriting: (stream, newSamples, newGaps, more = {}) => {
      samples = wholeNumber('spectra block', 'samples', newSamples, 0, capacity);
      gaps = newGaps;
      faulty = more.faulty ?? false;
      powers = more.powers;
      filled.record(stream);
    },
    addGaps: (stream, more) => {
      gaps = gaps.length === 0 ? more : [...gaps, ...more];
      powers = undefined;
      filled.record(stream);
    },
    close: () => closers.close(),
  };
}

/** The cuda backend's own view of a block; refuses another backend's. */
export const cudaSpectra = (where: string, block: SpectraBlock): CudaSpectraBlock =>
  ownBlock(where, block, 'cuda');

/** Pinned memory in the shape of canonical spectra: filled by the caller, its write() needs no host copy. */
export interface PinnedSpectra extends Closable {
  /** spectra : [c][a][t] */
  readonly spectra: SpectraCAT;
}

export function pinnedSpectra(session: CudaSession, shape: SpectraShape): PinnedSpectra {
  const { type, channels, inputs, capacity } = shape;
  const memory = session.allocatePinned(
    'pinned spectra',
    channels * inputs * capacity * spectraSizeBytes(type),
  );
  const spectra = allocateSpectra(type, channels, inputs, capacity, (sizeBytes) =>
    memory.view(Uint8Array, sizeBytes),
  );
  return { spectra, close: () => memory.close() };
}
