/**
 * Sums of powers beside a block on a card (powers.cuh): how its spectra are cut into cells, and where a channel's sums lie in
 * one.
 */
import type { SpectraType } from '../../core/axes.js';
import type { SpectraShape } from '../../core/blocks.js';
import { LONG_WINDOW, SUMMED_AT_ONCE, windowsIn } from '../../core/windows.js';
import type { DeviceMemory } from './session.js';

/** cells : [cell][a][place]. */
export interface PowerCells {
  /** Of all the block's spectra. */
  readonly cells: number;
  /** Those of a window follow on each other. */
  readonly perWindow: number;
  /** channels : [place], int32: whose sums lie at a place. */
  readonly channels: DeviceMemory;
}

/** struct PowerCells of powers.cuh. */
export const POWER_CELLS = { sums: 0, inverse: 8, eights: 16, last: 20, bytes: 24 } as const;
const CELL_BYTES = 8;
/** Sums of integers fit into a word of 64 bits, those of floats are right to a hundred-thousandth at worst. */
const MOST_SPECTRA = 512;
/** Of floats: blocks that work side by side on a window, STRIPES of powers.cuh. */
const STRIPES = 4;

/** Windows are cut into parts that are short enough: the longest is half as long again as is asked for. */
const cellsPerWindow = (type: SpectraType, spectraPerWindow: number): number =>
  Math.ceil((1.5 * spectraPerWindow) / (MOST_SPECTRA - SUMMED_AT_ONCE)) * (type === 'cf32' ? STRIPES : 1);

/** Into how many cells so many spectra are cut for a flagger's windows; none where these begin anywhere. */
export function cellsIn(
  type: SpectraType,
  spectra: number,
  spectraPerWindow: number,
): Omit<PowerCells, 'channels'> {
  if (spectraPerWindow < LONG_WINDOW || spectra === 0) return { cells: 0, perWindow: 0 };
  const perWindow = cellsPerWindow(type, spectraPerWindow);
  return { cells: perWindow * windowsIn(spectra, spectraPerWindow), perWindow };
}

export const cellBytes = ({ channels, inputs }: SpectraShape, cells: number): number =>
  cells * channels * inputs * CELL_BYTES;

/** How many bytes of cells lie beside a block; 0 where nobody asked for them. */
export const powersBytesOf = (shape: SpectraShape): number =>
  shape.powers === undefined ? 0 : cellBytes(shape, cellsIn(shape.type, shape.capacity, shape.powers).cells);

/** What kernels are told of the cells of so many spectra. */
export const cellNumbers = (
  spectra: number,
  cells: number,
): { readonly inverse: bigint; readonly eights: number; readonly last: number } => {
  // One spectrum is one cell, whatever is divided by what.
  const divisor = BigInt(Math.max(2, spectra));
  return { inverse: (2n ** 64n + divisor - 1n) / divisor, eights: 8 * cells, last: cells - 1 };
};
