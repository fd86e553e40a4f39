/** A prepared flagger, on whichever backend: sums of powers and zeros are the backend's, the judgement is everyone's. */
import type { SpectraBlock } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { SpectraGap } from '../core/gaps.js';
import { takenBoxes } from './boxes.js';
import type { Fencing } from './fences.js';
import { Judge, Judgement } from './judge.js';
import { windowEdges, type KurtosisPlan } from './plan.js';
import { presentIn } from './present.js';
import type { Screened } from './screen.js';

export interface Flagger extends Closable {
  readonly plan: KurtosisPlan;
  /** Judges a block, writes zeros where it takes something, and adds that to the block's gaps. */
  run(block: SpectraBlock): Promise<Judgement>;
  /**
   * The two halves of `run`, so that a card, or native threads, need not wait for the event loop: `begin` queues a block's sums,
   * and `finish` judges the block that was begun first. Until then nobody else writes to it. One may be asked for before the one
   * before it is done: zeros are written in the order of blocks.
   */
  begin(block: SpectraBlock): void;
  finish(): Promise<Judgement>;
  /** The sums of the block that was begun first are there: `finish` waits for nothing but itself. */
  summed(): Promise<void>;
  /** Blocks that may be begun before the first of them is finished. */
  readonly mostBegun: number;
}

export interface Powers {
  /** sums : [w][c][a][S1, S2] */
  readonly sums: Float64Array;
  /** Where the backend looked at them already (screen.ts). */
  readonly screened?: Screened | undefined;
}

/** What a backend does; the block is its own. */
export interface PowerEngine extends Closable {
  /**
   * Over the windows [edges[w], edges[w + 1]); exact for integers. With the fences a backend may screen them itself. All of it
   * is the caller's until the next call.
   */
  sums(block: SpectraBlock, edges: Int32Array, fencing: Fencing | undefined): Promise<Powers>;
  /**
   * Where a backend works by itself: queues the same, and gives what waits for it. So many may be under way, and each's sums are
   * the caller's until so many more were begun.
   */
  begin?(block: SpectraBlock, edges: Int32Array, fencing: Fencing | undefined): () => Promise<Powers>;
  readonly mostBegun?: number;
  /** Zeros what was taken, by its mask or by the gaps that it makes, and tells the block of them. */
  take(block: SpectraBlock, judgement: Judgement, gaps: readonly SpectraGap[]): Promise<void>;
}

/** From sums of powers to what is taken: in TypeScript, or in C++, bit for bit the same, and there perhaps on other threads. */
export interface BlockJudge extends Pick<Judge, 'fencing'> {
  judge(...given: Parameters<Judge['judge']>): Judgement | Promise<Judgement>;
}

/** A block that is being summed. */
interface Begun {
  readonly block: SpectraBlock;
  readonly edges: Int32Array;
  /** Once however often it is asked for; undefined where the block is too short. */
  readonly coming: (() => Promise<Powers>) | undefined;
}

export function flaggerOn(
  plan: KurtosisPlan,
  engine: PowerEngine,
  judge: BlockJudge = new Judge(plan),
): Flagger {
  const mostBegun = engine.mostBegun ?? 1;
  const begun: Begun[] = [];
  /** Of which sums are still read. */
  let judging = 0;
  /** The zeros of the last that was finished. */
  let taking: Promise<unknown> = Promise.resolve();

  const begin = (block: SpectraBlock): void => {
    const { shape, samples } = block;
    if (shape.type !== plan.type || shape.channels !== plan.channels || shape.inputs !== plan.inputs) {
      refuse(
        'kurtosis',
        `the block holds ${shape.channels} channels of ${shape.inputs} inputs as ${shape.type}, ` +
          `the plan judges ${plan.channels} of ${plan.inputs} as ${plan.type}`,
        'plan for the spectra at hand',
      );
    }
    if (begun.length + judging >= mostBegun)
      refuse('kurtosis', `${begun.length + judging} blocks were begun and not finished`, 'finish the first');
    const edges = windowEdges(plan, samples);
    if (edges.length < 2) {
      begun.push({ block, edges, coming: undefined });
      return;
    }
    const fencing = judge.fencing(edges);
    const wait = engine.begin?.(block, edges, fencing) ?? (() => engine.sums(block, edges, fencing));
    let coming: Promise<Powers> | undefined;
    begun.push({ block, edges, coming: () => (coming ??= wait()) });
  };

  const judged = async ({ block, edges, coming }: Begun): Promise<Judgement> => {
    if (!coming) return Judgement.nothing(plan, edges);
    judging++;
    try {
      const { sums, screened } = await coming();
      return await judge.judge(edges, sums, presentIn(plan, edges, block.gaps), screened);
    } finally {
      judging--;
    }
  };
  const take = async (first: Begun, before: Promise<unknown>): Promise<Judgement> => {
    const judgement = await judged(first);
    const gaps = takenBoxes(judgement, plan);
    await before;
    if (gaps.length > 0) await engine.take(first.block, judgement, gaps);
    return judgement;
  };
  const finish = async (): Promise<Judgement> => {
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
      await begun.at(0)?.coming?.();
    },
    run: async (block) => {
      if (begun.length > 0) refuse('kurtosis', 'another block was begun', 'finish it first');
      begin(block);
      return finish();
    },
    close: () => engine.close(),
  };
}
