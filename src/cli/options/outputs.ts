/** What a command is about to write, refused before the work rather than after it. */
import { stat } from 'node:fs/promises';
import { refuse } from '../../core/errors.js';
import { checkOutput, formats, sigmfPaths } from '../../formats/index.js';

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

/** The two files of a recording to write; a name that asks for another format is refused, not lengthened. */
export function recordingPaths(path: string): ReturnType<typeof sigmfPaths> {
  const asked = [...formats.flatMap(({ extensions }) => extensions), '.fits', '.json', '.png', '.wav'].find(
    (extension) => !extension.startsWith('.sigmf') && path.toLowerCase().endsWith(extension),
  );
  if (asked !== undefined)
    refuse(
      path,
      `cannot be written as '${asked}': recordings are written as SigMF`,
      'end the name in .sigmf-meta',
    );
  return sigmfPaths(path);
}

export function checkPngName(option: string, path: string): void {
  if (!/\.png$/i.test(path)) refuse(option, `'${path}' does not end in .png`, 'pictures are written as PNG');
}
