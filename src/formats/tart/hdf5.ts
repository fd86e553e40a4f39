/** Shared by TART's two kinds of HDF5 files. */
import { refuse } from '../../core/errors.js';
import type { Hdf5File } from '../hdf5/read.js';
import { factsOf, type TartFacts } from './description.js';

export const POSITIONS = 'antenna_positions';

/** `config` is JSON. */
export function configOf(file: Hdf5File): TartFacts {
  const text = file.text('config');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return refuse(file.path, 'its config is not JSON', 'it is damaged, or no file of a TART');
  }
  return factsOf(file.path, json);
}
