/**
 * Antenna positions from the phases of satellites in known directions. For each antenna the phase, east and north (and
 * up, with enough satellites) are solved relative to the reference's.
 */
import { refuse } from '../core/errors.js';
import { normalEquations } from '../core/least-squares.js';
import type { Vector3 } from '../core/vector.js';
import { TOO_FEW, WAVENUMBER, type SolvedInputs } from './solve.js';
import type { Wave } from './waves.js';

export interface SolvedPosition {
  readonly input: number;
  /** Correction to the given position, east and north. */
  readonly offsetM: readonly [number, number];
  /** [[ee, en], [ne, nn]]. */
  readonly covarianceM2: readonly (readonly [number, number])[];
}

export interface SolvedPositions {
  readonly antennas: readonly SolvedPosition[];
  /** Of the phases after the position solution. */
  readonly rmsRad: number;
}

const LEAST_SATELLITES = 4;

export function solvePositions(
  waves: readonly Wave[],
  positions: readonly Vector3[],
  { satellites, residualsRad, solved, reference }: SolvedInputs,
): SolvedPositions {
  const known = satellites.filter(({ isKnown }) => isKnown);
  if (known.length < LEAST_SATELLITES)
    refuse(
      'positions',
      `directions of ${known.length} satellites are known`,
      `it takes ${LEAST_SATELLITES}: without them the array's size and rotation are open`,
    );
  const used = [...waves.keys()].filter((s) => satellites[s].isKnown);
  let [sum, count] = [0, 0];
  const raw: {
    readonly input: number;
    readonly offsetM: readonly [number, number];
    inverse: Float64Array;
  }[] = [];
  for (const input of positions.keys()) {
    if (solved[input] !== 1 || input === reference) continue;
    const normal = normalEquations(3, TOO_FEW);
    // Relative to the reference, whose own errors are common to all.
    const left = (s: number): number => residualsRad[s][input] - residualsRad[s][reference];
    for (const s of used)
      normal.add([0, 1, 2], [1, WAVENUMBER * satellites[s].l, WAVENUMBER * satellites[s].m], left(s), 1);
    const { x, inverse } = normal.solve();
    for (const s of used) {
      const rest = left(s) - x[0] - WAVENUMBER * (x[1] * satellites[s].l + x[2] * satellites[s].m);
      sum += rest * rest;
    }
    count += used.length - 3;
    raw.push({ input, offsetM: [x[1], x[2]], inverse });
  }
  const variance = sum / Math.max(1, count);
  return {
    antennas: raw.map(({ input, offsetM, inverse }) => ({
      input,
      offsetM,
      covarianceM2: [
        [variance * inverse[4], variance * inverse[5]],
        [variance * inverse[7], variance * inverse[8]],
      ],
    })),
    rmsRad: Math.sqrt(variance),
  };
}
