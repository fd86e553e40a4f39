/** Files of text that options name, read at once, before the work starts. */
import { readFileSync } from 'node:fs';
import { CorellaError, refuse } from '../core/errors.js';

/** `what` is wrong where it cannot be read. */
export function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CorellaError({ where: path, what, fix: 'check the path' }, { cause: error });
  }
}

/** CSV: the names of its columns, which `check` may refuse, and rows of numbers. */
export function numberTable(
  text: string,
  path: string,
  check: (names: readonly string[]) => void,
): { readonly names: readonly string[]; readonly rows: readonly (readonly number[])[] } {
  const [head = '', ...lines] = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const names = head.split(',').map((name) => name.trim());
  check(names);
  const rows = lines.map((line, n) => {
    const values = line.split(',').map(Number);
    if (values.length !== names.length || !values.every(Number.isFinite))
      refuse(`${path}, line ${n + 2}`, `'${line}' is not ${names.length} numbers`, 'correct it');
    return values;
  });
  return { names, rows };
}
