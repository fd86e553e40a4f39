/** How long this thread has waited for its disks, so that a slow one can be named. */
let waitedMs = 0;
let waiting = 0;
let sinceMs = 0;

/** Counts the time of a piece of work on a disk; what runs at once counts once. */
export async function onDisk<Result>(work: () => Promise<Result>): Promise<Result> {
  if (waiting++ === 0) sinceMs = performance.now();
  try {
    return await work();
  } finally {
    if (--waiting === 0) waitedMs += performance.now() - sinceMs;
  }
}

/** So far, the current wait included. */
export const diskWaitMs = (): number => waitedMs + (waiting > 0 ? performance.now() - sinceMs : 0);
