/** Ranges of spectra that the cuts of a clock make. */
import type { SampleRange } from '../core/sources.js';
import type { IntegrationClock } from '../stages/index.js';

/** The stretches of [first, end) that a clock's cuts make. */
export function stretchesOf(clock: IntegrationClock, first: number, end: number): SampleRange[] {
  const stretches: SampleRange[] = [];
  for (let at = first; at < end;) {
    const cut = Math.min(clock.cutAfter(at), end);
    stretches.push({ first: at, end: cut });
    at = cut;
  }
  return stretches;
}
