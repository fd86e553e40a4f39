/** Who writes a night's files. */
import type { FileThreadSettings, NightFiles } from './file-task.js';
import { openFilesByThread } from './files-by-thread.js';
import { FilesByTime, type FileEvent } from './files.js';

export const openFiles = (
  settings: FileThreadSettings,
  onEvent: (event: FileEvent) => void,
  by: 'own thread' | 'this thread',
): NightFiles =>
  by === 'own thread' ? openFilesByThread(settings, onEvent) : new FilesByTime(settings, onEvent);
