/** How many inputs are a crowd, and of how many the means are that limits are kept for. */
import { tail } from '../../core/rounded-noise.js';
import { LimitBook } from '../plan.js';

/** How many of so many inputs pass a limit by chance more rarely than a Gaussian passes one sigma more. */
export function crowdOf(sigmas: number, inputs: number): number {
  const [part, rare] = [tail(sigmas), tail(sigmas + 1)];
  // From none on: how likely exactly so many are, and any more.
  let exactly = (1 - part) ** inputs;
  let more = 1 - exactly;
  let crowd = 1;
  for (; crowd < inputs && more > rare; crowd++) {
    exactly *= ((inputs - crowd + 1) / crowd) * (part / (1 - part));
    more -= exactly;
  }
  return Math.max(2, crowd);
}

/** Many runs of many lengths are asked, and what is found takes all of one: so by so many sigmas more. */
const MORE_SIGMAS = 1.5;
export const bookOfMeans = (sigmas: number): LimitBook => new LimitBook(sigmas + MORE_SIGMAS);

/** So many are the fewest of a step: limits are kept for few numbers. */
export const inputsOfStep = (step: number): number => 2 ** (step / 4);
