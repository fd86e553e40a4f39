/** A FITS frequency axis has only a first value and a step: unevenly spaced channels would be misplaced. */
import { refuse } from '../../core/errors.js';

/** In steps: the largest deviation of a channel, which allows for rounded frequencies. */
const MOST_OFF = 0.1;

export function refuseUneven(path: string, frequenciesHz: Float64Array, fix: string): void {
  const last = frequenciesHz.length - 1;
  if (last < 1) return;
  const stepHz = (frequenciesHz[last] - frequenciesHz[0]) / last;
  frequenciesHz.forEach((frequencyHz, c) => {
    if (!(Math.abs(frequencyHz - frequenciesHz[0] - c * stepHz) <= MOST_OFF * Math.abs(stepHz)))
      refuse(path, `channel ${c} is not evenly spaced from the others`, fix);
  });
}
