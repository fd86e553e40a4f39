/** A timer for months: Node's own timers fire at once if set to more than 24.8 days. */
const MOST_MS = 2 ** 31 - 1;

/** Calls `end` after this time; returns the function that cancels it. */
export function afterSeconds(seconds: number, end: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number): void => {
    timer = setTimeout(
      () => {
        if (leftMs > MOST_MS) wait(leftMs - MOST_MS);
        else end();
      },
      Math.min(leftMs, MOST_MS),
    );
  };
  wait(1000 * seconds);
  return () => {
    clearTimeout(timer);
  };
}
