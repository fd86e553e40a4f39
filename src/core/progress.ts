/** How far long work has come: what has been done, and of how much where the end is known. */
export interface Progress {
  readonly done: number;
  readonly of?: number;
  /** What is counted, in the plural: "samples". */
  readonly unit: string;
}

/** Which step of a work without a count is at hand, and how far along it is, from 0 to 1. */
export type OnStep = (fraction: number, what: string) => void;

/** A part of long work that is reported by itself. */
export interface ProgressStage {
  readonly update: OnProgress;
  /** Which step it is at; `step` is for steps that take little time. */
  readonly at: OnStep;
  readonly step: OnStep;
  /** Seconds that it took. */
  done(note?: string): number;
}

export type OnProgress = (progress: Progress) => void;
