/**
 * Planes of w to an image and back, one plane after the other.
 *
 *   image = Re[ ends · Σ_p F_p · steps^p ]     F_p: the Fourier transform of plane p, e^(−2πi (u l + v m))
 *
 * is summed from the last plane down: sums ← sums · steps + F_p. The way back takes the planes from the first up.
 */
import { planFft } from '../../../core/fft.js';
import type { WidePlan } from '../plan.js';
import { CELLS, HALF_TRANSFORMED, type Plane } from './planes.js';
import { pixelDirection } from '../reference.js';

/** Columns that are gathered together: as many of a row's single floats as fit in a cache line. */
const TOGETHER = 8;

interface Transforms {
  clearSums(): void;
  /** sums ← sums · steps + the plane's transform; destroys the plane. */
  addPlane(plane: Plane): void;
  /** image : [m][l] += the sums over `weight`, with all corrections; NaN below the horizon. */
  collect(image: Float64Array, weight: number): void;
  /** The reverse: sums ← image, with all corrections; pixels below the horizon are ignored. */
  spread(image: Float64Array): void;
  /** Rows of the plane ← the sums, half transformed; sums ← sums · conj(steps). */
  takePlane(plane: Plane): void;
  /** Converts these rows, one at a time, to cells. */
  readonly toCells: (plane: Plane, row: number) => void;
}

export function prepareTransforms(plan: WidePlan): Transforms {
  const { pixels, gridCells } = plan;
  const half = pixels / 2;
  const fft = planFft(gridCells);
  const tables = prepareTables(plan);
  const { steps, ends } = tables;
  /** sums : [l][m] complex, m from 0 up, then from −n/2 up, as transforms have them. */
  const sums = new Float64Array(2 * pixels * pixels);
  let isZero = true;
  const line = new Float64Array(2 * gridCells);
  const columns = new Float64Array(2 * gridCells * TOGETHER);
  /** The quarter's column for a column of the image. */
  const tableOf = (column: number): number => 2 * tables.side * Math.abs(column - half);

  /** A row of cells to pixels of l: −n/2 … n/2 − 1 are at its beginning afterwards. */
  const toPixels = ({ cells, states }: Plane, row: number): void => {
    const base = 2 * gridCells * row;
    line.set(cells.subarray(base, base + 2 * gridCells));
    fft.forward(line);
    cells.set(line.subarray(2 * (gridCells - half)), base);
    cells.set(line.subarray(0, 2 * half), base + 2 * half);
    states[row] = HALF_TRANSFORMED;
  };

  /** sums ← sums · steps + values over a column, values : the transform along v. */
  const addColumn = (column: number, first: number): void => {
    const table = tableOf(column);
    const own = 2 * pixels * column;
    for (let m = 0; m < pixels; m++) {
      const isNorth = m < half;
      const by = table + 2 * (isNorth ? m : pixels - m);
      const from = first + 2 * (isNorth ? m : gridCells - pixels + m);
      const at = own + 2 * m;
      const re = sums[at];
      const im = sums[at + 1];
      sums[at] = re * steps[by] - im * steps[by + 1] + columns[from];
      sums[at + 1] = re * steps[by + 1] + im * steps[by] + columns[from + 1];
    }
  };

  const skipPlane = (): void => {
    if (isZero) return;
    columns.fill(0, 0, 2 * gridCells);
    for (let column = 0; column < pixels; column++) addColumn(column, 0);
  };

  /** act(place in the image, in the sums, in the quarter) for every pixel. */
  const eachPixel = (act: (pixel: number, at: number, by: number) => void): void => {
    for (let column = 0; column < pixels; column++) {
      const table = tableOf(column);
      for (let m = 0; m < pixels; m++) {
        const y = m < half ? m : m - pixels;
        act((y + half) * pixels + column, 2 * (column * pixels + m), table + 2 * Math.abs(y));
      }
    }
  };

  return {
    clearSums: () => {
      sums.fill(0);
      isZero = true;
    },
    addPlane: (plane) => {
      const { cells, states } = plane;
      const full = [...states.keys()].filter((row) => states[row] === CELLS);
      if (full.length === 0) {
        skipPlane();
        return;
      }
      isZero = false;
      for (const row of full) toPixels(plane, row);
      for (let column = 0; column < pixels; column += TOGETHER) {
        const count = Math.min(TOGETHER, pixels - column);
        columns.fill(0);
        for (const row of full) {
          const from = 2 * (gridCells * row + column);
          for (let k = 0; k < count; k++) {
            const to = 2 * (gridCells * k + row);
            columns[to] = cells[from + 2 * k];
            columns[to + 1] = cells[from + 2 * k + 1];
          }
        }
        for (let k = 0; k < count; k++) {
          fft.forward(columns, gridCells * k);
          addColumn(column + k, 2 * gridCells * k);
        }
      }
    },
    collect: (image, weight) => {
      eachPixel((pixel, at, by) => {
        const isAbove = ends[by] !== 0 || ends[by + 1] !== 0;
        const value = (sums[at] * ends[by] - sums[at + 1] * ends[by + 1]) / weight;
        image[pixel] += isAbove ? value : Number.NaN;
      });
    },
    spread: (image) => {
      eachPixel((pixel, at, by) => {
        const isAbove = ends[by] !== 0 || ends[by + 1] !== 0;
        sums[at] = isAbove ? image[pixel] * ends[by] : 0;
        sums[at + 1] = isAbove ? -image[pixel] * ends[by + 1] : 0;
      });
    },
    takePlane: ({ cells, states }) => {
      for (let column = 0; column < pixels; column += TOGETHER) {
        const count = Math.min(TOGETHER, pixels - column);
        columns.fill(0);
        for (let k = 0; k < count; k++) {
          const own = 2 * pixels * (column + k);
          const table = tableOf(column + k);
          const first = 2 * gridCells * k;
          columns.set(sums.subarray(own, own + pixels), first);
          columns.set(sums.subarray(own + pixels, own + 2 * pixels), first + 2 * gridCells - pixels);
          for (let m = 0; m < pixels; m++) {
            const by = table + 2 * (m < half ? m : pixels - m);
            const at = own + 2 * m;
            const re = sums[at];
            const im = sums[at + 1];
            sums[at] = re * steps[by] + im * steps[by + 1];
            sums[at + 1] = im * steps[by] - re * steps[by + 1];
          }
          fft.inverse(columns, gridCells * k);
        }
        for (let row = 0; row < gridCells; row++) {
          const to = 2 * (gridCells * row + column);
          for (let k = 0; k < count; k++) {
            const from = 2 * (gridCells * k + row);
            cells[to + 2 * k] = columns[from];
            cells[to + 2 * k + 1] = columns[from + 1];
          }
        }
      }
      states.fill(HALF_TRANSFORMED);
    },
    toCells: ({ cells, states }, row) => {
      const base = 2 * gridCells * row;
      line.fill(0);
      line.set(cells.subarray(base, base + 2 * half), 2 * (gridCells - half));
      line.set(cells.subarray(base + 2 * half, base + 4 * half), 0);
      fft.inverse(line);
      cells.set(line, base);
      states[row] = CELLS;
    },
  };
}

