/** What of a simulated sky is lost on request. */

/** What is lost from now on. */
export interface Losses {
  /** Of all boards. */
  readonly percent: number;
  /** Boards of which nothing comes. */
  readonly silent: readonly string[];
}

/** What may be changed while the sky is simulated. */
export interface LossControl {
  readonly boards: readonly string[];
  now(): Losses;
  set(losses: Losses): void;
}
