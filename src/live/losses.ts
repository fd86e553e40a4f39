/** Losses that can be requested in a simulated sky. */

/** The losses from now on. */
export interface Losses {
  /** From all boards. */
  readonly percent: number;
  /** Boards that send nothing. */
  readonly silent: readonly string[];
}

/** What can be changed while the sky is simulated. */
export interface LossControl {
  readonly boards: readonly string[];
  now(): Losses;
  set(losses: Losses): void;
}
