/** A source watched by a page: records its blocks, their arrival, and the chain's processing time of each. */
import { sampleRateOf } from '../core/sources.js';
import { type LiveInput, seenSource } from '../live/index.js';
import type { LiveState } from './live-state.js';

/** The same input, watched. */
export const watchInput = (input: LiveInput, state: LiveState): LiveInput => ({
  stop: () => {
    state.isStopping = true;
    input.stop();
  },
  async *sessions() {
    for await (const source of input.sessions()) {
      const rateHz = sampleRateOf(source);
      yield seenSource(source, ({ start, samples, arrivedUnixNs }) => {
        state.block(start, samples, rateHz, arrivedUnixNs);
        const begun = performance.now();
        return () => {
          state.load.worked(performance.now() - begun);
        };
      });
    }
  },
});
