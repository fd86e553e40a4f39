/** What inspect reports of a file: text, JSON and pictures. */
import type { OnProgress } from '../../core/progress.js';
import type { Picture } from '../../draw/index.js';
import type { Line } from '../../messages/index.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';

/** What a file can hold. */
export type Holds = 'gains' | 'image' | 'filterbank' | 'packets' | 'voltages' | 'spectra' | 'visibilities';

export const drawings = ['picture', 'spectrum', 'uv', 'map', 'fringes'] as const;
export type Drawing = (typeof drawings)[number];

export interface ReportOptions {
  /** Read all of a large file, not its first block only. */
  readonly whole?: boolean;
  readonly draw?: readonly Drawing[];
  /** Two stations, like stand1,stand17: `picture` shows this pair. */
  readonly baseline?: string;
  /** Also report the fringes, and fit the baselines to the drift of this source. */
  readonly fringeOf?: PhaseCentre;
  readonly onProgress?: OnProgress;
}

export interface Report {
  readonly json: object;
  readonly lines: readonly Line[];
  /** Of those requested, what the file can show. */
  readonly pictures: Readonly<
    Partial<Record<Drawing, { readonly picture: Picture; readonly widthPx?: number }>>
  >;
}

/** A file whose contents are known, and not yet read. */
export interface Inspected {
  readonly holds: Holds;
  report(options: ReportOptions): Promise<Report>;
  close(): Promise<void>;
}
