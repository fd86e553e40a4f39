/** A UVH5 file of ours is whole after every integration: what lies beyond its end, begun and not finished, is cut off. */
import { open } from 'node:fs/promises';
import { refuse } from '../../../core/errors.js';
import { openUvh5 } from './read.js';

/** Where superblock 0 keeps the address of the file's end. */
const END_OF_FILE_AT = 40;

export async function mendUvh5(path: string): Promise<number> {
  const handle = await open(path, 'r+');
  try {
    const head = Buffer.alloc(END_OF_FILE_AT + 8);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    // Zeros until the first integration is finished.
    if (bytesRead < head.length || head.readUInt32BE(0) !== 0x89484446) return 0;
    const end = Number(head.readBigUInt64LE(END_OF_FILE_AT));
    const { size } = await handle.stat();
    if (head[8] !== 0 || end > size)
      refuse(path, 'was not written by corella, or lost its end', 'copy it again');
    await handle.truncate(end);
  } finally {
    await handle.close();
  }
  const file = await openUvh5(path);
  await file.close();
  return file.integrationCount;
}
