import { refuse } from '../../core/errors.js';
import { formats } from '../registry.js';
import { sigmfPaths } from './sigmf/meta.js';

/** The two files of a recording to write; a name with another format's extension is refused, not extended. */
export function recordingPaths(path: string): ReturnType<typeof sigmfPaths> {
  const asked = [...formats.flatMap(({ extensions }) => extensions), '.fits', '.json', '.png'].find(
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
