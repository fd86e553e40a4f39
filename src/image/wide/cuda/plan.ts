/**
 * Wide images on a card: the numbers kernels are compiled with, and the shape of launches. Pure, so that every plan can
 * be checked, and compiled, on a machine without a card.
 */
import { structure } from '../../../backend/cuda/arguments.js';
import type { KernelRequest } from '../../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import { refuse } from '../../../core/errors.js';
import { radicesOf, TILE_CELLS } from '../grid-size.js';
import type { WidePlan } from '../plan.js';

type Shape = Pick<WidePlan, 'pixels' | 'gridCells' | 'support' | 'precision' | 'scale' | 'taps' | 'w'>;

/** struct Shape of wide.cuh, and Rows of place.cuh. */
export const SHAPE = {
  pixelCosine: 0,
  leastW: 8,
  firstW: 16,
  spacing: 24,
  middle: 32,
  halfRange: 40,
  bytes: 48,
} as const;
export const ROWS = {
  uvw: 0,
  scales: 8,
  values: 16,
  weights: 24,
  count: 32,
  channels: 40,
  groups: 44,
  firstPlanes: 48,
  bytes: 56,
} as const;
const shape = structure('Shape', SHAPE);
const rows = structure('Rows', ROWS);

const realBytes = ({ precision }: Pick<Shape, 'precision'>): 4 | 8 => (precision === 'float32' ? 4 : 8);
/** struct Record of place.cuh. */
export const recordBytes = (plan: Shape): number => (realBytes(plan) === 4 ? 24 : 48);
export const complexBytes = (plan: Shape): number => 2 * realBytes(plan);

const definesOf = (plan: Shape) => ({
  DOUBLE: Number(plan.precision === 'float64'),
  SIDE: plan.gridCells,
  PIXELS: plan.pixels,
  W: plan.support,
  WW: plan.w.support,
});
const source = (name: string, ...headers: readonly string[]) => ({
  name,
  source: readSource(import.meta.url, name),
  headers: {
    ...commonHeaders('integers.cuh'),
    ...Object.fromEntries(headers.map((header) => [header, readSource(import.meta.url, header)])),
  },
});

export const planSort = (plan: Shape) =>
  ({
    ...source('wide-sort.cu', 'wide.cuh', 'place.cuh'),
    defines: definesOf(plan),
    entries: {
      placeVisibilities: [shape, rows, 'pointer', 'pointer'],
      scanChunks: ['pointer', 'i64', 'pointer'],
      scanTotals: ['pointer', 'i32'],
      addTotals: ['pointer', 'i64', 'pointer'],
      scatterVisibilities: [shape, rows, 'pointer', 'pointer', 'pointer'],
      makePieces: ['pointer', 'i32', 'i32', 'pointer', 'pointer'],
    },
  }) as const satisfies KernelRequest;

/** SCAN_THREADS and SCAN_CHUNK of wide-sort.cu. */
export const SCAN_THREADS = 256;
export const SCAN_CHUNK = 4096;
/** Scanning more bins than this is wasted: planes of a tile then share bins. */
const MOST_BINS = 2 ** 24;

/** Groups of first planes that the visibilities of a tile are sorted into. */
export function binGroups({ gridCells, w }: Pick<Shape, 'gridCells' | 'w'>): number {
  const tiles = (gridCells / TILE_CELLS) ** 2;
  return Math.max(1, Math.min(w.planes - w.support + 1, Math.floor(MOST_BINS / tiles)));
}

/** Records of a block: enough to spare the grid, few enough to keep all of a card busy. */
export const PIECE_RECORDS = 8192;

export interface GridLaunch {
  readonly request: KernelRequest & ReturnType<typeof gridRequest>;
  /** Places in the ring of planes in one block, and blocks that share them. */
  readonly slots: number;
  readonly slotGroups: number;
  readonly sharedBytes: number;
}

