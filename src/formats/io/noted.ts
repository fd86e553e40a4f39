/** Records which files on disk are opened: a recording may consist of several, and only its reader knows them. */
import { AsyncLocalStorage } from 'node:async_hooks';

const noting = new AsyncLocalStorage<Set<string>>();

export const noteOpened = (path: string): void => void noting.getStore()?.add(path);

/** The result of `open`, and the paths it opened, each once, in order. */
export async function notingFiles<Opened>(
  open: () => Promise<Opened>,
): Promise<{ readonly opened: Opened; readonly paths: readonly string[] }> {
  const paths = new Set<string>();
  const opened = await noting.run(paths, open);
  return { opened, paths: [...paths] };
}
