/** Writes a farm's files completely or not at all. */
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CorellaError } from '../core/errors.js';
import { messageOf } from './words.js';

/** Writes a file completely or not at all: to a temporary name, synced, renamed, then the folder synced. */
export async function writeSafely(path: string, contents: Uint8Array | string): Promise<void> {
  const aside = `${path}.${process.pid}.part`;
  try {
    const file = await open(aside, 'w');
    try {
      await file.writeFile(contents);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
    const folder = await open(join(path, '..'), 'r');
    await folder.sync().catch(() => undefined);
    await folder.close();
  } catch (error) {
    await rm(aside, { force: true });
    throw new CorellaError(
      {
        where: path,
        what: `cannot be written: ${messageOf(error)}`,
        fix: 'make room there, then collect again',
      },
      { cause: error },
    );
  }
}
