/**
 * Gridding kernels as waves. Along one axis one of K = 2m + 1 cells has the response Σ t_k e^(−2πi kξ); its even and
 * odd halves e_a = (t_a + t_−a)/2 and o_a = (t_a − t_−a)/2 make that a sum of real waves,
 *
 *   e_0 + Σ e_a·2cos(2πaξ) − i·Σ o_a·2sin(2πaξ),      a = 1 … m
 *
 * stored in place: e_a at cell +a, o_a at −a. Over a symmetric field, even and odd waves are orthogonal, so a fit in
 * two dimensions is four small ones.
 */

/** Replaces K × K complex cells [row][column] by waves. */
export const wavesFromCells = (cells: Float64Array, size: number): void => {
  butterflies(cells, size, 0.5);
};
/** And back. */
export const cellsFromWaves = (waves: Float64Array, size: number): void => {
  butterflies(waves, size, 1);
};

function butterflies(values: Float64Array, size: number, scale: number): void {
  foldAlong(values, size, { step: 2, lines: 2 * size, scale });
  foldAlong(values, size, { step: 2 * size, lines: 2, scale });
}

function foldAlong(
  values: Float64Array,
  size: number,
  { step, lines, scale }: { step: number; lines: number; scale: number },
): void {
  const middle = ((size - 1) / 2) * step;
  for (let line = 0; line < size; line++) {
    for (let part = 0; part < 2; part++) {
      const centre = line * lines + middle + part;
      for (let apart = step; apart <= middle; apart += step) {
        const plus = values[centre + apart];
        const minus = values[centre - apart];
        values[centre + apart] = scale * (plus + minus);
        values[centre - apart] = scale * (plus - minus);
      }
    }
  }
}

/** waves : [wave][node], 1, 2cos or 2sin of each wave at these places, in cycles per cell. */
export function waveTable(size: number, cyclesPerCell: Float64Array): Float64Array {
  const middle = (size - 1) / 2;
  const nodes = cyclesPerCell.length;
  return Float64Array.from({ length: size * nodes }, (_, at) => {
    const order = Math.floor(at / nodes) - middle;
    const angle = 2 * Math.PI * order * cyclesPerCell[at % nodes];
    return order === 0 ? 1 : order > 0 ? 2 * Math.cos(angle) : -2 * Math.sin(angle);
  });
}

/** The normal equations of a fit of K × K waves, one for each parity along rows and columns. */
export interface ParityBlocks {
  /** Fills `solution` with matrix⁻¹ · right, both complex [row wave][column wave]. */
  solve(solution: Float64Array, right: Float64Array): void;
  /** conj(values)ᵀ · matrix · values */
  squared(values: Float64Array): number;
}

/** `element` gives the matrix between two waves (row wave · K + column wave) of the same parities. */
export function prepareParityBlocks(
  size: number,
  element: (wave: number, other: number) => number,
): ParityBlocks {
  const middle = (size - 1) / 2;
  const parity = (wave: number): number =>
    2 * Number(Math.floor(wave / size) < middle) + Number(wave % size < middle);
  const all = Array.from({ length: size * size }, (_, wave) => wave);
  const blocks = [0, 1, 2, 3].map((wanted) => {
    const members = Int32Array.from(all.filter((wave) => parity(wave) === wanted));
    const count = members.length;
    const matrix = Float64Array.from({ length: count * count }, (_, at) =>
      element(members[Math.floor(at / count)], members[at % count]),
    );
    return { members, matrix, inverse: invert(matrix, count) };
  });
  const product = new Float64Array(2 * size * size);
  return {
    solve: (solution, right) => {
      for (const { members, inverse } of blocks) multiply(solution, inverse, members, right);
    },
    squared: (values) => {
      for (const { members, matrix } of blocks) multiply(product, matrix, members, values);
      return product.reduce((sum, value, at) => sum + value * values[at], 0);
    },
  };
}

/** The members of `out` = a real matrix times those of complex `values`. */
function multiply(out: Float64Array, matrix: Float64Array, members: Int32Array, values: Float64Array): void {
  const count = members.length;
  for (let k = 0; k < count; k++) {
    let re = 0;
    let im = 0;
    for (let j = 0; j < count; j++) {
      const at = 2 * members[j];
      re += matrix[k * count + j] * values[at];
      im += matrix[k * count + j] * values[at + 1];
    }
    out[2 * members[k]] = re;
    out[2 * members[k] + 1] = im;
  }
}

/** Of a symmetric positive definite matrix, by elimination: such a matrix needs no pivoting. */
function invert(matrix: Float64Array, size: number): Float64Array {
  const left = matrix.slice();
  const inverse = Float64Array.from({ length: size * size }, (_, at) => Number(at % (size + 1) === 0));
  for (let pivot = 0; pivot < size; pivot++) {
    for (let row = 0; row < size; row++) {
      if (row === pivot) continue;
      const factor = left[row * size + pivot] / left[pivot * size + pivot];
      for (let k = 0; k < size; k++) {
        left[row * size + k] -= factor * left[pivot * size + k];
        inverse[row * size + k] -= factor * inverse[pivot * size + k];
      }
    }
  }
  return inverse.map((value, at) => value / left[Math.floor(at / size) * (size + 1)]);
}
