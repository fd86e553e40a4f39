/** A source that is seen through: its blocks on their way to the chain, and when it is done with each. */
import { secondsBetween, type Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';

interface SeenBlock {
  readonly samples: number;
  readonly start: Instant;
  /** When its first packet came, of blocks of packets. */
  readonly arrivedUnixNs?: bigint;
}

/** Called with each block before the chain has it; what it returns, when the chain is done with it. */
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

/** All that the source is, but for its blocks; copies of it are seen through too. */
export function seenSource(source: Source, see: Seer): Source {
  const blocks = (samples: number): AsyncGenerator<SeenBlock> =>
    through<SeenBlock>(source.blocks(samples), see);
  // Where a card takes packets as the ring holds them.
  const { cells: taken } = source as { readonly cells?: () => AsyncIterable<SeenBlock> };
  const cells = taken && ((): AsyncGenerator<SeenBlock> => through(taken.call(source), see));
  return new Proxy(source, {
    get: (target, name): unknown =>
      name === 'blocks' ? blocks : name === 'cells' ? cells : Reflect.get(target, name),
  });
}

/** When packets came, beside their own time. */
export class SendersClock {
  /** Of the latest block. */
  latestS: number | undefined;
  /** Of all blocks: the least delay on the way. */
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
