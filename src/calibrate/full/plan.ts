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
 * summed over the whole row. All stations move at once from the previous gains. A station whose D has no inverse keeps its
 * gains. Of a fixed count every even iteration (counted from 1) is averaged with the one before it. Until a tolerance steps get
 * what they lack of a step of all stations in common (common.ts; an unpolarised model needs none), and are mixed
 * (accelerate.ts). Any may be the last: its change, G′ − G of the whole step, is below the tolerance, and the best common step
 * below ten of it; if not that one is made, and iterations go on. A backend may take another road to the same bottom in no more
 * iterations: the processor takes some models' stations one after the other (cpu/stefcal_full.cpp).
 */
export interface FullBatch extends SolveBatch {
  /** Out : [k][8][8], the normal equations of what all stations share, at the last iteration's gains before. */
  readonly commonNormal: Float64Array;
  /** Out : [k], of one number of the data at unit weight, there too. */
  readonly commonVariance: Float64Array;
}

/** What comes of the common part. */
export const commonOutputs = (solves: number): Pick<FullBatch, 'commonNormal' | 'commonVariance'> => ({
  commonNormal: new Float64Array(64 * solves),
  commonVariance: new Float64Array(solves),
});

export interface FullSolver extends Closable {
  readonly solve: (batch: FullBatch) => Promise<void>;
}

/** Below this part of d₀₀·d₁₁ the determinant of D is rounding: nothing tells one column of G from the other. */
export const LEAST_DETERMINANT = 1e-12;

/**
 * What the models of all pairs have in common: 0, M = m·1; 1, M = diag(m, n); 2, anything. The simpler, the fewer products an
 * iteration takes.
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
