/** How far long work has come: what has been done, and of how much where the end is known. */
export interface Progress {
  readonly done: number;
  readonly of?: number;
  /** What is counted, in the plural: "samples". */
  readonly unit: string;
}

export type OnProgress = (progress: Progress) => void;
