/**
 * What happens when a signal asks the process to end. Whoever can stop in good order answers the first signal; a second
 * one, or the first where nobody answers, ends the process. Before that last things are done at once, the youngest
 * first, and then the signal does what it would have done, unless someone else answers it.
 */
import { constants } from 'node:os';
import { CorellaError } from './errors.js';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const lastThings = new Set<() => void>();
const answers: ((signal: NodeJS.Signals) => void)[] = [];
let isListening = false;

function onSignal(signal: NodeJS.Signals): void {
  const answer = answers.pop();
  if (answer) {
    answer(signal);
    // The next one ends the process, whether or not anyone has last things to do.
    return;
  }
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

function listen(): void {
  if (isListening) return;
  isListening = true;
  for (const name of signals) process.on(name, onSignal);
}

function stopListening(): void {
  isListening = false;
  for (const name of signals) process.removeListener(name, onSignal);
}

/** Does `thing`, which must not wait for anything, before a signal ends the process; returns how to call that off. */
export function beforeEnding(thing: () => void): () => void {
  listen();
  lastThings.add(thing);
  return () => {
    lastThings.delete(thing);
    if (lastThings.size === 0 && waiting === 0) stopListening();
  };
}

/** A signal that was answered: the work stopped in good order. */
export class InterruptedError extends CorellaError {
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals, where: string, what = `stopped by ${signal}`) {
    super({ where, what });
    this.name = 'InterruptedError';
    this.signal = signal;
  }

  /** What shells expect of a program that a signal ended. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

/** Work that may be asked to stop. */
interface Stoppable {
  /** Aborted by the first signal; its reason is an `InterruptedError`. */
  readonly signal: AbortSignal;
  /** From now on signals end the process again. */
  release(): void;
}

/** How many have asked to answer signals and not been released. */
let waiting = 0;

export function stoppable(where: string): Stoppable {
  const controller = new AbortController();
  const answer = (signal: NodeJS.Signals): void => {
    controller.abort(new InterruptedError(signal, where));
  };
  waiting++;
  answers.push(answer);
  listen();
  let isHeld = true;
  return {
    signal: controller.signal,
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      waiting--;
      const at = answers.indexOf(answer);
      if (at >= 0) answers.splice(at, 1);
      if (lastThings.size === 0 && waiting === 0) stopListening();
    },
  };
}
