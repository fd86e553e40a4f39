import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { openCpu, type CpuBackend } from '../../../backend/cpu/cpu.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { takenBoxes } from '../../boxes.js';
import { Judge } from '../../judge.js';
import type { Judgement } from '../../judging/judgement.js';
import { summedOf } from '../../judging/summed.js';
import type { KurtosisPlan } from '../../plan.js';
import { allocateScreened, GROUP, groupsOf, screen, type Screened } from '../../screen.js';
import { KurtosisTally } from '../../tally.js';
import { randomBlocks, type SummedBlock } from './blocks.testing.js';
import { openHostJudge } from './host-judge.js';
import { openNativeJudge } from './native-judge.js';

const library = loadNative();

/** What is said of a block, all of it; boxes and sums by TypeScript's own hand. */
const saidBy = (plan: KurtosisPlan, judgement: Judgement): unknown => {
  const { taken, offending, codes, everywhere, common, unjudged, edges } = judgement;
  return {
    ...{ taken, offending, codes, everywhere, common, unjudged },
    boxes: takenBoxes({ edges, taken }, plan),
    summed: summedOf(plan, judgement),
  };
};

/** The same as native code says it. */
const toldBy = (plan: KurtosisPlan, judgement: Judgement): unknown => {
  const { taken, offending, codes, everywhere, common, unjudged, summed } = judgement;
  return {
    ...{ taken, offending, codes, everywhere, common, unjudged },
    boxes: takenBoxes(judgement, plan),
    summed,
  };
};

/** Sums and marks that nobody may read become garbage: of groups that neither have a mark nor stand before or after one. */
function poison(
  plan: KurtosisPlan,
  { edges, presence, sums }: SummedBlock,
  { marks, groupMarks }: Screened,
): Float64Array {
  const { channels, inputs } = plan;
  const groups = groupsOf(plan);
  const isRead = groupMarks.map((mark) => +(mark !== 0));
  for (const place of presence?.places ?? []) {
    const row = Math.floor(place / inputs);
    isRead[row * groups + Math.floor((place % inputs) / GROUP)] = 1;
    if (row >= channels) isRead[(row - channels) * groups + Math.floor((place % inputs) / GROUP)] = 1;
  }
  const poisoned = sums.slice();
  const all = (edges.length - 1) * channels * groups;
  for (let at = 0; at < all; at++) {
    const near = [at - channels * groups, at, at + channels * groups];
    if (near.some((one) => one >= 0 && one < all && isRead[one] === 1)) continue;
    const row = Math.floor(at / groups);
    const first = row * inputs + (at % groups) * GROUP;
    const end = Math.min(first + GROUP, (row + 1) * inputs);
    poisoned.fill(NaN, 2 * first, 2 * end);
    marks.fill(255, first, end);
  }
  return poisoned;
}

/** Judges blocks in turn by both, and compares all that they say; which codes there were, and windows everywhere. */
async function compare(seed: number, backend: CpuBackend, given?: Parameters<typeof randomBlocks>[1]) {
  const { plan, blocks } = randomBlocks(seed, given);
  const reference = new Judge(plan);
  const native = openNativeJudge(plan, backend.native, { shares: backend.threads > 1 });
  const tallies = [new KurtosisTally(plan), new KurtosisTally(plan)];
  const seen = new Set<number | string>();
  let spectrum = 0;
  for (const [n, block] of blocks.entries()) {
    const { edges, sums, presence, samples } = block;
    const fencing = native.fencing(edges);
    assert.ok(fencing);
    // As long as the longest block's may be.
    const screened = allocateScreened(plan, edges.length);
    screened.marks.fill(255);
    screened.groupMarks.fill(255);
    screened.totals.fill(NaN);
    screen(plan, fencing, sums, screened);
    const expected = reference.judge(edges, sums, presence);
    const poisoned = poison(plan, block, screened);
    const judgement = native.judge(edges, poisoned, presence, screened);
    const where = `seed ${seed}, block ${n}, ${backend.threads} threads`;
    assert.deepEqual(toldBy(plan, judgement), saidBy(plan, expected), where);
    for (const [k, one] of [expected, judgement].entries()) tallies[k].add(one, spectrum);
    spectrum += samples;
    for (const code of judgement.codes) seen.add(code);
    if (judgement.everywhere.length > 0) seen.add('everywhere');
    if (presence) seen.add('missing');
  }
  assert.deepEqual(tallies[1].account(), tallies[0].account(), `seed ${seed}`);
  await native.close();
  return seen;
}

