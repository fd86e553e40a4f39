/**
 * The input of wide images: rows, each a pair of stations at a moment, with all channels. Visibilities are ⟨x_i
 * conj(x_j)⟩ with u, v, w = r_i − r_j along J2000 east, J2000 north and towards the centre, fringes stopped there: V =
 * I e^(+2πi (u l + v m + w (n − 1))).
 */
import {
  uvwR,
  visibilitiesRC,
  weightsRC,
  type UvwR,
  type VisibilitiesRC,
  type WeightsRC,
} from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { WideBounds, WidePrecision } from './plan.js';

const WHERE = 'image';

/** Where rows are measured. */
export interface WideGeometry {
  readonly uvwM: UvwR;
  readonly frequenciesHz: Float64Array;
}

export interface WideRows extends WideGeometry {
  /** Absent where every one is 1: the image is then the beam. */
  readonly visibilities?: VisibilitiesRC;
  readonly weights: WeightsRC;
  /** groups : [r], for later queries of the weights of groups of rows. */
  readonly groups?: Uint32Array;
}

export const rowCount = ({ uvwM }: WideGeometry): number => uvwM.length / 3;

export function checkRows(rows: WideRows): void {
  const values = rowCount(rows) * rows.frequenciesHz.length;
  for (const [name, length, expected] of [
    ['weights', rows.weights.length, values],
    ['visibilities', rows.visibilities?.length ?? 2 * values, 2 * values],
  ] as const) {
    if (length !== expected)
      refuse(WHERE, `${name} hold ${length} numbers where rows and channels make ${expected}`);
  }
}

/** Wavelengths in a metre, channel by channel. */
export const wavelengthsPerMetre = (frequenciesHz: Float64Array): Float64Array =>
  frequenciesHz.map((frequencyHz) => frequencyHz / SPEED_OF_LIGHT_M_PER_S);

/** The range of |w| over blocks of rows, for planWide: known before any visibility is read. */
export function boundsOf(blocks: Iterable<WideGeometry>): WideBounds {
  let leastWLambda = Number.POSITIVE_INFINITY;
  let mostWLambda = 0;
  let visibilities = 0;
  for (const { uvwM, frequenciesHz } of blocks) {
    const scales = wavelengthsPerMetre(frequenciesHz);
    const least = scales.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    const most = scales.reduce((a, b) => Math.max(a, b), 0);
    for (let row = 0; row < uvwM.length / 3; row++) {
      const w = Math.abs(uvwM[3 * row + 2]);
      leastWLambda = Math.min(leastWLambda, w * least);
      mostWLambda = Math.max(mostWLambda, w * most);
    }
    visibilities += (uvwM.length / 3) * scales.length;
  }
  if (visibilities === 0) leastWLambda = 0;
  return { leastWLambda, mostWLambda, visibilities };
}

/** Refuses rows outside the planes, as the C++ side does. */
export function checkWithin(bounds: WideBounds, { uvwM, frequenciesHz }: WideGeometry): void {
  const { leastWLambda, mostWLambda } = boundsOf([{ uvwM, frequenciesHz }]);
  if (uvwM.some((value) => !Number.isFinite(value))) refuse(WHERE, "a row's u, v or w is no number");
  // tolerance for rounding
  const slack = 1e-9 * bounds.mostWLambda + 1e-12;
  for (const w of [leastWLambda, mostWLambda]) {
    if (uvwM.length > 0 && (w < bounds.leastWLambda - slack || w > bounds.mostWLambda + slack)) {
      const planned = `${bounds.leastWLambda} to ${bounds.mostWLambda}`;
      refuse(WHERE, `a visibility has |w| = ${w} wavelengths, outside the ${planned} planned for`);
    }
  }
}

/** Unchanged where they fit, else a copy. */
export function inPrecision(
  values: Float32Array | Float64Array,
  precision: WidePrecision,
): Float32Array | Float64Array {
  if (precision === 'float32') return values instanceof Float32Array ? values : Float32Array.from(values);
  return values instanceof Float64Array ? values : Float64Array.from(values);
}

/** Rows first … end − 1, in the same memory. */
export function rowsBetween<Rows extends WideGeometry & Partial<WideRows>>(
  rows: Rows,
  first: number,
  end: number,
): Rows {
  const channels = rows.frequenciesHz.length;
  const { visibilities, weights, groups } = rows;
  const count = end - first;
  return {
    ...rows,
    ...(groups && { groups: groups.subarray(first, end) }),
    uvwM: uvwR(rows.uvwM.subarray(3 * first, 3 * end), count),
    ...(visibilities && {
      visibilities: visibilitiesRC(
        visibilities.subarray(2 * channels * first, 2 * channels * end),
        count,
        channels,
      ),
    }),
    ...(weights && {
      weights: weightsRC(weights.subarray(channels * first, channels * end), count, channels),
    }),
  };
}
