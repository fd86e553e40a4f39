/** Writes visibilities to a file and reads them back. */
import assert from 'node:assert/strict';
import type { Integration } from '../../core/blocks.js';
import type { VisibilityFile, VisibilityHeader } from '../format.js';
import { openFile, visibilityFormatFor } from '../registry.js';

export async function writeVisibilities(
  path: string,
  header: VisibilityHeader,
  all: readonly Integration[],
): Promise<string> {
  const writer = await visibilityFormatFor(path).createVisibilities(path, header);
  try {
    for (const one of all) await writer.append(one);
  } catch (error) {
    await writer.abandon();
    throw error;
  }
  await writer.finish();
  return path;
}

export async function readVisibilities(path: string): Promise<{ file: VisibilityFile; all: Integration[] }> {
  const file = await openFile(path);
  assert.ok(file.kind === 'visibilities');
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return { file, all };
}