interface Tables {
  /** Pixels on a side of the quarter, the axes and the far edge included. */
  readonly side: number;
  /** steps : [|x|][|y|] complex, e^(−2πi spacing·y). */
  readonly steps: Float64Array;
  /**
   * ends : [|x|][|y|] complex, e^(−2πi firstLambda·y) over the kernels' transforms (over n where requested); 0 below
   * the horizon.
   */
  readonly ends: Float64Array;
}

function prepareTables(plan: WidePlan): Tables {
  const { pixels, middle, halfRange, corrections, w } = plan;
  const half = pixels / 2;
  const side = half + 1;
  const steps = new Float64Array(2 * side * side);
  const ends = new Float64Array(2 * side * side);
  for (let x = 0; x < side; x++) {
    for (let y = 0; y <= x; y++) {
      const direction = pixelDirection(plan, half + x, half + y);
      if (!direction) continue;
      const away = direction.nLessOne - middle;
      const ratio = halfRange > 0 ? away / halfRange : 0;
      const onSeries = 2 * Math.min(1, ratio * ratio) - 1;
      const factor = direction.factor * chebyshev(w.series, onSeries) * corrections[x] * corrections[y];
      const step = -2 * Math.PI * w.spacingLambda * away;
      const end = -2 * Math.PI * w.firstLambda * away;
      for (const at of [2 * (x * side + y), 2 * (y * side + x)]) {
        steps[at] = Math.cos(step);
        steps[at + 1] = Math.sin(step);
        ends[at] = factor * Math.cos(end);
        ends[at + 1] = factor * Math.sin(end);
      }
    }
  }
  return { side, steps, ends };
}

/** Σ series[k] T_k(t), by Clenshaw's recurrence. */
function chebyshev(series: Float64Array, t: number): number {
  let next = 0;
  let after = 0;
  for (let k = series.length - 1; k > 0; k--) [next, after] = [2 * t * next - after + series[k], next];
  return t * next - after + series[0];
}
