/** A prepared X-engine, on any backend. */
import type { CountsCB, CountsCBPP, VisibilitiesCBPP } from '../core/axes.js';
import type { SpectraBlock } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';
import type { CorrelatePlan } from './plan.js';

/** One integration; the caller may keep the arrays. */
export interface CorrelationResult {
  /** visibilities : [c][b][p_i][p_j], complex: Σ_t x_i · conj(x_j), zero where either input is flagged. */
  readonly visibilities: VisibilitiesCBPP;
  /** counts : [c][b], samples that both stations had. */
  readonly counts: CountsCB;
  /**
   * productCounts : [c][b][p_i][p_j], where a station lacked only one polarisation; counts are then the largest of
   * them.
   */
  readonly productCounts?: CountsCBPP;
  /** Spectra fed, missing ones included. */
  readonly samples: number;
}

export interface Correlator extends Closable {
  readonly plan: CorrelatePlan;
  /** Adds a block of any size to the integration. A refused block adds nothing. */
  accumulate(block: SpectraBlock): Promise<void>;
  /** Returns the integration and starts the next from zero. */
  finish(): Promise<CorrelationResult>;
}
