/** Numbers that the package carries as CSV: comment lines, a line of column names, rows. */
import { readFileSync } from 'node:fs';

/** Fields of every row of a file in data/, without comments and column names. */
export function carriedRows(name: string): readonly (readonly string[])[] {
  const text = readFileSync(new URL(`data/${name}`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .slice(1)
    .map((line) => line.split(','));
}
