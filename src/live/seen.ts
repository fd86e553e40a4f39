/** A source with a callback for each block before the chain receives it and when the chain is done with it. */
import { secondsBetween, type Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';

interface SeenBlock {
  readonly samples: number;
  readonly start: Instant;
  /** Arrival of its first packet, for blocks of packets. */
  readonly arrivedUnixNs?: bigint;
}

/** Called with each block before the chain receives it; the result is called when the chain is done with it. */
type Seer = (block: SeenBlock) => (() => void) | undefined;

async function* through<Block extends SeenBlock>(
  blocks: AsyncIterable<Block>,
  see: Seer,
): AsyncGenerator<Block> {
  for await (const block of blocks) {
    const done = see(block);
    yield block;
    done?.();
  }
}

/** A copy of the source with observed blocks; copies of it are observed too. */
export function seenSource(source: Source, see: Seer): Source {
  const blocks = (samples: number): AsyncGenerator<SeenBlock> =>
    through<SeenBlock>(source.blocks(samples), see);
  // If a card receives packets in the ring's layout.
  const { cells: taken } = source as { readonly cells?: () => AsyncIterable<SeenBlock> };
  const cells = taken && ((): AsyncGenerator<SeenBlock> => through(taken.call(source), see));
  return new Proxy(source, {
    get: (target, name): unknown =>
      name === 'blocks' ? blocks : name === 'cells' ? cells : Reflect.get(target, name),
  });
}

/** Arrival times of packets relative to their timestamps. */
export class SendersClock {
  /** Of the latest block. */
  latestS: number | undefined;
  /** The smallest delay of all blocks. */
  leastS: number | undefined;

  readonly see = ({ start, arrivedUnixNs = 0n }: SeenBlock): undefined => {
    if (arrivedUnixNs === 0n) return undefined;
    const unixSeconds = Number(arrivedUnixNs / 1_000_000_000n);
    const came = { unixSeconds, fraction: Number(arrivedUnixNs % 1_000_000_000n) / 1e9 };
    this.latestS = secondsBetween(start, came);
    this.leastS = Math.min(this.leastS ?? Infinity, this.latestS);
    return undefined;
  };
}
