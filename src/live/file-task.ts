/** Messages between the main thread and the thread that writes files. */
import type { Integration } from '../core/blocks.js';
import type { Refusal } from '../core/errors.js';
import type { FileEvent, FileSettings } from './files.js';

export interface FileThreadSettings extends FileSettings {
  /** A table of Earth orientation parameters instead of the built-in one. */
  readonly eop?: string;
}

export type FileTask = { readonly append: Integration } | 'close';

export type FileAnswer =
  | { readonly event: FileEvent }
  | {
      readonly done: Pick<LiveFiles, 'paths' | 'written' | 'unwritten'>;
      readonly fault?: Refusal | { readonly message: string };
    };

/** Writes integrations to files by time, on either thread. */
export interface LiveFiles {
  /** Its arrays may be transferred. */
  append(integration: Integration): Promise<void>;
  /** Closes the current file; another may follow. */
  close(): Promise<void>;
  /** No more files follow. */
  end?(): Promise<void>;
  readonly paths: readonly string[];
  readonly written: number;
  readonly unwritten: number;
}
