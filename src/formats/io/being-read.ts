/** Files open for reading, by device and inode: an output never replaces one of them. */
import { stat } from 'node:fs/promises';

const open = new Map<string, number>();

interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

const keyOf = ({ dev, ino }: Identity): string => `${dev} ${ino}`;

/** From now on; returns a function that ends it. */
export function nowReading(file: Identity): () => void {
  const key = keyOf(file);
  open.set(key, (open.get(key) ?? 0) + 1);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    const left = (open.get(key) ?? 1) - 1;
    if (left === 0) open.delete(key);
    else open.set(key, left);
  };
}

export const isBeingRead = (path: string): Promise<boolean> =>
  stat(path, { bigint: true }).then(
    (found) => open.has(keyOf(found)),
    () => false,
  );
