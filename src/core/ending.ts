/**
 * What happens when a signal asks the process to end. Code that can stop in good order answers the first signal. A
 * second signal, or the first if no code answers it, ends the process. Before that, the registered last actions run
 * synchronously, the youngest first; then the signal has its default effect, unless another listener answers it.
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
    // The next signal ends the process, whether or not last actions remain.
    return;
  }
  stopListening();
  const things = [...lastThings].reverse();
  lastThings.clear();
  for (const thing of things) {
    try {
      thing();
    } catch {
      // Nothing can report this error now, and the other actions must still run.
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

/** Runs `thing`, which must be synchronous, before a signal ends the process; returns a function that cancels this. */
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

  /** The exit code that shells expect of a program ended by a signal. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

/** Work that a signal can stop. */
interface Stoppable {
  /** Aborted by the first signal; its reason is an `InterruptedError`. */
  readonly signal: AbortSignal;
  /** From now on signals end the process again. */
  release(): void;
}

/** Number of stoppables not yet released. */
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
