/** A prepared flagger, on any backend: the backend sums powers and writes zeros, the rules are common. */
import { checkBlock, type SpectraBlock } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { SpectraGap } from '../core/gaps.js';
import { Decision, lostIn } from './decision.js';
import { windowEdges, type KurtosisPlan } from './plan.js';
import { LimitTables, type Tables } from './tables.js';

export interface Flagger extends Closable {
  readonly plan: KurtosisPlan;
  /** Tests a block, zeroes flagged samples, and adds them to the block's gaps. */
  run(block: SpectraBlock): Promise<Decision>;
  /**
   * The two halves of `run`, so that a card, or native threads, need not wait for the event loop: `begin` queues a
   * block's sums, and `finish` tests the oldest begun block. Until then the block must not be written. `finish` may be
   * called before the previous one is done: zeros are written in the order of blocks.
   */
  begin(block: SpectraBlock): void;
  finish(): Promise<Decision>;
  /** Resolves when the sums of the oldest begun block exist: `finish` then does not wait. */
  summed(): Promise<void>;
  /** Blocks that may be begun before the first of them is finished. */
  readonly mostBegun: number;
}

/** The backend's part; it may write the block. */
export interface PowerEngine extends Closable {
  /**
   * Queues the sums over windows [edges[w], edges[w + 1]), exact for integers, and returns a function that waits for
   * them : [w][c][a][S1, S2]. So many may be in progress, and each sum is valid until so many more were begun.
   */
  begin(block: SpectraBlock, edges: Int32Array): () => Promise<Float64Array>;
  readonly mostBegun: number;
  /** Zeroes flagged samples, and adds them to the block's gaps. */
  take(block: SpectraBlock, gaps: readonly SpectraGap[]): Promise<void>;
}

/** From sums of powers to codes (decide.ts): in TypeScript, or in C++, and there on other threads. */
export type Decide = (
  tables: Tables,
  sums: Float64Array,
  lost: Uint32Array | undefined,
  to: { readonly codes: Uint8Array; readonly bursts: Uint8Array },
) => void | Promise<void>;

/** A block that is being summed. */
interface Begun {
  readonly block: SpectraBlock;
  readonly edges: Int32Array;
  /** Created once, however often it is called. */
  readonly coming: () => Promise<Float64Array>;
}

/** For a block too short for a window. */
const NOTHING = new Float64Array(0);

export function flaggerOn(plan: KurtosisPlan, engine: PowerEngine, decide: Decide): Flagger {
  const { mostBegun } = engine;
  const limits = new LimitTables(plan);
  const begun: Begun[] = [];
  /** The number of blocks whose sums are being read. */
  let deciding = 0;
  /** The zeros of the last finished block. */
  let taking: Promise<unknown> = Promise.resolve();

  const begin = (block: SpectraBlock): void => {
    checkBlock('kurtosis', plan, block);
    if (begun.length + deciding >= mostBegun)
      refuse('kurtosis', `${begun.length + deciding} blocks were begun and not finished`, 'finish the first');
    const edges = windowEdges(plan, block.samples);
    const wait = edges.length < 2 ? () => Promise.resolve(NOTHING) : engine.begin(block, edges);
    let coming: Promise<Float64Array> | undefined;
    begun.push({ block, edges, coming: () => (coming ??= wait()) });
  };

  const decisionOf = async ({ block, edges, coming }: Begun): Promise<Decision> => {
    deciding++;
    try {
      const sums = await coming();
      const lost = lostIn(plan, edges, block.gaps);
      const windows = edges.length - 1;
      const codes = new Uint8Array(windows * plan.channels * plan.inputs);
      const bursts = new Uint8Array(windows);
      if (windows > 0) await decide(limits.of(edges, lost), sums, lost, { codes, bursts });
      return new Decision(plan, edges, codes, bursts, lost);
    } finally {
      deciding--;
    }
  };
  const take = async (first: Begun, before: Promise<unknown>): Promise<Decision> => {
    const decision = await decisionOf(first);
    await before;
    if (decision.boxes.length > 0) await engine.take(first.block, decision.boxes);
    return decision;
  };
  const finish = async (): Promise<Decision> => {
    const first = begun.shift();
    if (!first) return refuse('kurtosis', 'no block was begun', 'begin one first');
    const taken = take(first, taking);
    taking = taken.catch(() => undefined);
    return taken;
  };

  return {
    plan,
    mostBegun,
    begin,
    finish,
    summed: async () => {
      await begun.at(0)?.coming();
    },
    run: async (block) => {
      if (begun.length > 0) refuse('kurtosis', 'another block was begun', 'finish it first');
      begin(block);
      return finish();
    },
    close: () => engine.close(),
  };
}
