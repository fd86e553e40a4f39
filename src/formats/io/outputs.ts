/** Checks outputs before the work rather than after it. */
import { stat } from 'node:fs/promises';
import { refuse } from '../../core/errors.js';
import { namesIn } from '../several/paths.js';
import { openInput } from './input.js';
import { checkOutput } from './output.js';
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

/** An existing file is replaced only on request; an input never is. */
export async function checkOutputs({ paths, from, overwrite }: PlannedOutputs): Promise<void> {
  if (from !== undefined) await requireInputs(from);
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
