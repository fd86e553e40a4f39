/** A Measurement Set is a folder; casacore keeps a table's description in this file of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const isMeasurementSet = (path: string): boolean => existsSync(join(path, 'table.dat'));
