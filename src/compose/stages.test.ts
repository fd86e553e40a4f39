/** Streams that lose blocks, end early or fail, through the stages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { voltagesAT } from '../core/axes.js';
import type { Integration, VoltageBlock } from '../core/blocks.js';
import { addSamples, instant, secondsBetween } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import type { VoltageSource } from '../core/sources.js';
import {
  planChannels,
  results,
  run,
  through,
  sliceBlock,
  chain,
  both,
  passing,
  type Stage,
} from '../stages/index.js';
import { prepareVoltageCorrelation } from './index.js';

const RATE_HZ = 1000;
const START = instant(1_700_000_000, 0.25);
const CHANNELS = 4;
const TAPS = 3;

function whole(samples: number): VoltageBlock {
  const random = randomStream(9, 'stages test');
  const values = Int8Array.from({ length: 2 * 2 * samples }, () => random.below(101) - 50);
  return {
    type: 'ci8',
    inputs: 2,
    samples,
    voltages: voltagesAT(values, 'ci8', 2, samples),
    gaps: [],
    start: START,
  };
}

/** The same samples with a time range marked as missing and zeroed. */
function gappy(block: VoltageBlock, first: number, end: number): VoltageBlock {
  const voltages = voltagesAT(block.voltages.slice(), 'ci8', 2, block.samples);
  for (let a = 0; a < 2; a++)
    voltages.fill(0, 2 * (a * block.samples + first), 2 * (a * block.samples + end));
  return {
    ...block,
    voltages,
    gaps: [{ firstInput: 0, endInput: 2, firstSample: first, endSample: end }],
  };
}

/** A source without an end, in blocks of 40 samples, without those that `lost` names; records what was given back. */
function endless(all: VoltageBlock, lost: (block: number) => boolean = () => false) {
  const state = { released: 0, closed: false };
  const source: VoltageSource = {
    kind: 'voltages',
    type: 'ci8',
    inputs: 2,
    polarisations: 1,
    start: START,
    sampleRateHz: RATE_HZ,
    centreFrequencyHz: 1e6,
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream from memory
    blocks: async function* () {
      for (let n = 0; 40 * n < all.samples; n++) {
        if (lost(n)) continue;
        const block = sliceBlock(all, { first: 40 * n, end: Math.min(all.samples, 40 * n + 40) }, RATE_HZ);
        yield {
          ...block,
          release: () => {
            state.released++;
          },
        };
      }
    },
    close: () => Promise.resolve(),
  };
  return { source, state };
}

async function integrationsOf(source: VoltageSource, integrationS?: number) {
  const plan = planChannels(source, { channels: CHANNELS, taps: TAPS, outputType: 'ci8' });
  const stages = await prepareVoltageCorrelation(source, plan, {
    backend: openReference(),
    integrationS,
  });
  const all: Integration[] = [];
  const account = await run(source.blocks(40), stages, (one) => {
    all.push(one);
    return Promise.resolve();
  });
  return { all, account };
}

describe('a stream that loses blocks', () => {
  it('counts them as missing, and shifts nothing that comes after', async () => {
    const samples = 400;
    const lossy = await integrationsOf(endless(whole(samples), (n) => n === 4).source, 0.04);
    const marked = await integrationsOf(endless(gappy(whole(samples), 160, 200)).source, 0.04);
    assert.deepEqual(lossy, marked);
    assert.equal(lossy.account.missingSamples, 80);
    assert.equal(lossy.account.samplesIn, samples);
  });

  it('does not work through a long silence: integrations go on at their own times', async () => {
    // A filter of 12 samples in blocks of 32 MiB would process the silence; the plan's block size decides.
    const samples = 4000;
    const { source } = endless(whole(samples), (n) => n >= 3 && n < 95);
    const plan = {
      ...planChannels(source, { channels: CHANNELS, taps: TAPS, outputType: 'ci8' }),
      blockSamples: 40,
    };
    const stages = await prepareVoltageCorrelation(source, plan, {
      backend: openReference(),
      integrationS: 0.04,
    });
    const all: Integration[] = [];
    const account = await run(source.blocks(40), stages, (one) => {
      all.push(one);
      return Promise.resolve();
    });
    // 120 samples before the silence are 28 spectra, those of the window that reaches into it made as missing; 10 make
    // an integration. The silence ends at sample 3800: spectrum 950 begins there.
    assert.ok(all.length < 12, `${all.length} integrations of mostly nothing`);
    const after = all.filter(({ start }) => secondsBetween(START, start) > 1);
    // Despite losses, integrations begin ten spectra of 4 ms apart, from the first spectrum's start on.
    const first = addSamples(START, 3.5, RATE_HZ);
    const beginsAt = secondsBetween(first, after[0].start);
    assert.ok(Math.abs(beginsAt - 3.8) < 1e-9, `${beginsAt}`);
    const direct = await integrationsOf(endless(gappy(whole(samples), 120, 3800)).source, 0.04);
    const same = direct.all.filter(({ start }) => secondsBetween(START, start) > 3.7999);
    assert.deepEqual(
      after.map(({ visibilities, counts, start, durationS }) => ({ visibilities, counts, start, durationS })),
      same
        .slice(-after.length)
        .map(({ visibilities, counts, start, durationS }) => ({ visibilities, counts, start, durationS })),
    );
    assert.equal(account.samplesIn, samples);
    assert.equal(account.missingSamples, 2 * 3680);
  });

  it('refuses blocks that overlap', async () => {
    const block = whole(40);
    const { source } = endless(block);
    const plan = planChannels(source, { channels: CHANNELS, taps: TAPS, outputType: 'ci8' });
    const stages = await prepareVoltageCorrelation(source, plan, { backend: openReference() });
    const overlapping = [block, { ...block, start: addSamples(START, 39, RATE_HZ) }];
    await assert.rejects(
      run(overlapping, stages, () => Promise.resolve()),
      /1 samples before the end of the last one/,
    );
  });
});

