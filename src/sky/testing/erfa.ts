/** Numbers made by ERFA (scripts/erfa-places.py), for tests of every module that uses sky positions. */
import { readFileSync } from 'node:fs';
import type { Site } from '../../telescope/telescope.js';

export type ErfaTable = 'places' | 'sun' | 'sidereal' | 'axes' | 'delays';

export function erfaRows(table: ErfaTable): string[][] {
  const text = readFileSync(new URL(`erfa-${table}.csv`, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split(','));
}

export const erfaSites: Readonly<Record<string, Site>> = {
  sevilleta: { latitudeDeg: 34.348358, longitudeDeg: -106.885783, heightM: 1477.8 },
  boolardy: { latitudeDeg: -26.703319, longitudeDeg: 116.670813, heightM: 377.83 },
  karoo: { latitudeDeg: -30.721527, longitudeDeg: 21.428305, heightM: 1051.7 },
  exloo: { latitudeDeg: 52.915122, longitudeDeg: 6.869837, heightM: 49.3 },
  chajnantor: { latitudeDeg: -23.022886, longitudeDeg: -67.755147, heightM: 5064 },
};
