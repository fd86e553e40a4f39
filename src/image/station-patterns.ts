/**
 * Gridding kernels of stations that differ (MOFF, and so EPIC): each is weighted, direction by direction, by a pattern
 * of its own, its voltage beam, whose transform is its aperture, or what of it differs from the others'. In kernels.ts
 * an antenna's wanted response becomes
 *
 *   t(l, m) · p(l, m) · e^(−2πi (xξ + yη + w·n))
 *
 * and nothing is assumed of p: the fit is made over all four quarters of the field, in the same waves (parity.ts),
 * whose normal equations do not depend on p.
 */
import type { Vector3 } from '../core/vector.js';
import type { TangentAxes } from '../sky/frame.js';
import { waveTable } from './parity.js';
import { setPhasor } from './phasor.js';
import type { AntennaOffset, Quarter } from './projection.js';

export interface StationPatterns {
  readonly kinds: number;
  /** [kind], the weight of stations of each kind in a direction. */
  weights(
    frequencyHz: number,
    directionEnu: Vector3,
  ): readonly { readonly re: number; readonly im: number }[];
  /** ofStation : [s], which of the kinds. */
  readonly ofStation: readonly number[];
}

/** One kind's pattern at the nodes of the fit, [row][column] complex over the whole field; 0 where there is no sky. */
export type NodePattern = Float64Array;

/** Nodes along either axis, from one edge of the field to the other. */
const wholeAxis = ({ cosines }: Quarter): Float64Array =>
  Float64Array.from([...Array.from(cosines, (l) => -l).reverse(), ...cosines]);

/** patterns : [kind], at one frequency. */
export function nodePatterns(
  { kinds, weights }: Pick<StationPatterns, 'kinds' | 'weights'>,
  quarter: Quarter,
  axes: TangentAxes,
  frequencyHz: number,
): NodePattern[] {
  const along = wholeAxis(quarter);
  const nodes = along.length;
  const patterns = Array.from({ length: kinds }, () => new Float64Array(2 * nodes * nodes));
  for (let at = 0; at < nodes * nodes; at++) {
    const [l, m] = [along[at % nodes], along[Math.floor(at / nodes)]];
    if (l * l + m * m >= 1) continue;
    const n = Math.sqrt(1 - l * l - m * m);
    const found = weights(frequencyHz, {
      x: l * axes.l.x + m * axes.m.x + n * axes.n.x,
      y: l * axes.l.y + m * axes.m.y + n * axes.n.y,
      z: l * axes.l.z + m * axes.m.z + n * axes.n.z,
    });
    found.forEach(({ re, im }, kind) => {
      patterns[kind][2 * at] = re;
      patterns[kind][2 * at + 1] = im;
    });
  }
  return patterns;
}

export const squaredSum = (values: Float64Array): number =>
  values.reduce((sum, value) => sum + value * value, 0);

/**
 * Gives a function that fills right : [row wave][column wave] (complex) with Σ_field conj(wave) · wanted / t, `weights`
 * holding 1/t along an axis of the quarter. The response of odd waves is −i times that in `waveTable`.
 */
export function preparePatternProjection(options: {
  readonly size: number;
  readonly quarter: Quarter;
  readonly cellWavelengths: number;
  readonly weights: Float64Array;
}): (
  right: Float64Array,
  antenna: AntennaOffset,
  heights: 'project' | 'phase-centre',
  pattern: NodePattern,
) => void {
  const { size, quarter, cellWavelengths, weights } = options;
  const along = wholeAxis(quarter);
  const nodes = along.length;
  const cyclesPerCell = along.map((l) => l * cellWavelengths);
  const overTaper = Float64Array.from([...Array.from(weights).reverse(), ...weights]);
  const waves = waveTable(size, cyclesPerCell);
  const odd = (size - 1) / 2;
  /** [wave][node] complex: conj(wave) · e^(−2πi offset·ξ) / t */
  const shifted = (offset: number): Float64Array => {
    const values = new Float64Array(2 * size * nodes);
    const turn = new Float64Array(2);
    for (let node = 0; node < nodes; node++) {
      setPhasor(turn, 0, -offset * cyclesPerCell[node]);
      for (let wave = 0; wave < size; wave++) {
        const by = waves[wave * nodes + node] * overTaper[node];
        const at = 2 * (wave * nodes + node);
        // conj(−i·wave) = +i·wave
        values[at] = wave < odd ? -by * turn[1] : by * turn[0];
        values[at + 1] = wave < odd ? by * turn[0] : by * turn[1];
      }
    }
    return values;
  };
  const turned = new Float64Array(2 * nodes * nodes);
  const partial = new Float64Array(2 * nodes);
  return (right, antenna, heights, pattern) => {
    turnByHeight(turned, pattern, along, antenna.heightWavelengths, heights);
    const columns = shifted(antenna.columnOffset);
    const rows = shifted(antenna.rowOffset);
    for (let columnWave = 0; columnWave < size; columnWave++) {
      for (let row = 0; row < nodes; row++)
        multiplySum(partial, row, columns, columnWave * nodes, turned, row * nodes, nodes);
      for (let rowWave = 0; rowWave < size; rowWave++)
        multiplySum(right, rowWave * size + columnWave, rows, rowWave * nodes, partial, 0, nodes);
    }
  };
}

/** pattern · e^(−2πi w·n), or of the phase centre's n = 1 everywhere. */
function turnByHeight(
  to: Float64Array,
  pattern: NodePattern,
  along: Float64Array,
  heightWavelengths: number,
  heights: 'project' | 'phase-centre',
): void {
  const nodes = along.length;
  const turn = new Float64Array(2);
  for (let at = 0; at < nodes * nodes; at++) {
    const [l, m] = [along[at % nodes], along[Math.floor(at / nodes)]];
    const n = heights === 'project' ? Math.sqrt(Math.max(0, 1 - l * l - m * m)) : 1;
    setPhasor(turn, 0, -heightWavelengths * n);
    to[2 * at] = pattern[2 * at] * turn[0] - pattern[2 * at + 1] * turn[1];
    to[2 * at + 1] = pattern[2 * at] * turn[1] + pattern[2 * at + 1] * turn[0];
  }
}

/** to[at] = Σ_k a[fromA + k] · b[fromB + k], complex. */
function multiplySum(
  to: Float64Array,
  at: number,
  a: Float64Array,
  fromA: number,
  b: Float64Array,
  fromB: number,
  count: number,
): void {
  let [re, im] = [0, 0];
  for (let k = 0; k < count; k++) {
    const [x, y] = [2 * (fromA + k), 2 * (fromB + k)];
    re += a[x] * b[y] - a[x + 1] * b[y + 1];
    im += a[x] * b[y + 1] + a[x + 1] * b[y];
  }
  to[2 * at] = re;
  to[2 * at + 1] = im;
}
