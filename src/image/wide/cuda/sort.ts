/** Sorts visibilities on a card by tile and first plane, into the pieces that are gridded (wide-sort.cu). */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory, DevicePointer } from '../../../backend/cuda/session.js';
import type { Closers } from '../../../core/closing.js';
import { TILE_CELLS } from '../grid-size.js';
import type { WidePlan } from '../plan.js';
import {
  binGroups,
  PIECE_RECORDS,
  planSort,
  recordBytes,
  ROWS,
  SCAN_CHUNK,
  SCAN_THREADS,
  SHAPE,
} from './plan.js';

/** Threads of a block where each works by itself. */
export const THREADS = 256;
export const blocksFor = (items: number): number => Math.max(1, Math.min(65_535, Math.ceil(items / THREADS)));

/** A block of rows on the card. */
export interface DeviceRows {
  readonly uvw: DevicePointer;
  readonly scales: DevicePointer;
  /** 0 for ones. */
  readonly values: DevicePointer | 0n;
  readonly weights: DevicePointer | 0n;
  readonly rows: number;
  readonly channels: number;
}

export interface Sorted {
  readonly records: DeviceMemory;
  readonly pieces: DeviceMemory;
  readonly count: DeviceMemory;
  /** Pieces at the most. */
  readonly most: number;
}

/** Memory that grows with the blocks; the same serves the next. */
export class GrowingMemory {
  private readonly memories = new Map<string, DeviceMemory>();

  constructor(
    private readonly backend: CudaBackend,
    private readonly closers: Closers,
  ) {}

  of(what: string, sizeBytes: number): DeviceMemory {
    const known = this.memories.get(what);
    if (known && known.sizeBytes >= sizeBytes) return known;
    void known?.close(); // the driver waits for the card first
    const memory = this.closers.keep(this.backend.session.allocate(what, sizeBytes));
    this.memories.set(what, memory);
    return memory;
  }
}

export function writeShape(view: DataView, plan: WidePlan): void {
  view.setFloat64(SHAPE.pixelCosine, plan.pixelCosine, true);
  view.setFloat64(SHAPE.leastW, plan.bounds.leastWLambda, true);
  view.setFloat64(SHAPE.firstW, plan.w.firstLambda, true);
  view.setFloat64(SHAPE.spacing, plan.w.spacingLambda, true);
  view.setFloat64(SHAPE.middle, plan.middle, true);
  view.setFloat64(SHAPE.halfRange, plan.halfRange, true);
}

export function writeRows(view: DataView, plan: WidePlan, from: DeviceRows): void {
  view.setBigUint64(ROWS.uvw, from.uvw, true);
  view.setBigUint64(ROWS.scales, from.scales, true);
  view.setBigUint64(ROWS.values, from.values, true);
  view.setBigUint64(ROWS.weights, from.weights, true);
  view.setBigInt64(ROWS.count, BigInt(from.rows * from.channels), true);
  view.setInt32(ROWS.channels, from.channels, true);
  view.setInt32(ROWS.groups, binGroups(plan), true);
  view.setInt32(ROWS.firstPlanes, plan.w.planes - plan.w.support + 1, true);
}

export async function prepareSorter(plan: WidePlan, backend: CudaBackend, memory: GrowingMemory) {
  const { session, shop } = backend;
  const { compute: stream } = session.streams;
  const kernels = await shop.prepare(planSort(plan));
  const groups = binGroups(plan);
  const tiles = (plan.gridCells / TILE_CELLS) ** 2;
  const bins = tiles * groups;
  const chunks = Math.ceil(bins / SCAN_CHUNK);
  const counts = memory.of('bins of visibilities', 4 * bins);
  const totals = memory.of('chunks of bins', 4 * chunks);
  const pieceCount = memory.of('count of pieces', 4);
  return (from: DeviceRows): Sorted => {
    const count = from.rows * from.channels;
    const keys = memory.of('keys of visibilities', 4 * count);
    const records = memory.of('sorted visibilities', recordBytes(plan) * count);
    const most = Math.ceil(count / PIECE_RECORDS) + Math.min(tiles, count);
    const pieces = memory.of('pieces of tiles', 16 * most);
    for (const { pointer, sizeBytes } of [counts, pieceCount])
      session.call('cuMemsetD8Async', pointer, 0, sizeBytes, stream.handle);
    const { placeVisibilities, scanChunks, scanTotals, addTotals, scatterVisibilities, makePieces } = kernels;
    for (const kernel of [placeVisibilities, scatterVisibilities]) {
      writeShape(kernel.argument(0).view, plan);
      writeRows(kernel.argument(1).view, plan, from);
    }
    const shape = { grid: [blocksFor(count), 1], threads: THREADS } as const;
    const scan = { grid: [chunks, 1], threads: SCAN_THREADS } as const;
    placeVisibilities.set([null, null, keys.pointer, counts.pointer]);
    placeVisibilities.launch(shape, stream);
    scanChunks.set([counts.pointer, bins, totals.pointer]);
    scanChunks.launch(scan, stream);
    scanTotals.set([totals.pointer, chunks]);
    scanTotals.launch({ grid: [1, 1], threads: SCAN_THREADS }, stream);
    addTotals.set([counts.pointer, bins, totals.pointer]);
    addTotals.launch(scan, stream);
    scatterVisibilities.set([null, null, keys.pointer, counts.pointer, records.pointer]);
    scatterVisibilities.launch(shape, stream);
    makePieces.set([counts.pointer, groups, PIECE_RECORDS, pieces.pointer, pieceCount.pointer]);
    makePieces.launch({ grid: [blocksFor(tiles), 1], threads: THREADS }, stream);
    return { records, pieces, count: pieceCount, most };
  };
}
