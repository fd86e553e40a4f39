/** Statistics for the guesses: the numbers in the packets and the steps between their times. */
import { greatestCommonDivisor } from '../core/clock/rational.js';
import { unwrapTick } from '../core/clock/tick-clock.js';

/** The number in most packets. */
export function mostCommon<Value>(values: Iterable<Value>): Value | undefined {
  const seen = new Map<Value, number>();
  let best: Value | undefined;
  for (const value of values) {
    const times = (seen.get(value) ?? 0) + 1;
    seen.set(value, times);
    if (best === undefined || times > (seen.get(best) ?? 0)) best = value;
  }
  return best;
}

/**
 * The step between packets of one sender: the largest that most differences are multiples of. Undefined if no sender
 * has two different times.
 */
export function commonStep(
  packets: Iterable<{ readonly source: number; readonly tick: bigint }>,
  wrapBits: number,
): bigint | undefined {
  const last = new Map<number, bigint>();
  const steps: bigint[] = [];
  for (const { source, tick } of packets) {
    const before = last.get(source);
    last.set(source, tick);
    if (before === undefined) continue;
    const step = unwrapTick(tick, before, wrapBits) - before;
    if (step !== 0n) steps.push(step < 0n ? -step : step);
  }
  // Lost packets give multiples of the step. A damaged time gives any difference, and must not shorten the step.
  const common = mostCommon(steps);
  if (common === undefined) return undefined;
  return steps
    .filter((step) => step % common === 0n || common % step === 0n)
    .reduce((all, step) => greatestCommonDivisor(all, step), common);
}
