/** A file that is written to for hours: whether it is still under its name, or somebody took it away. */
import { open, readlink, stat, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';

type Whereabouts = 'there' | 'gone' | { readonly movedTo: string };

export interface GrowingFile {
  /** Costs a look at the name. */
  whereabouts(): Promise<Whereabouts>;
  close(): Promise<void>;
}

/** Of a file that has its name. */
export async function growingFile(path: string): Promise<GrowingFile> {
  const handle = await open(path).catch(() => undefined);
  const isIt = await sameAs(handle);
  return {
    whereabouts: async () => {
      if (await isIt(path)) return 'there';
      const movedTo = handle && (await nameOf(handle));
      return movedTo !== undefined && (await isIt(movedTo)) ? { movedTo } : 'gone';
    },
    close: async () => {
      await handle?.close();
    },
  };
}

async function sameAs(handle: FileHandle | undefined): Promise<(path: string) => Promise<boolean>> {
  const own = await handle?.stat({ bigint: true });
  return async (path) => {
    const found = await stat(path, { bigint: true }).catch(() => undefined);
    return own !== undefined && found?.ino === own.ino && found.dev === own.dev;
  };
}

/** Linux alone tells; elsewhere a file that was moved counts as gone. */
async function nameOf({ fd }: FileHandle): Promise<string | undefined> {
  const name = await readlink(`/proc/self/fd/${fd}`).catch(() => undefined);
  // What NFS calls a file that was removed while it is open: it is gone when it is closed.
  return name === undefined || basename(name).startsWith('.nfs') ? undefined : name;
}
