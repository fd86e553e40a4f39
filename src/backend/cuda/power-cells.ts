/**
 * Sums of powers beside a block on a card (powers.cuh): how its spectra are divided into cells, and the place of a
 * channel's sums in one.
 */
import type { SpectraType } from '../../core/axes.js';
import type { SpectraShape } from '../../core/blocks.js';
import { LONG_WINDOW, SUMMED_AT_ONCE, windowsIn } from '../../core/windows.js';
import type { DeviceMemory } from './session.js';

/** cells : [cell][a][place]. */
export interface PowerCells {
  /** The number of cells for all the block's spectra. */
  readonly cells: number;
  /** Cells of a window are consecutive. */
  readonly perWindow: number;
  /** channels : [place], int32: the channel whose sums are at a place. */
  readonly channels: DeviceMemory;
}

/** struct PowerCells of powers.cuh. */
export const POWER_CELLS = { sums: 0, inverse: 8, eights: 16, last: 20, bytes: 24 } as const;
const CELL_BYTES = 8;
/** Sums of integers fit in a 64-bit word, those of floats are right to a hundred-thousandth at worst. */
const MOST_SPECTRA = 512;
/** For floats: blocks that share a window, STRIPES of powers.cuh. */
const STRIPES = 4;

/** Windows are divided into short enough parts: the longest is up to half as long again as requested. */
const cellsPerWindow = (type: SpectraType, spectraPerWindow: number): number =>
  Math.ceil((1.5 * spectraPerWindow) / (MOST_SPECTRA - SUMMED_AT_ONCE)) * (type === 'cf32' ? STRIPES : 1);

/** The number of cells of so many spectra for a flagger's windows; none where windows begin anywhere. */
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

/** The bytes of cells beside a block; 0 where they were not requested. */
export const powersBytesOf = (shape: SpectraShape): number =>
  shape.powers === undefined ? 0 : cellBytes(shape, cellsIn(shape.type, shape.capacity, shape.powers).cells);

/** The kernels' arguments for the cells of so many spectra. */
export const cellNumbers = (
  spectra: number,
  cells: number,
): { readonly inverse: bigint; readonly eights: number; readonly last: number } => {
  // One spectrum is one cell, for any dividend.
  const divisor = BigInt(Math.max(2, spectra));
  return { inverse: (2n ** 64n + divisor - 1n) / divisor, eights: 8 * cells, last: cells - 1 };
};