describe('native judge', { skip: 'what' in library ? library.what : false }, () => {
  const opened: Promise<CpuBackend>[] = [];
  const open = (threads: number): Promise<CpuBackend> => {
    const backend = openCpu({ threads });
    opened.push(backend);
    return backend;
  };
  after(async () => {
    for (const backend of opened) await (await backend).close();
  });

  it('says what TypeScript says, bit for bit, of noise and whatever interferes', async () => {
    const backends = [await open(1), await open(3)];
    const seen = new Set<number | string>();
    for (let seed = 0; seed < 30; seed++)
      for (const one of await compare(seed, backends[seed % 2])) seen.add(one);
    for (const one of [1, 2, 5, 6, 9, 10, 'everywhere', 'missing']) assert.ok(seen.has(one), `no ${one}`);
  });

  it('does not depend on how many threads share the rows', async () => {
    for (const threads of [1, 2, 5])
      await compare(1000, await open(threads), { channels: 64, inputs: 38, windows: 40 });
  });

  it('judges blocks beside a card several at a time, with threads of its own', async () => {
    const { plan, blocks } = randomBlocks(7);
    const native = openHostJudge(plan);
    assert.ok(native);
    const reference = new Judge(plan);
    const all = [...blocks, ...blocks, ...blocks];
    const judgements = all.map(({ edges, sums, presence }) => {
      const fencing = native.fencing(edges);
      assert.ok(fencing);
      const screened = allocateScreened(plan, edges.length - 1);
      screen(plan, fencing, sums, screened);
      return native.judge(edges, sums, presence, screened);
    });
    for (const [n, { edges, sums, presence }] of all.entries())
      assert.deepEqual(
        toldBy(plan, await judgements[n]),
        saidBy(plan, reference.judge(edges, sums, presence)),
        `block ${n}`,
      );
    await native.close();
  });

  it('leaves judgements to whoever has them', async () => {
    const { plan, blocks } = randomBlocks(3, { channels: 24, inputs: 18, windows: 8 });
    const native = openNativeJudge(plan, (await open(1)).native, { shares: false });
    const made = [...blocks, ...blocks].map(({ edges, sums, presence }) => {
      const fencing = native.fencing(edges);
      assert.ok(fencing);
      const screened = allocateScreened(plan, edges.length - 1);
      screen(plan, fencing, sums, screened);
      const judgement = native.judge(edges, sums, presence, screened);
      return { judgement, taken: judgement.taken.slice(), codes: judgement.codes.slice() };
    });
    for (const { judgement, taken, codes } of made) {
      assert.deepEqual(judgement.taken, taken);
      assert.deepEqual(judgement.codes, codes);
    }
    await native.close();
  });

  it('refuses what is missing beyond the windows', async () => {
    const { plan, blocks } = randomBlocks(3, { channels: 8, inputs: 4, windows: 2 });
    const native = openNativeJudge(plan, (await open(1)).native, { shares: false });
    const [{ edges, sums }] = blocks;
    const screened = allocateScreened(plan, edges.length - 1);
    const presence = { places: Int32Array.of(sums.length / 2), lost: Uint32Array.of(3) };
    assert.throws(() => native.judge(edges, sums, presence, screened), /beyond the windows/);
    await native.close();
  });
});
