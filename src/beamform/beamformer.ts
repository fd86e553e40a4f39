/** A prepared beamformer, on any backend. */
import type { SpectraBlock } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';
import type { BeamPlan, Bins } from './plan.js';
import { steeredWeights, type InverseGains } from './weights.js';

/** voltages : [c][b][p][t], complex: Σ_s w_{b,sp}·x_{sp}; int32 or float32 by the plan. */
export type BeamVoltages = Int32Array | Float32Array;

/** Missing samples are zeros in a block, and so add nothing. */
export interface Beamformer extends Closable {
  readonly plan: BeamPlan;
  /** weights : [c][b][a], complex (re, im): for the blocks that follow. 0 leaves an input out. */
  setWeights(weights: Int8Array | Float32Array): void;
  /**
   * The same, steered by delays, [b][s], in channels of these frequencies (weights.ts). Returns for each beam the
   * factor of a weight of modulus 1.
   */
  steer(frequenciesHz: Float64Array, delaysS: Float64Array, gains: InverseGains): Float64Array;
  /** Writes the beams' voltages over a block. */
  voltages(block: SpectraBlock, into: BeamVoltages): Promise<void>;
  /** Adds the beams' powers over a block; powers of a spectrum are float32, sums of them float64. */
  powers(block: SpectraBlock, bins: Bins, into: Float64Array): Promise<void>;
}

/** For a beamformer whose weights are made on the host. */
export const steerOnHost =
  (plan: BeamPlan, setWeights: Beamformer['setWeights']): Beamformer['steer'] =>
  (frequenciesHz, delaysS, gains) => {
    const { weights, scales } = steeredWeights({ ...plan, frequenciesHz }, delaysS, gains);
    setWeights(weights);
    return scales;
  };
