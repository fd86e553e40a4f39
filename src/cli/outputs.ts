/** What a command is about to write, refused before the work rather than after it. */
import { stat } from 'node:fs/promises';
import { refuse } from '../core/errors.js';
import { checkOutput } from '../formats/output.js';

export interface PlannedOutputs {
  readonly paths: readonly string[];
  /** What is read meanwhile. */
  readonly from?: string;
}

export async function checkOutputs({ paths, from }: PlannedOutputs): Promise<void> {
  for (const path of paths) {
    await checkOutput(path);
    if (from !== undefined && (await sameFile(path, from)))
      refuse(path, 'is the very file that is read', 'give the result another name');
  }
}

async function sameFile(x: string, y: string): Promise<boolean> {
  const [a, b] = await Promise.all([x, y].map((path) => stat(path, { bigint: true }).catch(() => undefined)));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}

export function checkPngName(option: string, path: string): void {
  if (!/\.png$/i.test(path)) refuse(option, `'${path}' does not end in .png`, 'pictures are written as PNG');
}
