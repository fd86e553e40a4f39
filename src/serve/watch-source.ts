/** A source that is seen through: its blocks, when they came, and how long the chain had each in hand. */
import type { Source } from '../core/sources.js';
import { sampleRateOf } from '../core/sources.js';
import type { LiveInput } from '../pipeline/live/night.js';
import type { LiveState } from './live-state.js';

interface Seen {
  readonly samples: number;
  readonly start: Parameters<LiveState['block']>[0];
  /** Of blocks of packets. */
  readonly arrivedUnixNs?: bigint;
}

async function* seen<Block extends Seen>(
  blocks: AsyncIterable<Block>,
  state: LiveState,
  rateHz: number,
): AsyncGenerator<Block> {
  for await (const block of blocks) {
    state.block(block.start, block.samples, rateHz, block.arrivedUnixNs);
    const begun = performance.now();
    yield block;
    state.load.worked(performance.now() - begun);
  }
}

/** The same input, watched. */
export const watchInput = (input: LiveInput, state: LiveState): LiveInput => ({
  stop: () => {
    state.isStopping = true;
    input.stop();
  },
  async *sessions() {
    for await (const source of input.sessions()) yield watched(source, state);
  },
});

/** All that the source is, but for its blocks. */
function watched(source: Source, state: LiveState): Source {
  const rateHz = sampleRateOf(source);
  const blocks = (samples: number): AsyncGenerator<Seen> => seen<Seen>(source.blocks(samples), state, rateHz);
  // Where a card takes packets as the ring holds them.
  const { cells: taken } = source as { readonly cells?: () => AsyncIterable<Seen> };
  const cells = taken && { cells: (): AsyncGenerator<Seen> => seen(taken.call(source), state, rateHz) };
  return Object.assign(Object.create(source) as Source, { blocks, ...cells });
}
