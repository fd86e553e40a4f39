/** Files that are folders: casacore keeps a table's description in this file of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const isTableFolder = (path: string): boolean => existsSync(join(path, 'table.dat'));
