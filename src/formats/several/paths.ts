/** Several files given as one: a list, "a.vdif,b.vdif", or a pattern, "run.*.raw". */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { refuse } from '../../core/errors.js';
import { isRemote } from '../io/remote.js';

/** The names in a list, before patterns are expanded; the name of an existing file is used literally. */
export const namesIn = (name: string): readonly string[] =>
  existsSync(name) || !name.includes(',') ? [name] : name.split(',').map((part) => part.trim());

/** The files selected; the name of an existing file is used literally, whatever its characters. */
export async function pathsOf(name: string): Promise<readonly string[]> {
  if (existsSync(name)) return [name];
  if (name.includes(',')) {
    const parts = name.split(',').map((part) => part.trim());
    if (parts.some((part) => part === ''))
      refuse(name, 'is a list with an empty name', 'take out the comma too many');
    const all = (await Promise.all(parts.map(pathsOf))).flat();
    const twice = all.find((path, k) => all.indexOf(path) !== k);
    if (twice !== undefined) refuse(name, `names ${twice} twice`, 'name each file once');
    return all;
  }
  // A question mark in an address is not a pattern.
  return /[*?]/.test(basename(name)) && !isRemote(name) ? matching(name) : [name];
}

/** In name order, with numbers by value: .2.raw before .10.raw. */
async function matching(pattern: string): Promise<readonly string[]> {
  const folder = dirname(pattern);
  if (/[*?]/.test(folder))
    refuse(pattern, 'has a pattern among its folders', 'use * and ? in the file name alone');
  const wanted = new RegExp(
    `^${basename(pattern)
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
  const names = await readdir(folder).catch((): string[] => []);
  const found = names
    .filter((name) => wanted.test(name) && !name.startsWith('.'))
    .sort((x, y) => x.localeCompare(y, 'en', { numeric: true }));
  if (found.length === 0) refuse(pattern, 'matches no file', 'check the pattern and the folder');
  return found.map((name) => join(folder, name));
}
