/** Names that were meant: what is there and spelt nearly like what was asked for. */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Letters to insert, leave out or change on the way from one word to the other. */
export function editDistance(from: string, to: string): number {
  let before = Array.from({ length: to.length + 1 }, (_, k) => k);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const changed = before[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      row.push(Math.min(changed, before[j] + 1, row[j - 1] + 1));
    }
    before = row;
  }
  return before[to.length];
}

/** Two slips in a name of some length; more is another name. */
const MOST_SLIPS = 2;

/** The name that begins with what was asked for, else the nearest in spelling; none where nothing is near. */
export function meantName(asked: string, names: readonly string[]): string | undefined {
  if (asked === '') return undefined;
  const begun = names.find((name) => name.startsWith(`${asked}.`) || name.startsWith(`${asked}-`));
  if (begun !== undefined) return begun;
  const slips = Math.min(MOST_SLIPS, Math.floor(asked.length / 3));
  return names
    .map((name) => ({ name, distance: editDistance(asked.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= slips)
    .sort((a, b) => a.distance - b.distance)
    .at(0)?.name;
}

/** Advice where there is no such file: a name beside it that is spelt nearly so, and ends as asked. */
export async function meantBeside(path: string, ending: string): Promise<string | undefined> {
  const folder = dirname(path);
  const names = await readdir(folder).catch((): string[] => []);
  const shown = names.filter((name) => !name.startsWith('.') && name.endsWith(ending)).sort();
  const meant = meantName(basename(path), shown);
  return meant === undefined ? undefined : `did you mean ${join(folder, meant)}?`;
}
