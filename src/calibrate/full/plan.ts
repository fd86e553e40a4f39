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
 * summed over the whole row. All stations move at once from the previous gains; every even iteration (counted from 1) is
 * averaged with the one before it. A station whose D has no inverse keeps its gains.
 */
export type FullBatch = SolveBatch;

export interface FullSolver extends Closable {
  readonly solve: (batch: FullBatch) => Promise<void>;
}

/** Below this part of d₀₀·d₁₁ the determinant of D is rounding: nothing tells one column of G from the other. */
export const LEAST_DETERMINANT = 1e-12;
