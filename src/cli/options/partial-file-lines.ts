/** Partial files of a killed run, reported by the next run. */
import { dirname } from 'node:path';
import { message, type Message } from '../../messages/index.js';

export async function partialFileLines(path: string): Promise<Message[]> {
  const { findPartialFiles } = await import('../../formats/index.js');
  const left = (await findPartialFiles(dirname(path), path)).filter(({ isBeingWritten }) => !isBeingWritten);
  if (left.length === 0) return [];
  const sizeBytes = left.reduce((sum, one) => sum + one.sizeBytes, 0);
  return [message('file.leftover', { path, bytes: sizeBytes })];
}
