/** Which files on disks something opens: a recording may lie in several, and only its reader knows them all. */
import { AsyncLocalStorage } from 'node:async_hooks';

const noting = new AsyncLocalStorage<Set<string>>();

export const noteOpened = (path: string): void => void noting.getStore()?.add(path);

/** What `open` gives, and the paths it opened on the way, each once and in its order. */
export async function notingFiles<Opened>(
  open: () => Promise<Opened>,
): Promise<{ readonly opened: Opened; readonly paths: readonly string[] }> {
  const paths = new Set<string>();
  const opened = await noting.run(paths, open);
  return { opened, paths: [...paths] };
}
