/** Optional texts of a UVH5 header. */
import type { Hdf5File } from '../../hdf5/read.js';

export const optionalText = (file: Hdf5File, name: string): string | undefined =>
  file.has(`Header/${name}`) ? file.text(`Header/${name}`).replace(/\0+$/, '') : undefined;