const gridRequest = (plan: Shape, slots: number) =>
  ({
    ...source('wide-grid.cu', 'wide.cuh', 'place.cuh'),
    defines: { ...definesOf(plan), DEGREE: plan.taps.degree, W_DEGREE: plan.w.taps.degree, SLOTS: slots },
    entries: {
      gridPieces: ['pointer', 'pointer', 'pointer', 'pointer', 'i32', 'i32', 'pointer', 'pointer'],
      degridRows: [shape, rows, 'pointer', 'pointer', 'i32', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;

/** BATCH of wide-grid.cu. */
const BATCH = 64;

/** As many places of the ring in a block as fit twice in shared memory, so that two blocks share a multiprocessor. */
export function planGrid(plan: Shape, card: { readonly sharedBytesPerBlock: number }): GridLaunch {
  const reach = TILE_CELLS + plan.support - 1;
  const complex = complexBytes(plan);
  const taps = plan.taps.coefficients.length + plan.w.taps.coefficients.length;
  const fixed = 2 * BATCH * plan.support * (complex / 2) + 4 * BATCH + taps * (complex / 2);
  const perSlot = (reach * (reach + 1) + BATCH) * complex;
  const room = Math.floor((card.sharedBytesPerBlock / 2 - fixed) / perSlot);
  const slotGroups = Math.ceil(plan.w.support / Math.max(1, Math.min(plan.w.support, room)));
  const slots = Math.ceil(plan.w.support / slotGroups);
  return { request: gridRequest(plan, slots), slots, slotGroups, sharedBytes: fixed + slots * perSlot };
}

export interface FftLaunch {
  readonly request: KernelRequest & ReturnType<typeof fftRequest>;
  readonly lines: number;
  readonly threads: number;
  readonly sharedBytes: number;
}

const fftRequest = (plan: Shape, radices: readonly number[], lines: number, threads: number) =>
  ({
    ...source('wide-fft.cu', 'wide.cuh'),
    defines: {
      ...definesOf(plan),
      // one digit each, the first pass last
      RADICES: Number([...radices].reverse().join('')),
      LINES: lines,
      THREADS: threads,
      OVER_N: Number(plan.scale === 'flux-over-n'),
    },
    entries: {
      clearTouched: ['pointer', 'pointer'],
      rowsToImage: ['pointer', 'pointer', 'pointer'],
      rowsToGrid: ['pointer', 'pointer'],
      columnsToImage: ['pointer', 'pointer', 'i32', 'pointer', 'pointer', 'pointer'],
      columnsToGrid: ['pointer', 'i32', 'pointer', 'pointer', 'pointer'],
      makeSteps: [shape, 'pointer', 'i32', 'pointer', 'pointer'],
      collectImage: ['pointer', 'pointer', 'pointer', 'pointer'],
      spreadImage: ['pointer', 'pointer', 'pointer', 'pointer'],
    },
  }) as const satisfies KernelRequest;

const MOST_LINES = 4;
const MOST_THREADS = 1024;
/** Elements in a thread's registers between reading and writing: two registers each, or four. */
const ELEMENTS_EACH = 20;

/** Lines of a block: four, whose elements fill a sector of memory, or as many as fit. */
export function planFft(plan: Shape, card: { readonly sharedBytesPerBlock: number }): FftLaunch {
  const { gridCells } = plan;
  const radices = radicesOf(gridCells) ?? refuse('image', `a grid of ${gridCells} cells`);
  const lineBytes = gridCells * complexBytes(plan);
  let lines = MOST_LINES;
  while (lines > 1 && lines * lineBytes > card.sharedBytesPerBlock / 2) lines /= 2;
  if (lines * lineBytes > card.sharedBytesPerBlock) {
    const cells = Math.floor(card.sharedBytesPerBlock / complexBytes(plan));
    const fix = `make the image smaller, or choose backend 'cpu'`;
    refuse(
      'image',
      `a grid of ${gridCells} cells on a side, where this card's transforms hold ${cells}`,
      fix,
    );
  }
  const wanted = Math.ceil((gridCells * lines) / ELEMENTS_EACH / 32) * 32;
  const threads = Math.min(MOST_THREADS, Math.max(128, wanted));
  return {
    request: fftRequest(plan, radices, lines, threads),
    lines,
    threads,
    sharedBytes: lines * lineBytes,
  };
}
