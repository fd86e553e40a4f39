/** UVH5: visibilities in HDF5, the format of pyuvdata and its correlators (memo 0.x to 1.2). */
import type { Format } from '../../format.js';
import { isHdf5, namesInHead } from '../../hdf5/read.js';
import { openUvh5 } from './read.js';
import { MOST_INT32 } from './values.js';
import { createUvh5 } from './write.js';
import { open } from 'node:fs/promises';
import { refuse } from '../../../core/errors.js';

export const uvh5: Format = {
  name: 'uvh5',
  title: 'UVH5',
  extensions: ['.uvh5'],
  grows: true,
  holdsSums: true,
  kinds: [{ title: 'UVH5', holds: 'visibilities', reads: ['uvw', 'target'] }],
  // An interrupted file of ours still has its temporary name.
  recognise: (path, head, names) =>
    names === undefined || names === 'damaged'
      ? namesInHead(head, 'Data', 'Header') ||
        (isHdf5(head) && /\.uvh5(?:\.(?:\d+-)?[0-9a-f]+\.part)?$/i.test(path))
      : names.has('Header') && names.has('Data') && !names.has('Header/cal_type'),
  open: (path, options) => openUvh5(path, options),
  createVisibilities: (path, header, { values = 'means', appears = 'finished', largestSum = 0 } = {}) => {
    const sums = largestSum > MOST_INT32 ? 'whole128' : 'int32';
    return createUvh5(path, header, { values: values === 'sums' ? sums : 'complex64' }, appears);
  },
  repair: repairUvh5,
};

/** Offset of the end-of-file address in superblock 0. */
const END_OF_FILE_AT = 40;

async function repairUvh5(path: string): Promise<number> {
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
