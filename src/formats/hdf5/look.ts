/** The item names of an HDF5 file: enough to identify its kind, whatever the file name. */
import { closingAfter } from '../../core/closing.js';
import { CorellaError } from '../../core/errors.js';
import { withInput } from '../io/input.js';
import { isHdf5, openHdf5 } from './read.js';

/** Names in the root, and one level below it as "Header/cal_type"; 'damaged' if the library cannot list them. */
export type Hdf5Look = ReadonlySet<string> | 'damaged';

/** A user block (arbitrary text before the HDF5 data) ends at a power of two; longer ones are not searched for. */
const MOST_USER_BLOCK_BYTES = 2 ** 24;

/** Undefined if this is not HDF5. */
export async function lookIntoHdf5(path: string, head: Uint8Array): Promise<Hdf5Look | undefined> {
  if (!isHdf5(head) && !(await hasUserBlock(path))) return undefined;
  try {
    return await closingAfter(async (closers) => {
      const file = closers.keep(await openHdf5(path));
      const names = new Set<string>();
      for (const name of file.keys('')) {
        names.add(name);
        for (const below of file.keys(name)) names.add(`${name}/${below}`);
      }
      return names;
    });
  } catch (error) {
    if (error instanceof CorellaError) return 'damaged';
    throw error;
  }
}

const hasUserBlock = (path: string): Promise<boolean> =>
  withInput(path, async (file) => {
    const bytes = new Uint8Array(8);
    for (let at = 512; at + 8 <= file.sizeBytes && at <= MOST_USER_BLOCK_BYTES; at *= 2) {
      await file.readExactly(bytes, at);
      if (isHdf5(bytes)) return true;
    }
    return false;
  });
