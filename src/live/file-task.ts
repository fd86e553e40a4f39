/** What the main thread and the one that writes files say to each other. */
import type { Integration } from '../core/blocks.js';
import type { Refusal } from '../core/errors.js';
import type { FileEvent, FileSettings } from './files.js';

export interface FileThreadSettings extends FileSettings {
  /** A table of the Earth's orientation in place of the one built in. */
  readonly eop?: string;
}

export type FileTask = { readonly append: Integration } | 'close';

export type FileAnswer =
  | { readonly event: FileEvent }
  | {
      readonly done: Pick<NightFiles, 'paths' | 'written' | 'unwritten'>;
      readonly fault?: Refusal | { readonly message: string };
    };

/** Integrations to files by time, whichever thread writes them. */
export interface NightFiles {
  /** Its arrays may be taken away. */
  append(integration: Integration): Promise<void>;
  /** Of the file that is open; another may follow. */
  close(): Promise<void>;
  /** Nothing follows. */
  end?(): Promise<void>;
  readonly paths: readonly string[];
  readonly written: number;
  readonly unwritten: number;
}
