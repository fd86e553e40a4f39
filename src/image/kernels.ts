/**
 * Antenna kernels: the K × K numbers with which an antenna's voltage is spread on the grid, so that after the
 * transform it acts, at every pixel of the field, as if the antenna stood exactly where it stands.
 *
 * An antenna at (x, y) cells and w wavelengths above the array's middle must answer pixel (l, m) with
 *
 *   t(l, m) · e^(−2πi (xξ + yη + w·n)),     ξ = l·Δu, η = m·Δu cycles per cell,   n = √(1 − l² − m²)
 *
 * where t is one smooth taper for all antennas, divided out of the image afterwards. The K × K weights are
 * the least-squares fit to that over the pixels that are shown, relative to t. Fitting, instead of sampling a
 * window, buys two things: pixels nobody sees are free to be wrong, and an antenna's height is part of the fit.
 */
import type { TapsCSKK } from '../core/axes.js';

/**
 * How much wider the grid's image is than the part that is shown: no K × K kernel works at the very edge,
 * where the grid's periodic image meets itself. At 1.15 the rms error of an antenna on the ground is 3 %
 * (K = 3), 0.2 % (5), 0.02 % (7); measured, see kernels.test.ts.
 */
export const MARGIN = 1.15;

/** Kaiser–Bessel shape: best between 1.6 and 1.8 per cell of width for K = 3, 5 and 7. */
const SHAPE_PER_CELL = 1.7;
/** Points across the field at which the fit is made: several for each of the kernel's degrees of freedom. */
const NODES = 32;

/** The taper t along one axis, 1 in the middle: the transform of a Kaiser–Bessel window K cells wide. */
export function taper(size: number, cyclesPerCell: number): number {
  if (size === 1) return 1;
  const shape = SHAPE_PER_CELL * size;
  const squared = shape ** 2 - (Math.PI * size * cyclesPerCell) ** 2;
  const root = Math.sqrt(Math.abs(squared));
  const value = root < 1e-9 ? 1 : squared > 0 ? Math.sinh(root) / root : Math.sin(root) / root;
  return (value * shape) / Math.sinh(shape);
}

export interface KernelFitter {
  /**
   * Writes the weights of an antenna `rowOffset`, `columnOffset` cells from its kernel's middle cell into taps
   * [row][column] (complex) at complex index `start`.
   */
  fit(taps: TapsCSKK, start: number, antenna: AntennaOffset): void;
  /** Rms over the field of |response / wanted response − 1|, for any weights. */
  error(taps: TapsCSKK, start: number, antenna: AntennaOffset): number;
}

export interface AntennaOffset {
  readonly rowOffset: number;
  readonly columnOffset: number;
  /** Height along the phase centre's direction in wavelengths. */
  readonly heightWavelengths: number;
}

export interface FitterOptions {
  readonly size: number;
  /** The shown part reaches from −halfWidth to +halfWidth in l and m, within the unit circle. */
  readonly halfWidth: number;
  readonly cellWavelengths: number;
  /** The taper to fit towards; `none` for kernels that keep their own shape. */
  readonly taper: 'kaiser-bessel' | 'none';
  /** `phase-centre` turns each antenna's phase by its height towards the centre alone. */
  readonly heights: 'project' | 'phase-centre';
}

