/** Progress of long work: the amount done, and the total if known. */
export interface Progress {
  readonly done: number;
  readonly of?: number;
  /** The unit that is counted, in the plural: "samples". */
  readonly unit: string;
}

/** The current step of work without a count, and its progress from 0 to 1. */
export type OnStep = (fraction: number, what: string) => void;

/** A part of long work that is reported separately. */
export interface ProgressStage {
  readonly update: OnProgress;
  /** Reports the current step; `step` is for steps that take little time. */
  readonly at: OnStep;
  readonly step: OnStep;
  /** Returns the seconds it took. */
  done(note?: string): number;
}

export type OnProgress = (progress: Progress) => void;