/** Doubles numbers, and logs its calls. */
function doubling(log: string[], name = 'doubling'): Stage<Item, Item> {
  return {
    push: (item, emit) => emit({ ...item, value: 2 * item.value }),
    flush: async (emit) => {
      log.push(`${name} flushed`);
      await emit({ value: 1, samples: 0 });
    },
    account: () => ({ spectra: 3 }),
    close: () => {
      log.push(`${name} closed`);
      return Promise.resolve();
    },
  };
}
interface Item {
  readonly value: number;
  readonly samples: number;
}
const items = (...values: number[]): Item[] => values.map((value) => ({ value, samples: 5 }));

describe('running stages', () => {
  it('hands on through a chain, flushes from the front and closes from the back', async () => {
    const log: string[] = [];
    const seen: number[] = [];
    const account = await run(
      items(1, 10),
      chain(doubling(log, 'first'), doubling(log, 'second')),
      ({ value }) => {
        seen.push(value);
        return Promise.resolve();
      },
    );
    assert.deepEqual(seen, [4, 40, 2, 1]);
    assert.deepEqual(log, ['first flushed', 'second flushed', 'second closed', 'first closed']);
    assert.equal(account.spectra, 6);
  });

  it('gives every block back, also the one that broke, and closes everything', async () => {
    const { source, state } = endless(whole(200));
    const log: string[] = [];
    const breaking: Stage<VoltageBlock, number> = {
      push: () => (state.released === 2 ? Promise.reject(new Error('broken')) : Promise.resolve()),
      flush: () => Promise.resolve(),
      account: () => ({}),
      close: () => {
        log.push('closed');
        return Promise.resolve();
      },
    };
    await assert.rejects(
      run(source.blocks(40), breaking, () => Promise.resolve()),
      /broken/,
    );
    assert.equal(state.released, 3);
    assert.deepEqual(log, ['closed']);
  });

  it('reports a fraction only where the end is known', async () => {
    const reports: unknown[] = [];
    const onProgress = (progress: unknown): void => void reports.push(progress);
    const nothing = () => Promise.resolve();
    await run(items(1, 2), doubling([]), nothing, { onProgress });
    await run(items(1), doubling([]), nothing, { onProgress, samples: 20 });
    assert.deepEqual(reports, [
      { done: 5, unit: 'samples' },
      { done: 10, unit: 'samples' },
      { done: 5, unit: 'samples', of: 20 },
    ]);
  });

  it('lets whoever would rather ask take results one by one, stop early, and hear of failures', async () => {
    const log: string[] = [];
    const taken: number[] = [];
    for await (const { value } of results<Item>((emit) => run(items(1, 2, 3), doubling(log), emit))) {
      taken.push(value);
      if (value === 4) break;
    }
    assert.deepEqual(taken, [2, 4]);
    assert.deepEqual(log, ['doubling closed']);
    const failing = results<Item>(() => Promise.reject(new Error('broken')));
    await assert.rejects(failing.next(), /broken/);
    const all: number[] = [];
    let spectra = 0;
    const stream = results<Item>(
      (emit) => run(items(5), doubling([]), emit),
      (account) => (spectra = account.spectra),
    );
    for await (const { value } of stream) all.push(value);
    assert.deepEqual([all, spectra], [[10, 1], 3]);
  });

  it('shows items on the way, and gives each to two stages', async () => {
    const looked: number[] = [];
    const look = passing<Item>(({ value }) => {
      looked.push(value);
      return Promise.resolve();
    });
    const seen: number[] = [];
    await run(items(1, 2), chain(look, both(doubling([]), doubling([]))), ({ value }) => {
      seen.push(value);
      return Promise.resolve();
    });
    assert.deepEqual(looked, [1, 2]);
    assert.deepEqual(seen, [2, 2, 4, 4, 1, 1]);
    await assert.rejects(through(doubling([]), items(1)[0]), /one result was expected of a stage, 2 came/);
  });
});
