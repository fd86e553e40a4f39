/** What a run that was killed left of an output, told by the next run. */
import { dirname } from 'node:path';
import { formatBytes } from '../../core/units.js';
import { findLeftovers } from '../../formats/index.js';

export async function leftoverLines(path: string): Promise<string[]> {
  const left = (await findLeftovers(dirname(path), path)).filter(({ isBeingWritten }) => !isBeingWritten);
  if (left.length === 0) return [];
  const sizeBytes = left.reduce((sum, one) => sum + one.sizeBytes, 0);
  return [
    `an earlier run was killed while it wrote ${path}; ${formatBytes(sizeBytes)} of it are there: ` +
      `corella recover ${path} makes a file of the integrations that were finished, with --remove it is removed`,
  ];
}
