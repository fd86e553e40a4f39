/** Visibilities over matrices of full polarisation. */
import type { AsStored, Integration } from '../../core/blocks.js';
import { adjoint, inverseMatrix, timesMatrix } from '../../core/jones.js';
import type { Calibrated } from '../sky-image.js';

interface OverMatrices {
  /** G_i⁻¹ V_ij G_j⁻ᴴ : [c][b][2][2], as they were where a station has no matrix. */
  readonly means: Float64Array;
  /** solved : [c][a], 1 where both inputs of the station are known: one alone undoes nothing. */
  readonly solved: Uint8Array;
}

/** Nothing where there is no leakage. Without `stored` only what is solved is told. */
export function overMatrices(
  { channels, stations, polarisations }: Integration,
  stored: AsStored | undefined,
  { gains, leakage, solved }: Calibrated,
): OverMatrices | undefined {
  if (!leakage || polarisations === 1) return undefined;
  const known = new Uint8Array(solved.length);
  const inverses = Array.from({ length: channels * stations }, (_, s) => {
    if (solved[2 * s] === 0 || solved[2 * s + 1] === 0) return undefined;
    // [[g_X, d_X], [d_Y, g_Y]]: rows are what is recorded, columns what the sky holds.
    const inverse = inverseMatrix([
      ...gains.subarray(4 * s, 4 * s + 2),
      ...leakage.subarray(4 * s, 4 * s + 4),
      ...gains.subarray(4 * s + 2, 4 * s + 4),
    ]);
    if (inverse) known.fill(1, 2 * s, 2 * s + 2);
    return inverse;
  });
  const means = stored ? stored.means.slice() : new Float64Array(0);
  if (stored) {
    let at = 0;
    for (let c = 0; c < channels; c++) {
      for (let i = 0; i < stations; i++) {
        for (let j = 0; j <= i; j++, at += 8) {
          const [left, right] = [inverses[c * stations + i], inverses[c * stations + j]];
          if (!left || !right) continue;
          means.set(timesMatrix(timesMatrix(left, means.subarray(at, at + 8)), adjoint(right)), at);
          // A station's power is real; of four products rounding would leave a little.
          if (i === j) means[at + 1] = means[at + 7] = 0;
        }
      }
    }
  }
  return { means, solved: known };
}
