/** What is about to be written, refused before the work rather than after it. */
import { stat } from 'node:fs/promises';
import { refuse } from '../../core/errors.js';
import { checkOutput } from './output.js';

export interface PlannedOutputs {
  readonly overwrite?: boolean;
  readonly paths: readonly string[];
  /** What is read meanwhile. */
  readonly from?: string;
}

/** Nothing that is there is replaced unless the user says so; what is read never is. */
export async function checkOutputs({ paths, from, overwrite }: PlannedOutputs): Promise<void> {
  for (const path of paths) {
    await checkOutput(path);
    if (from !== undefined && (await sameFile(path, from)))
      refuse(path, 'is the very file that is read', 'give the result another name');
  }
  if (overwrite === true) return;
  for (const path of paths) {
    if (await isThere(path))
      refuse(path, 'is there already', 'give the result another name, or say --overwrite');
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** One file by what is there, whatever it is called. */
export async function sameFile(x: string, y: string): Promise<boolean> {
  const [a, b] = await Promise.all([x, y].map((path) => stat(path, { bigint: true }).catch(() => undefined)));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}
