/** Checks outputs before the work rather than after it. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { refuse } from '../../core/errors.js';
import { namesIn } from '../several/paths.js';
import { openInput } from './input.js';
import { checkOutput, placeOf } from './output.js';
import { isRemote } from './remote.js';

interface PlannedOutputs {
  readonly overwrite?: boolean;
  readonly paths: readonly string[];
  /** The input of the work. */
  readonly from?: string;
}

/** A misspelt input is reported before the outputs. Patterns and addresses are checked when opened. */
export async function requireInputs(names: string): Promise<void> {
  for (const name of namesIn(names))
    if (!isRemote(name) && !/[*?]/.test(name) && !(await isThere(name)))
      await (await openInput(name)).close();
}

/** Of two results in one file the later would replace the earlier, whatever they are called. */
export async function refuseWrittenTwice(paths: readonly string[]): Promise<void> {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const place = resolve(await placeOf(path));
    const folder = await realpath(dirname(place)).catch(() => dirname(place));
    const found = await stat(place, { bigint: true }).catch(() => undefined);
    const names = [join(folder, basename(place)), ...(found ? [`${found.dev}:${found.ino}`] : [])];
    const other = names.map((name) => seen.get(name)).find((one) => one !== undefined);
    if (other !== undefined)
      refuse(
        path,
        other === path ? 'two products would be written to it' : `${other} is the same file`,
        'give each product a path of its own',
      );
    for (const name of names) seen.set(name, path);
  }
}

/** An existing file is replaced only on request; an input never is. */
export async function checkOutputs({ paths, from, overwrite }: PlannedOutputs): Promise<void> {
  if (from !== undefined) await requireInputs(from);
  await refuseWrittenTwice(paths);
  for (const path of paths) {
    await checkOutput(path);
    for (const one of namesIn(from ?? ''))
      if (await sameFile(path, one))
        refuse(path, 'is the very file that is read', 'give the result another name');
  }
  if (overwrite === true) return;
  for (const path of paths) {
    if (await isThere(path))
      refuse(path, 'is there already', 'give the result another name, or overwrite: true', 'file.exists');
  }
}

/** Whether there is a file or folder of this name. */
export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Whether two paths are one file, whatever their names. */
export async function sameFile(x: string, y: string): Promise<boolean> {
  const [a, b] = await Promise.all([x, y].map((path) => stat(path, { bigint: true }).catch(() => undefined)));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}
