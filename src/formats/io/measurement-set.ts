/** A Measurement Set is a folder; casacore stores a table's description in this file. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const isMeasurementSet = (path: string): boolean => existsSync(join(path, 'table.dat'));
