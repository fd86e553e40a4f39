/**
 * What wide images are made of: rows, each a pair of stations for a moment, with all channels. Visibilities are
 * ⟨x_i conj(x_j)⟩ beside u, v, w = r_i − r_j along J2000 east, J2000 north and towards the centre, their fringes
 * stopped there: V = I e^(+2πi (u l + v m + w (n − 1))).
 */
import type { UvwR, VisibilitiesRC, WeightsRC } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { WideBounds } from './plan.js';

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
