/** UVH5: visibilities in HDF5, as pyuvdata and its correlators keep them (memo 0.x to 1.2). */
import type { Format } from '../../format.js';
import { isHdf5, namesInHead } from '../../hdf5/read.js';
import { mendUvh5 } from './mend.js';
import { openUvh5 } from './read.js';
import { MOST_INT32 } from './values.js';
import { createUvh5 } from './write.js';

export const uvh5: Format = {
  name: 'uvh5',
  title: 'UVH5',
  extensions: ['.uvh5'],
  grows: true,
  holdsSums: true,
  kinds: [{ title: 'UVH5', holds: 'visibilities', reads: ['uvw', 'target'] }],
  // A file of ours that was cut off still has its temporary name.
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
  mend: mendUvh5,
};
