/** A timer for months: Node's own ends at once where it is set for more than 24.8 days. */
const MOST_MS = 2 ** 31 - 1;

/** Calls `end` after so long; returns what calls that off. */
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
