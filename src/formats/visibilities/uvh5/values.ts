/** Computes UVH5's three large arrays, [row][channel][product], for some rows at a time. */
import { baselineCount, baselineIndex } from '../../../core/axes.js';
import type { PassThrough, Integration } from '../../../core/blocks.js';
import { refuse } from '../../../core/errors.js';
import { productCount } from '../../../core/product-counts.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { writtenProducts } from '../pass-through.js';
import type { VisibilityHeader } from '../../format.js';
import { isRunning, isWhole, type Uvh5Options } from './plan.js';

interface RowContext {
  readonly header: VisibilityHeader;
  readonly options: Uvh5Options;
  /** (antenna 1, antenna 2) of each row. */
  readonly pairs: readonly (readonly [number, number])[];
  /** uvw[3·row + axis], metres. */
  readonly uvw: Float64Array;
}

/** Memory for some rows, reused: starts at row `first`. */
interface Filler {
  readonly elements: Float32Array | Float64Array | Int32Array | Uint8Array;
  fill(first: number, rows: number): void;
}
type RowFillers = Readonly<Record<'visdata' | 'flags' | 'nsamples', (rows: number) => Filler>>;

export const MOST_INT32 = 2 ** 31 - 1;
const arrays = {
  complex64: Float32Array,
  complex128: Float64Array,
  int32: Int32Array,
  whole128: Float64Array,
} as const;

/** The whole sum of a flagged mean: the mean is rounded by far less than one over its weight. */
const summed = ({ means, weights }: PassThrough, place: number, part: 0 | 1): number =>
  Math.round(means[2 * place + part] * Math.abs(weights[place]));

export function rowFillers(path: string, integration: Integration, context: RowContext): RowFillers {
  const { header, options, pairs, uvw } = context;
  const { stations, polarisations, flaggedInputs, channels } = integration;
  const products = writtenProducts(header);
  const written = products.length;
  const perCell = polarisations ** 2;
  /** Index of product (p1, p2) of a cell in [p_i][p_j]: station i is antenna 2, except for autocorrelations. */
  const autoPlaces = Uint8Array.from(products, ({ p1, p2 }) => p1 * polarisations + p2);
  const crossPlaces = Uint8Array.from(products, ({ p1, p2 }) => p2 * polarisations + p1);
  const wholeSums = isWhole(options);
  const largest = options.values === 'int32' ? MOST_INT32 : Number.MAX_SAFE_INTEGER;
  const running = isRunning(header, options);
  // Whole sums come from the correlator, whatever means a file stored; flagged values are excluded from the sums and
  // exist only as means.
  const passThrough = wholeSums ? undefined : integration.passThrough;
  const flagged = wholeSums ? integration.passThrough : undefined;
  const source = passThrough ? passThrough.means : integration.visibilities;
  const baselines = baselineCount(stations);
  const perRow = channels * written;
  /** `place` is pi·P + pj. */
  const countOf = (cell: number, place: number): number =>
    productCount(integration, cell, Math.floor(place / polarisations), place % polarisations);

  const checkWhole = (re: number, im: number): void => {
    if (Number.isInteger(re) && Number.isInteger(im) && Math.max(Math.abs(re), Math.abs(im)) <= largest)
      return;
    refuse(
      path,
      `${re} + ${im}i is no whole number of at most ${largest === MOST_INT32 ? '32 bits' : '2⁵³'}`,
      'write means (products.visibilities.values: means), or integrate for a shorter time (products.visibilities.integration)',
    );
  };

  const left = new Uint8Array(written);
  const weights = new Float64Array(perRow);
  /** weights[c][product] of a row; zero or less is flagged. */
  const weighRow = (row: number): void => {
    const [one, two] = pairs[row];
    const b = baselineIndex(two, one);
    const places = one === two ? autoPlaces : crossPlaces;
    products.forEach(({ p1, p2 }, q) => {
      left[q] = flaggedInputs[one * polarisations + p1] | flaggedInputs[two * polarisations + p2];
    });
    let at = 0;
    for (let c = 0; c < channels; c++) {
      const cell = c * baselines + b;
      for (let q = 0; q < written; q++) {
        const count = countOf(cell, places[q]);
        const stored = passThrough ?? (count > 0 ? undefined : flagged);
        weights[at++] = stored ? stored.weights[cell * perCell + places[q]] : left[q] === 1 ? -count : count;
      }
    }
  };

  /** A number for each weight. */
  const ofWeights = (elements: Filler['elements'], of: (weight: number) => number): Filler => ({
    elements,
    fill: (first, rows) => {
      for (let row = 0; row < rows; row++) {
        weighRow(first + row);
        for (let k = 0; k < perRow; k++) elements[row * perRow + k] = of(weights[k]);
      }
    },
  });
  return {
    visdata: (rows) => {
      const elements = new arrays[options.values](2 * rows * perRow);
      const fill = (first: number, some: number): void => {
        let at = 0;
        for (let row = first; row < first + some; row++) {
          const [one, two] = pairs[row];
          const wS = running ? 0 : uvw[3 * row + 2] / SPEED_OF_LIGHT_M_PER_S;
          const b = baselineIndex(two, one);
          const places = one === two ? autoPlaces : crossPlaces;
          const sign = one === two ? -1 : 1;
          for (let c = 0; c < channels; c++) {
            const cell = c * baselines + b;
            const phase = -2 * Math.PI * header.frequenciesHz[c] * wS;
            const cos = Math.cos(phase);
            const sin = Math.sin(phase);
            for (let q = 0; q < written; q++) {
              const count = countOf(cell, places[q]);
              const place = cell * perCell + places[q];
              const scale = passThrough || wholeSums ? 1 : count > 0 ? 1 / count : 0;
              const from = 2 * place;
              const again = count > 0 ? undefined : flagged;
              const re = again ? summed(again, place, 0) : source[from] * scale;
              const im = sign * (again ? summed(again, place, 1) : source[from + 1] * scale);
              if (wholeSums) checkWhole(re, im);
              elements[at++] = re * cos - im * sin;
              elements[at++] = re * sin + im * cos;
            }
          }
        }
      };
      return { elements, fill };
    },
    flags: (rows) => ofWeights(new Uint8Array(rows * perRow), (weight) => (weight > 0 ? 0 : 1)),
    nsamples: (rows) => {
      const array = options.values === 'whole128' ? Float64Array : Float32Array;
      return ofWeights(new array(rows * perRow), Math.abs);
    },
  };
}
