/**
 * Gridding kernels: the K × K numbers with which an antenna's voltage is spread on the grid, so that after the
 * transform it acts, at every pixel of the field, like an antenna at its exact position.
 *
 * An antenna at (x, y) cells and w wavelengths above the array's middle must have this response at pixel (l, m):
 *
 *   t(l, m) · e^(−2πi (xξ + yη + w·n)),     ξ = l·Δu, η = m·Δu cycles per cell,   n = √(1 − l² − m²)
 *
 * where t is one smooth taper for all antennas, divided out of the image afterwards. The K × K weights are the
 * least-squares fit to that over the pixels that are shown, relative to t. Fitting, instead of sampling a window, has
 * two advantages: pixels that are not shown may be wrong, and an antenna's height is part of the fit.
 *
 * The field is symmetric in l and in m, and n does not change with either sign. So everything separates into
 * independent even (cosine) and odd (sine) parts along each axis: a quarter of the points is enough, all sums are of
 * real waves, and the normal equations are four small blocks. Thousands of channels are thus planned in seconds.
 */
import type { TapsCSKK } from '../core/axes.js';
import {
  cellsFromWaves,
  prepareParityBlocks,
  wavesFromCells,
  waveTable,
  type ParityBlocks,
} from './parity.js';
import { prepareProjection, quarterField, type AntennaOffset, type Quarter } from './projection.js';
import { preparePatternProjection, squaredSum, type NodePattern } from './station-patterns.js';

/**
 * How much wider the grid's image is than the part that is shown: no K × K gridding kernel works at the very edge,
 * where the grid's periodic image aliases. At 1.15 the rms error of an antenna on the ground is 3 % (K = 3), 0.2 % (5),
 * 0.02 % (7); measured, see plan.test.ts.
 */
export const MARGIN = 1.15;

/** Kaiser–Bessel shape: best between 1.6 and 1.8 per cell of width for K = 3, 5 and 7. */
const SHAPE_PER_CELL = 1.7;
/** Points across the field at which the fit is made: several for each of the gridding kernel's degrees of freedom. */
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

interface KernelFitter {
  /** The points of the fit, where patterns are evaluated. */
  readonly quarter: Quarter;
  /**
   * Writes an antenna's weights into taps [row][column] (complex) at complex index `start`, and returns their error.
   * With a pattern, for a station that is weighted by it.
   */
  fit(taps: TapsCSKK, start: number, antenna: AntennaOffset, pattern?: NodePattern): number;
  /** Rms over the field of |response / wanted response − 1|, for any weights. */
  error(taps: TapsCSKK, start: number, antenna: AntennaOffset): number;
}

export interface FitterOptions {
  readonly size: number;
  /** The shown part reaches from −halfWidth to +halfWidth in l and m, within the unit circle. */
  readonly halfWidth: number;
  readonly cellWavelengths: number;
  /** The taper to fit; `none` for gridding kernels that keep their own shape. */
  readonly taper: 'kaiser-bessel' | 'none';
  /** `phase-centre` corrects each antenna's phase for its height only towards the centre. */
  readonly heights: 'project' | 'phase-centre';
}

export function prepareKernelFitter(options: FitterOptions): KernelFitter {
  const { size, halfWidth, cellWavelengths, heights } = options;
  const count = 2 * size * size;
  const quarter = quarterField(halfWidth, NODES / 2);
  const weights = quarter.cosines.map((l) =>
    options.taper === 'none' ? 1 : 1 / taper(size, l * cellWavelengths),
  );
  const nodes = 4 * quarter.columns.reduce((sum, inRow) => sum + inRow, 0);
  const normal = normalEquations(size, quarter, weights, cellWavelengths);
  const project = prepareProjection({ size, quarter, cellWavelengths, weights });
  const projectPattern = preparePatternProjection({ size, quarter, cellWavelengths, weights });
  const right = new Float64Array(count);
  const solution = new Float64Array(count);

  // ‖wanted − Σ solution wave‖² = ‖wanted‖² − 2 Re Σ conj(solution) right + conj(solution)ᵀ normal solution,
  // ‖wanted‖² being one a node
  const errorOfAny = (): number =>
    rms(nodes - 2 * dotProduct(solution, right) + normal.squared(solution), nodes);
  // normal · solution = right: the last two terms are one
  const errorOfFit = (): number => rms(nodes - dotProduct(solution, right), nodes);
  const fitPattern = (
    taps: TapsCSKK,
    start: number,
    antenna: AntennaOffset,
    pattern: NodePattern,
  ): number => {
    const power = squaredSum(pattern);
    projectPattern(right, antenna, heights, pattern);
    normal.solve(solution, right);
    if (heights !== 'project') projectPattern(right, antenna, 'project', pattern);
    const squared = power - 2 * dotProduct(solution, right) + normal.squared(solution);
    cellsFromWaves(solution, size);
    taps.set(solution, 2 * start);
    return power > 0 ? rms(squared, power) : 0;
  };
  return {
    quarter,
    fit: (taps, start, antenna, pattern) => {
      if (pattern) return fitPattern(taps, start, antenna, pattern);
      project(right, antenna, heights);
      normal.solve(solution, right);
      if (heights !== 'project') project(right, antenna, 'project');
      const error = heights === 'project' ? errorOfFit() : errorOfAny();
      cellsFromWaves(solution, size);
      taps.set(solution, 2 * start);
      return error;
    },
    error: (taps, start, antenna) => {
      project(right, antenna, 'project');
      solution.set(taps.subarray(2 * start, 2 * start + count));
      wavesFromCells(solution, size);
      return errorOfAny();
    },
  };
}

const rms = (squared: number, nodes: number): number => Math.sqrt(Math.max(0, squared) / nodes);

function dotProduct(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at] * b[at];
  return sum;
}

/** Between two waves: Σ_field wave · other / t² */
function normalEquations(
  size: number,
  { cosines, columns }: Quarter,
  weights: Float64Array,
  cellWavelengths: number,
): ParityBlocks {
  const nodes = cosines.length;
  const waves = waveTable(
    size,
    cosines.map((l) => l * cellWavelengths),
  );
  const product = (wave: number, other: number, node: number): number =>
    waves[wave * nodes + node] * waves[other * nodes + node] * weights[node] ** 2;
  return prepareParityBlocks(size, (wave, other) => {
    let sum = 0;
    for (let row = 0; row < nodes; row++) {
      const alongRow = product(Math.floor(wave / size), Math.floor(other / size), row);
      for (let column = 0; column < columns[row]; column++) {
        sum += alongRow * product(wave % size, other % size, column);
      }
    }
    return 4 * sum;
  });
}
