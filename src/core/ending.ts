/**
 * Last things before a signal ends the process. They are done at once, the youngest first, and then the signal does what
 * it would have done, unless someone else answers it. A second signal does not wait for them.
 */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const lastThings = new Set<() => void>();

function onSignal(signal: NodeJS.Signals): void {
  stopListening();
  const things = [...lastThings].reverse();
  lastThings.clear();
  for (const thing of things) {
    try {
      thing();
    } catch {
      // Nobody is left to hear of it, and the others still have their turn.
    }
  }
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

function stopListening(): void {
  for (const name of signals) process.removeListener(name, onSignal);
}

/** Does `thing`, which must not wait for anything, before a signal ends the process; returns how to call that off. */
export function beforeEnding(thing: () => void): () => void {
  if (lastThings.size === 0) for (const name of signals) process.on(name, onSignal);
  lastThings.add(thing);
  return () => {
    if (lastThings.delete(thing) && lastThings.size === 0) stopListening();
  };
}
