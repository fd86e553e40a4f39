import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import type { SpectraShape, VoltageBlock } from '../core/blocks.js';
import { randomStream } from '../core/random.js';
import { planChannelise } from './plan.js';
import { noise } from './samples.testing.js';
import { checkChanneliseBlocks, missingSpectra, openStream } from './stream.js';

const plan = planChannelise({
  channels: 4,
  taps: 3,
  inputs: 4,
  polarisations: 2,
  inputType: 'ci8',
  outputType: 'ci8',
  gapsCover: 'stations',
  blockSamples: 20,
});
const gap = (firstInput: number, endInput: number, firstSample: number, endSample: number) => ({
  firstInput,
  endInput,
  firstSample,
  endSample,
});
const voltages = (samples: number) => noise('ci8', 4, samples, randomStream(51));

describe('stream of blocks', () => {
  it('completes ⌊S/P⌋ − T + 1 spectra, however S arrives', () => {
    const stream = openStream(plan);
    const steps = [11, 1, 3, 0, 20].map((samples) => {
      const step = stream.next(voltages(samples));
      stream.advance(voltages(samples), step);
      return [step.waiting, step.spectra, step.consumed];
    });
    // 11 samples are 2 of 3 spectra's worth; 12 make spectrum 0; 15 no more; 35 make ⌊35/4⌋ − 2 = 6 in all.
    assert.deepEqual(steps, [
      [0, 0, 0],
      [11, 1, 4],
      [8, 0, 0],
      [11, 0, 0],
      [11, 5, 20],
    ]);
    assert.equal(stream.produced, 6);
    stream.reset();
    assert.equal(stream.produced, 0);
    assert.equal(stream.next(voltages(4)).waiting, 0);
  });

  it('marks each spectrum whose window meets a gap', () => {
    const box = { firstChannel: 0, endChannel: 4, firstInput: 0, endInput: 2 };
    // Spectrum k uses samples 4k…4k+11. Sample 12: spectra 1, 2, 3. Sample 11: 0, 1, 2.
    assert.deepEqual(missingSpectra(plan, [gap(0, 1, 12, 13)], 9), [
      { ...box, firstSample: 1, endSample: 4 },
    ]);
    assert.deepEqual(missingSpectra(plan, [gap(1, 2, 11, 12)], 9), [
      { ...box, firstSample: 0, endSample: 3 },
    ]);
    // Both at once are one range, an empty gap is none, and spectra not yet made wait.
    assert.deepEqual(missingSpectra(plan, [gap(0, 1, 12, 13), gap(1, 2, 11, 12), gap(0, 4, 5, 5)], 3), [
      { ...box, firstSample: 0, endSample: 3 },
    ]);
    assert.deepEqual(missingSpectra(plan, [gap(2, 3, 12, 13)], 1), []);
    // For inputs only, unless stations were requested.
    assert.deepEqual(missingSpectra({ ...plan, gapsCover: 'inputs' }, [gap(1, 2, 11, 12)], 9), [
      { ...box, firstInput: 1, firstSample: 0, endSample: 3 },
    ]);
  });

  it('refuses blocks that do not fit the plan, before anything is touched', () => {
    const backend = openReference();
    const check = (block: VoltageBlock, output: Partial<SpectraShape> = {}): void => {
      checkChanneliseBlocks(plan, block, backend.allocateSpectra({ ...plan.output, ...output }));
    };
    const good = voltages(20);
    check(good);
    assert.throws(() => {
      check(noise('ci8', 2, 20, randomStream(51)));
    }, /the block has 2 inputs of ci8, the plan 4 of ci8/);
    assert.throws(() => {
      check(noise('ci16', 4, 20, randomStream(51)));
    }, /4 inputs of ci16, the plan 4 of ci8/);
    assert.throws(() => {
      check(voltages(21));
    }, /samples in the block is 21; give a whole number from 0 to 20/);
    assert.throws(() => {
      check({ ...good, samples: 19 });
    }, /holds 160 elements where its axes make 152/);
    for (const output of [{ channels: 3 }, { inputs: 2 }, { type: 'ci4' }] as const) {
      assert.throws(() => {
        check(good, output);
      }, /the output block holds .*, the plan makes 4 of 4 as ci8; allocate it from plan.output/);
    }
    for (const [wrong, words] of [
      [gap(0, 5, 0, 1), /a gap's endInput is 5/],
      [gap(3, 2, 0, 1), /a gap's firstInput is 3/],
      [gap(0, 1, 0, 21), /a gap's endSample is 21/],
      [gap(0, 1, 5, 4), /a gap's firstSample is 5/],
    ] as const) {
      assert.throws(() => {
        check({ ...good, gaps: [wrong] });
      }, words);
    }
  });

  it('remembers a gap for as long as its samples wait', () => {
    const stream = openStream(plan);
    const first = { ...voltages(14), gaps: [gap(3, 4, 13, 14)] };
    const step = stream.next(first);
    assert.deepEqual(step.gaps, []); // spectrum 0 uses 0…11
    stream.advance(first, step);
    // Spectra 1, 2, 3 use sample 13; now they are numbers 0, 1, 2 of the next block's.
    const next = stream.next(voltages(20));
    assert.equal(next.spectra, 5);
    assert.deepEqual(next.gaps, [
      { firstChannel: 0, endChannel: 4, firstInput: 2, endInput: 4, firstSample: 0, endSample: 3 },
    ]);
    stream.advance(voltages(20), next);
    assert.deepEqual(stream.next(voltages(20)).gaps, []);
  });
});
