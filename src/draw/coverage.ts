/**
 * Antialiased area filling. Each edge of a ring adds, in the rows it crosses, the fraction of every pixel to its right;
 * upward edges subtract what downward edges add, so that the running sum along a row is the fraction of each pixel that
 * the area covers:
 *
 *      ring         differences in a row        running sum
 *    ┌──────┐       0  +1  0  0  −1  0          0  1  1  1  0  0
 *
 * Rings of one direction may overlap: areas covered twice count once.
 */
import { channelsOf, type Canvas, type Colour } from './canvas.js';
import type { Point } from './cut.js';

export interface Coverage {
  /** A closed ring in the canvas's pixels, (0, 0) its top left corner. */
  add(ring: readonly Point[]): void;
  /** Paints the added rings, then starts again. */
  paint(colour: Colour, opacity?: number): void;
}

/** Smaller coverage is invisible. */
const LEAST_COVER = 1 / 512;

export function prepareCoverage(canvas: Canvas): Coverage {
  const { width, height } = canvas;
  // One element more than pixels: for area to the right of the last one.
  const stride = width + 2;
  const changes = new Float32Array(stride * height);
  /** For each row, the range of changed elements: [first, last + 1). */
  const firsts = new Int32Array(height).fill(stride);
  const ends = new Int32Array(height);
  let [firstRow, endRow] = [height, 0];

  const addEdge = (from: Point, to: Point): void => {
    if (from.y === to.y) return;
    const down = from.y < to.y;
    const [upper, lower] = down ? [from, to] : [to, from];
    const slope = (lower.x - upper.x) / (lower.y - upper.y);
    const top = Math.max(0, upper.y);
    const bottom = Math.min(height, lower.y);
    if (!(top < bottom)) return;
    const rows = Math.ceil(bottom);
    firstRow = Math.min(firstRow, Math.floor(top));
    endRow = Math.max(endRow, rows);
    for (let row = Math.floor(top); row < rows; row++) {
      const start = Math.max(top, row);
      const end = Math.min(bottom, row + 1);
      const a = upper.x + (start - upper.y) * slope;
      const b = upper.x + (end - upper.y) * slope;
      addClipped(row, Math.min(a, b), Math.max(a, b), down ? end - start : start - end);
    }
  };

  /** An edge left of the canvas covers the whole row, one to the right covers none of it. */
  const addClipped = (row: number, left: number, right: number, rise: number): void => {
    if (left >= 0 && right <= width) addRow(row, left, right, rise);
    else if (right <= 0) addRow(row, 0, 0, rise);
    else if (left < width) {
      const perPixel = rise / (right - left);
      if (left < 0) addRow(row, 0, 0, -left * perPixel);
      const [from, to] = [Math.max(0, left), Math.min(width, right)];
      addRow(row, from, to, (to - from) * perPixel);
    } else ends[row] = Math.max(ends[row], width);
  };

  /** Part of an edge within one row: from x = left to right; `rise` is the signed fraction of the row's height. */
  const addRow = (row: number, left: number, right: number, rise: number): void => {
    const first = Math.floor(left);
    const last = Math.max(first, Math.ceil(right) - 1);
    if (first < firsts[row]) firsts[row] = first;
    if (last + 2 > ends[row]) ends[row] = last + 2;
    const at = row * stride;
    if (first === last) {
      const beside = (left + right) / 2 - first;
      changes[at + first] += rise * (1 - beside);
      changes[at + first + 1] += rise * beside;
      return;
    }
    // Within a pixel the edge covers a triangle; to the right of it, its whole rise.
    const perPixel = rise / (right - left);
    let covered = (perPixel * (first + 1 - left) ** 2) / 2;
    changes[at + first] += covered;
    for (let x = first + 1; x < last; x++) {
      const sum = perPixel * (x + 0.5 - left);
      changes[at + x] += sum - covered;
      covered = sum;
    }
    const rest = right - last;
    const sum = perPixel * (last - left + rest - (rest * rest) / 2);
    changes[at + last] += sum - covered;
    changes[at + last + 1] += rise - sum;
  };

  return {
    add: (ring) => {
      for (let k = 0; k < ring.length; k++) addEdge(ring[k], ring[k + 1 < ring.length ? k + 1 : 0]);
    },
    paint: (colour, opacity = 1) => {
      const [red, green, blue] = channelsOf(colour);
      for (let row = firstRow; row < endRow; row++) {
        const from = row * stride;
        const end = ends[row];
        let sum = 0;
        for (let x = firsts[row]; x < end; x++) {
          sum += changes[from + x];
          changes[from + x] = 0;
          const cover = Math.min(1, Math.abs(sum));
          if (cover < LEAST_COVER || x >= width) continue;
          const share = cover * opacity;
          const to = 3 * (row * width + x);
          const { rgb } = canvas;
          rgb[to] += Math.round((red - rgb[to]) * share);
          rgb[to + 1] += Math.round((green - rgb[to + 1]) * share);
          rgb[to + 2] += Math.round((blue - rgb[to + 2]) * share);
        }
        firsts[row] = stride;
        ends[row] = 0;
      }
      [firstRow, endRow] = [height, 0];
    },
  };
}
