/** Suggestions for misspelt names: existing names spelt nearly like the requested one. */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Edit distance: letters to insert, delete or change, or neighbours to swap. */
export function editDistance(from: string, to: string): number {
  let earlier: readonly number[] = [];
  let before: readonly number[] = Array.from({ length: to.length + 1 }, (_, k) => k);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = before[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwapped ? earlier[j - 2] + 1 : Infinity;
      row.push(Math.min(changed, swapped, before[j] + 1, row[j - 1] + 1));
    }
    earlier = before;
    before = row;
  }
  return before[to.length];
}

const stemOf = (name: string): string => name.replace(/(?!^)\..*$/, '');

/** More than two errors in a name make it another name. */
const MOST_SLIPS = 2;

/** The name that begins with the requested text, else the nearest in spelling; undefined if none is near. */
export function meantName(asked: string, names: readonly string[]): string | undefined {
  if (asked === '') return undefined;
  const begun = names.filter((name) => name.startsWith(`${asked}.`) || name.startsWith(`${asked}-`));
  // For a SigMF recording, prefer the name of its metadata.
  if (begun.length > 0) return begun.find((name) => !name.endsWith('.sigmf-data')) ?? begun[0];
  // u.sigmf-data is not t.sigmf-data: compare the part before the dot; a short one allows no errors.
  const slips = Math.min(MOST_SLIPS, Math.floor(stemOf(asked).length / 3));
  const apart = (x: string, y: string): number => editDistance(x.toLowerCase(), y.toLowerCase());
  return names
    .map((name) => ({ name, distance: apart(asked, name), stems: apart(stemOf(asked), stemOf(name)) }))
    .filter(({ distance, stems }) => distance <= MOST_SLIPS && stems <= slips)
    .sort((a, b) => a.distance - b.distance)
    .at(0)?.name;
}

/** Advice if a file does not exist: a nearby file with similar spelling and the expected ending. */
export async function meantBeside(path: string, ending: string): Promise<string | undefined> {
  const folder = dirname(path);
  const names = await readdir(folder).catch((): string[] => []);
  // A broken link counts as a file of its own name.
  const shown = names
    .filter((name) => !name.startsWith('.') && name.endsWith(ending) && name !== basename(path))
    .sort();
  const meant = meantName(basename(path), shown);
  return meant === undefined ? undefined : `did you mean ${join(folder, meant)}?`;
}
