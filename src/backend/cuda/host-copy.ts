/** Copies between arrays of this process on a thread of the pool: hundreds of megabytes would block the event loop. */
import koffi from 'koffi';

interface Memcpy {
  async(to: Uint8Array, from: Uint8Array, bytes: number, done: (fault: unknown) => void): void;
}
let memcpy: Memcpy | undefined | 'none';

function load(): Memcpy | undefined {
  try {
    return koffi.load('libc.so.6').func('void *memcpy(void *to, const void *from, size_t bytes)');
  } catch {
    // Another C library: copied here instead.
    return undefined;
  }
}

/** Fills `to` from `from` of the same length; neither may be used until the promise resolves. */
export async function copyApart(to: Uint8Array, from: Uint8Array): Promise<void> {
  if (to.length !== from.length) throw new Error(`${from.length} bytes do not fill ${to.length}`);
  memcpy ??= load() ?? 'none';
  const copy = memcpy;
  if (copy === 'none') to.set(from);
  else
    await new Promise<void>((resolve, reject) => {
      copy.async(to, from, to.length, (fault) => {
        if (fault) reject(new Error('memory could not be copied', { cause: fault }));
        else resolve();
      });
    });
}
