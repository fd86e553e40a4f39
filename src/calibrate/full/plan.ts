/**
 * Full polarisation: a matrix of 2 × 2 for each station instead of a gain for each input, and the layout in which a backend
 * receives a batch of such solves.
 */
import type { Closable } from '../../core/closing.js';
import type { SolveBatch } from '../plan.js';

/**
 * One solve a channel; all arrays hold one after the other.
 *
 *   data    : [k][b][2][2] complex float64   V_ij, averaged correlations XX, XY, YX, YY, i ≥ j; V_ji = V_ijᴴ
 *   model   : [k][b][2][2] complex float64   M_ij likewise
 *   weights : [k][b] float64                 w_ij ≥ 0; 0 leaves the pair out
 *   gains   : [k][s][2][2] complex float64   in: the first guess, 0 for stations left out; out: the solution. Row: what the
 *                                            station records, X then Y; column: what the sky holds, X then Y
 *
 * Minimising Σ w_ij ‖V_ij − G_i M_ij G_jᴴ‖² for one station, the others held, gives
 *
 *   G_i = N_i D_i⁻¹   with   N_i = Σ_j w_ij V_ij Z_ij,   D_i = Σ_j w_ij Z_ijᴴ Z_ij,   Z_ij = G_j M_ijᴴ
 *
 * summed over the whole row. All stations move at once from the previous gains. A station whose D has no inverse keeps
 * its gains. Of a fixed count every even iteration (counted from 1) is averaged with the one before it. With a
 * tolerance steps are corrected by a common step of all stations (common.ts; an unpolarised model needs none), and are
 * mixed (accelerate.ts). A solve ends when its change, G′ − G of the whole step, is below the tolerance, and the best
 * common step below ten of it; if not, that step is made, and iterations continue. A backend may use another method to
 * the same minimum in no more iterations: the processor updates some models' stations one after the other
 * (cpu/stefcal_full.cpp).
 */
export interface FullBatch extends SolveBatch {
  /** Out : [k][8][8], the normal equations of what all stations share, at the gains before the last iteration. */
  readonly commonNormal: Float64Array;
  /** Out : [k], variance of one number of the data at unit weight, at the same gains. */
  readonly commonVariance: Float64Array;
}

/** Memory for the results of the common part. */
export const commonOutputs = (solves: number): Pick<FullBatch, 'commonNormal' | 'commonVariance'> => ({
  commonNormal: new Float64Array(64 * solves),
  commonVariance: new Float64Array(solves),
});

export interface FullSolver extends Closable {
  solve(batch: FullBatch): Promise<void>;
}

/** Below this fraction of d₀₀·d₁₁ the determinant of D is rounding: the columns of G cannot be separated. */
export const LEAST_DETERMINANT = 1e-12;

/**
 * The common form of the models of all pairs: 0, M = m·1; 1, M = diag(m, n); 2, any. The simpler, the fewer products in
 * an iteration.
 */
export type ModelForm = 0 | 1 | 2;

/** Of the pairs of solve k that have a weight. */
export function formOf(
  { model, weights, solves }: Pick<FullBatch, 'model' | 'weights' | 'solves'>,
  k: number,
): ModelForm {
  const baselines = weights.length / solves;
  let form: ModelForm = 0;
  for (let b = k * baselines; b < (k + 1) * baselines; b++) {
    if (weights[b] === 0) continue;
    const at = 8 * b;
    for (let n = at + 2; n < at + 6; n++) if (model[n] !== 0) return 2;
    if (model[at] !== model[at + 6] || model[at + 1] !== model[at + 7]) form = 1;
  }
  return form;
}
