/** A stack of planes of w in memory: visibilities are added to its cells, or gathered from them. */
import type { WidePlan } from '../plan.js';
import type { Placer } from './footprint.js';

/** States of a plane's row. */
const EMPTY = 0;
export const CELLS = 1;
/** Transformed along u but not along v: columns are pixels of l. */
export const HALF_TRANSFORMED = 2;

export interface Plane {
  /** cells : [v][u] complex, of the plan's precision; undefined in rows that are EMPTY. */
  readonly cells: Float32Array | Float64Array;
  /** states : [v]. */
  readonly states: Uint8Array;
}

export interface PlaneStack {
  /** Makes it planes first … end − 1 of all, every row EMPTY. */
  start(first: number, end: number): void;
  readonly first: number;
  readonly end: number;
  plane(number: number): Plane;
  /** Whether any plane of a visibility, from `plane` on, is in the stack. */
  touches(plane: number): boolean;
  /** Adds a value to the cells of the placer's footprint, from `plane` on. */
  add(plane: number, re: number, im: number): void;
  /** The values of the footprint's cells, into `gathered`. */
  gather(plane: number): void;
  /** gathered : re, im. */
  readonly gathered: Float64Array;
}

/** `toCells` converts a half-transformed row to cells when it is first needed. */
export function preparePlanes(
  plan: Pick<WidePlan, 'gridCells' | 'planesHeld' | 'precision' | 'support' | 'w'>,
  { footprint }: Placer,
  toCells: (plane: Plane, row: number) => void,
): PlaneStack {
  const { gridCells, planesHeld, precision, support } = plan;
  const wSupport = plan.w.support;
  const length = 2 * gridCells * gridCells;
  const planes = Array.from({ length: planesHeld }, (): Plane => ({
    cells: precision === 'float32' ? new Float32Array(length) : new Float64Array(length),
    states: new Uint8Array(gridCells),
  }));
  let first = 0;
  let end = planesHeld;
  const { columns, rows, uTaps, vTaps, wTaps } = footprint;
  const gathered = new Float64Array(2);
  const clear = ({ cells, states }: Plane, row: number): void => {
    cells.fill(0, 2 * gridCells * row, 2 * gridCells * (row + 1));
    states[row] = CELLS;
  };
  return {
    get first() {
      return first;
    },
    get end() {
      return end;
    },
    gathered,
    start: (from, to) => {
      first = from;
      end = to;
      for (const { states } of planes) states.fill(EMPTY);
    },
    plane: (number) => planes[number - first],
    touches: (plane) => plane < end && plane + wSupport > first,
    add: (plane, re, im) => {
      const last = Math.min(wSupport, end - plane);
      for (let p = Math.max(0, first - plane); p < last; p++) {
        const here = planes[plane + p - first];
        const { cells, states } = here;
        for (let j = 0; j < support; j++) {
          const row = rows[j];
          if (states[row] !== CELLS) clear(here, row);
          const base = 2 * gridCells * row;
          const tap = vTaps[j] * wTaps[p];
          const x = tap * re;
          const y = tap * im;
          for (let i = 0; i < support; i++) {
            const at = base + columns[i];
            cells[at] += x * uTaps[i];
            cells[at + 1] += y * uTaps[i];
          }
        }
      }
    },
    gather: (plane) => {
      let re = 0;
      let im = 0;
      const last = Math.min(wSupport, end - plane);
      for (let p = Math.max(0, first - plane); p < last; p++) {
        const here = planes[plane + p - first];
        const { cells, states } = here;
        for (let j = 0; j < support; j++) {
          const row = rows[j];
          if (states[row] === HALF_TRANSFORMED) toCells(here, row);
          const base = 2 * gridCells * row;
          let x = 0;
          let y = 0;
          for (let i = 0; i < support; i++) {
            const at = base + columns[i];
            x += cells[at] * uTaps[i];
            y += cells[at + 1] * uTaps[i];
          }
          const tap = vTaps[j] * wTaps[p];
          re += tap * x;
          im += tap * y;
        }
      }
      gathered[0] = re;
      gathered[1] = im;
    },
  };
}
