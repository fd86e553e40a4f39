/**
 * The cells of a visibility on the grids: W × W on each of its planes, a tap for every row, column and plane, and its
 * phase at the middle of n − 1. plan.ts and kernel.ts have the formulas.
 */
import type { Taps } from '../kernel.js';
import type { WidePlan } from '../plan.js';

interface Footprint {
  /**
   * columns : [tap along u], rows : [tap along v]; cells, wrapped around the grid. Columns count numbers, of which a
   * complex cell has two.
   */
  readonly columns: Int32Array;
  readonly rows: Int32Array;
  readonly uTaps: Float64Array;
  readonly vTaps: Float64Array;
  readonly wTaps: Float64Array;
  /** Of 2πw·middle. */
  cosine: number;
  sine: number;
}

export interface Placer {
  /** Filled anew by each `place`. */
  readonly footprint: Footprint;
  /** The first of the planes that a visibility of this w is spread over. */
  firstPlane(wLambda: number): number;
  /** w must be positive: for a negative one the caller reverses the pair. */
  place(uLambda: number, vLambda: number, wLambda: number): void;
}

export function preparePlacer(plan: WidePlan): Placer {
  const { gridCells, support, pixelCosine, middle, taps, w, bounds } = plan;
  const lastPlane = w.planes - w.support;
  const footprint: Footprint = {
    columns: new Int32Array(support),
    rows: new Int32Array(support),
    uTaps: new Float64Array(support),
    vTaps: new Float64Array(support),
    wTaps: new Float64Array(w.support),
    cosine: 1,
    sine: 0,
  };
  const { columns, rows, uTaps, vTaps, wTaps } = footprint;
  /** Along one axis, from the phase in turns between neighbouring pixels. */
  const along = (turns: number, cells: Int32Array, numbers: 1 | 2, to: Float64Array): void => {
    const start = (turns - Math.floor(turns)) * gridCells - support / 2;
    const first = Math.ceil(start);
    for (let tap = 0; tap < support; tap++) {
      const cell = first + tap;
      cells[tap] = numbers * (cell < 0 ? cell + gridCells : cell >= gridCells ? cell - gridCells : cell);
    }
    evaluate(taps, 2 * (first - start) - 1, to);
  };
  const planeOf = (wLambda: number): number => (wLambda - bounds.leastWLambda) / w.spacingLambda;
  // Tolerance for rounding; checkWithin (rows.ts) has refused larger excesses.
  const firstPlane = (wLambda: number): number =>
    w.support === 1 ? 0 : Math.min(lastPlane, Math.max(0, Math.ceil(planeOf(wLambda))));
  return {
    footprint,
    firstPlane,
    place: (uLambda, vLambda, wLambda) => {
      along(uLambda * pixelCosine, columns, 2, uTaps);
      along(vLambda * pixelCosine, rows, 1, vTaps);
      evaluate(w.taps, 2 * (firstPlane(wLambda) - planeOf(wLambda)) - 1, wTaps);
      const angle = 2 * Math.PI * wLambda * middle;
      footprint.cosine = Math.cos(angle);
      footprint.sine = Math.sin(angle);
    },
  };
}

/** All taps' polynomials at t: tapValue of kernel.ts, one after the other. */
function evaluate({ degree, coefficients }: Taps, t: number, to: Float64Array): void {
  const support = to.length;
  for (let tap = 0; tap < support; tap++) {
    let value = coefficients[degree * support + tap];
    for (let at = (degree - 1) * support + tap; at >= 0; at -= support) value = value * t + coefficients[at];
    to[tap] = value;
  }
}
