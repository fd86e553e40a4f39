/** Where images lie in time, for whoever makes a part of a series. */
import { addSamples, addSeconds, type Instant } from '../core/instant.js';
import type { SampleRange } from '../core/sources.js';
import { spectraOfFront, type Front } from './front.js';
import { spectrumStart, type IntegrationClock } from '../stages/index.js';

/** The middles of images that begin with these spectra, as the imager has them. */
export function imageMiddles(
  stretches: readonly SampleRange[],
  clock: IntegrationClock,
  front: Front,
): Instant[] {
  const { grid } = spectraOfFront(front);
  const { spectrumRateHz: rateHz } = grid;
  return stretches.map(({ first }) => {
    const start =
      front.source.kind === 'voltages' ? spectrumStart(grid, first) : addSamples(grid.start, first, rateHz);
    return addSeconds(start, (clock.cutAfter(first) - first) / rateHz / 2);
  });
}