export function prepareKernelFitter(options: FitterOptions): KernelFitter {
  const { size, halfWidth, cellWavelengths, heights } = options;
  const middle = (size - 1) / 2;
  const cosines = Float64Array.from({ length: NODES }, (_, k) => halfWidth * ((2 * k + 1) / NODES - 1));
  const tapers = cosines.map((l) => (options.taper === 'none' ? 1 : taper(size, l * cellWavelengths)));
  // shown : [row][column] node, n there, or NaN outside the sky
  const shown = new Float64Array(NODES * NODES);
  let nodes = 0;
  for (let row = 0; row < NODES; row++) {
    for (let column = 0; column < NODES; column++) {
      const radius = cosines[row] ** 2 + cosines[column] ** 2;
      shown[row * NODES + column] = radius < 1 ? Math.sqrt(1 - radius) : NaN;
      if (radius < 1) nodes++;
    }
  }
  const gram = gramMatrix(size, cosines, tapers, shown, cellWavelengths);
  const lower = cholesky(gram, size * size);
  const right = new Float64Array(2 * size * size);
  const field = new Float64Array(2 * NODES * NODES);
  const partial = new Float64Array(2 * size * NODES);

  const phasors = new Float64Array(2 * size * NODES);

  /** e^(+2πi (k − offset)·ξ) of each of the kernel's cells at each node along one axis. */
  function fillPhasors(offset: number): void {
    for (let k = 0; k < size; k++) {
      for (let node = 0; node < NODES; node++) {
        const angle = 2 * Math.PI * (k - middle - offset) * cosines[node] * cellWavelengths;
        phasors[2 * (k * NODES + node)] = Math.cos(angle);
        phasors[2 * (k * NODES + node) + 1] = Math.sin(angle);
      }
    }
  }

  /** right_k = Σ_nodes conj(basis_k) · wanted / t², the basis being e^(−2πi k·(ξ, η)), wanted as above. */
  function project(
    { rowOffset, columnOffset, heightWavelengths }: AntennaOffset,
    mode: typeof heights,
  ): void {
    for (let at = 0; at < NODES * NODES; at++) {
      const n = mode === 'project' ? shown[at] : 1;
      const weight = 1 / (tapers[Math.floor(at / NODES)] * tapers[at % NODES]);
      const angle = -2 * Math.PI * heightWavelengths * n;
      field[2 * at] = Number.isNaN(shown[at]) ? 0 : weight * Math.cos(angle);
      field[2 * at + 1] = Number.isNaN(shown[at]) ? 0 : weight * Math.sin(angle);
    }
    // along columns, then along rows
    fillPhasors(columnOffset);
    for (let k = 0; k < size; k++) {
      for (let row = 0; row < NODES; row++) {
        let re = 0;
        let im = 0;
        for (let column = 0; column < NODES; column++) {
          const c = phasors[2 * (k * NODES + column)];
          const s = phasors[2 * (k * NODES + column) + 1];
          const at = 2 * (row * NODES + column);
          re += field[at] * c - field[at + 1] * s;
          im += field[at] * s + field[at + 1] * c;
        }
        partial[2 * (k * NODES + row)] = re;
        partial[2 * (k * NODES + row) + 1] = im;
      }
    }
    fillPhasors(rowOffset);
    right.fill(0);
    for (let kRow = 0; kRow < size; kRow++) {
      for (let row = 0; row < NODES; row++) {
        const c = phasors[2 * (kRow * NODES + row)];
        const s = phasors[2 * (kRow * NODES + row) + 1];
        for (let k = 0; k < size; k++) {
          const from = 2 * (k * NODES + row);
          const to = 2 * (kRow * size + k);
          right[to] += partial[from] * c - partial[from + 1] * s;
          right[to + 1] += partial[from] * s + partial[from + 1] * c;
        }
      }
    }
  }
  return {
    fit: (taps, start, antenna) => {
      project(antenna, heights);
      solveCholesky(lower, size * size, right);
      taps.set(right, 2 * start);
    },
    error: (taps, start, antenna) => {
      // ‖wanted − Σ taps basis‖² = ‖wanted‖² − 2 Re Σ conj(taps) right + Σ conj(taps) gram taps
      project(antenna, 'project');
      const count = size * size;
      let squared = nodes;
      for (let k = 0; k < count; k++) {
        const re = taps[2 * (start + k)];
        const im = taps[2 * (start + k) + 1];
        squared -= 2 * (re * right[2 * k] + im * right[2 * k + 1]);
        for (let j = 0; j < count; j++) {
          squared += gram[k * count + j] * (re * taps[2 * (start + j)] + im * taps[2 * (start + j) + 1]);
        }
      }
      return Math.sqrt(Math.max(0, squared) / nodes);
    },
  };
}

/** gram[k][j] = Σ_nodes e^(2πi (k − j)·(ξ, η)) / t²; the field is the same on both sides, so it is real. */
function gramMatrix(
  size: number,
  cosines: Float64Array,
  tapers: Float64Array,
  shown: Float64Array,
  cellWavelengths: number,
): Float64Array {
  const count = size * size;
  const gram = new Float64Array(count * count);
  const apart = 2 * size - 1;
  // only the distance between two cells matters
  const byDistance = new Float64Array(apart * apart);
  for (let dRow = 1 - size; dRow < size; dRow++) {
    for (let dColumn = 1 - size; dColumn < size; dColumn++) {
      let sum = 0;
      for (let at = 0; at < NODES * NODES; at++) {
        if (Number.isNaN(shown[at])) continue;
        const row = Math.floor(at / NODES);
        const column = at % NODES;
        const turns = (dRow * cosines[row] + dColumn * cosines[column]) * cellWavelengths;
        sum += Math.cos(2 * Math.PI * turns) / (tapers[row] * tapers[column]) ** 2;
      }
      byDistance[(dRow + size - 1) * apart + dColumn + size - 1] = sum;
    }
  }
  for (let k = 0; k < count; k++) {
    for (let j = 0; j < count; j++) {
      const dRow = Math.floor(k / size) - Math.floor(j / size) + size - 1;
      const dColumn = (k % size) - (j % size) + size - 1;
      gram[k * count + j] = byDistance[dRow * apart + dColumn];
    }
  }
  return gram;
}

/** L with L·Lᵀ = matrix, lower triangle. */
function cholesky(matrix: Float64Array, size: number): Float64Array {
  const lower = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j];
      for (let k = 0; k < j; k++) sum -= lower[i * size + k] * lower[j * size + k];
      lower[i * size + j] = i === j ? Math.sqrt(sum) : sum / lower[j * size + j];
    }
  }
  return lower;
}

/** Replaces complex right-hand sides by the solution of L·Lᵀ x = right. */
function solveCholesky(lower: Float64Array, size: number, right: Float64Array): void {
  for (let part = 0; part < 2; part++) {
    for (let i = 0; i < size; i++) {
      let sum = right[2 * i + part];
      for (let k = 0; k < i; k++) sum -= lower[i * size + k] * right[2 * k + part];
      right[2 * i + part] = sum / lower[i * size + i];
    }
    for (let i = size - 1; i >= 0; i--) {
      let sum = right[2 * i + part];
      for (let k = i + 1; k < size; k++) sum -= lower[k * size + i] * right[2 * k + part];
      right[2 * i + part] = sum / lower[i * size + i];
    }
  }
}
