/** Names that were meant: what is there and spelt nearly like what was asked for. */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Letters to insert, leave out or change, or neighbours to swap, on the way from one word to the other. */
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

/** Two slips in a name of some length; more is another name. */
const MOST_SLIPS = 2;

/** The name that begins with what was asked for, else the nearest in spelling; none where nothing is near. */
export function meantName(asked: string, names: readonly string[]): string | undefined {
  if (asked === '') return undefined;
  const begun = names.filter((name) => name.startsWith(`${asked}.`) || name.startsWith(`${asked}-`));
  // A SigMF recording goes by its metadata's name.
  if (begun.length > 0) return begun.find((name) => !name.endsWith('.sigmf-data')) ?? begun[0];
  // u.sigmf-data is not t.sigmf-data: what comes before the dot is the name, and a short one leaves no room for slips.
  const slips = Math.min(MOST_SLIPS, Math.floor(stemOf(asked).length / 3));
  const apart = (x: string, y: string): number => editDistance(x.toLowerCase(), y.toLowerCase());
  return names
    .map((name) => ({ name, distance: apart(asked, name), stems: apart(stemOf(asked), stemOf(name)) }))
    .filter(({ distance, stems }) => distance <= MOST_SLIPS && stems <= slips)
    .sort((a, b) => a.distance - b.distance)
    .at(0)?.name;
}

/** Advice where there is no such file: a name beside it that is spelt nearly so, and ends as asked. */
export async function meantBeside(path: string, ending: string): Promise<string | undefined> {
  const folder = dirname(path);
  const names = await readdir(folder).catch((): string[] => []);
  // A link that leads nowhere is there by its own name.
  const shown = names
    .filter((name) => !name.startsWith('.') && name.endsWith(ending) && name !== basename(path))
    .sort();
  const meant = meantName(basename(path), shown);
  return meant === undefined ? undefined : `did you mean ${join(folder, meant)}?`;
}
