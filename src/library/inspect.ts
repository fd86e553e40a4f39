/** What a file holds, as `corella inspect` reports it. */
import type { OnProgress } from '../core/progress.js';
import { openInspected } from '../inspect/index.js';
import { textOf } from '../messages/index.js';
import { checkObservation, type ObservationInput } from '../observation/index.js';

/** `json` is the result of `corella inspect --json`, `lines` that of `corella inspect`. */
export async function inspect(
  path: string,
  {
    source,
    telescope,
    whole,
    onProgress,
  }: {
    /** Facts that the file lacks, like `{ rate: '32MHz' }`. */
    readonly source?: Omit<ObservationInput['source'], 'recording'>;
    readonly telescope?: string;
    /** Read all of a large file, not its first block only. */
    readonly whole?: boolean;
    readonly onProgress?: OnProgress;
  } = {},
): Promise<{ readonly json: object; readonly lines: readonly string[] }> {
  const facts = checkObservation({
    corella: 1,
    source: { ...source, recording: path },
    telescope,
    products: [{ visibilities: null }],
  });
  const opened = await openInspected(path, facts);
  try {
    const { json, lines } = await opened.report({ whole, onProgress });
    return { json, lines: lines.map(textOf) };
  } finally {
    await opened.close();
  }
}
