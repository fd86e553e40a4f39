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
  /** Zeros what the mask names, [w][c][a], and tells the block of its gaps. */
  take(block: SpectraBlock, edges: Int32Array, mask: Uint8Array, gaps: readonly SpectraGap[]): Promise<void>;
}

export function flaggerOn(plan: KurtosisPlan, engine: PowerEngine): Flagger {
  const judge = new Judge(plan);
  return {
    plan,
    run: async (block) => {
      const { shape, samples } = block;
      if (shape.type !== plan.type || shape.channels !== plan.channels || shape.inputs !== plan.inputs) {
        refuse(
          'kurtosis',
          `the block holds ${shape.channels} channels of ${shape.inputs} inputs as ${shape.type}, ` +
            `the plan judges ${plan.channels} of ${plan.inputs} as ${plan.type}`,
          'plan for the spectra at hand',
        );
      }
      const edges = windowEdges(plan, samples);
      if (edges.length < 2) return Judgement.nothing(plan, edges);
      const { sums, screened } = await engine.sums(block, edges, judge.fencing(edges));
      const judgement = judge.judge(edges, sums, presentIn(plan, edges, block.gaps), screened);
      const gaps = takenBoxes(judgement, plan);
      if (gaps.length > 0) await engine.take(block, edges, judgement.mask, gaps);
      return judgement;
    },
    close: () => engine.close(),
  };
}
