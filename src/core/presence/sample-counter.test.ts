import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB } from '../axes.js';
import type { SpectraGap } from '../gaps.js';
import { SampleCounter } from './sample-counter.js';

const shape = { channels: 2, stations: 2, polarisations: 1 } as const;
/** Station 1 misses samples 2…4 of channel 1. */
const gap: SpectraGap = {
  firstChannel: 1,
  endChannel: 2,
  firstInput: 1,
  endInput: 2,
  firstSample: 2,
  endSample: 5,
};
const garbage = () => countsCB(new Float64Array(6).fill(-777.5), 2, 3);

describe('sample counter', () => {
  it('adds blocks with and without gaps', () => {
    const counter = new SampleCounter(shape);
    counter.add(10, []);
    assert.deepEqual([counter.samples, counter.gaplessSamples, counter.gappyRows], [10, 10, undefined]);
    assert.ok(counter.isGapless);
    counter.add(8, [gap]);
    assert.ok(!counter.isGapless);
    counter.add(1, []);
    assert.deepEqual([counter.samples, counter.gaplessSamples], [19, 11]);
    // Pairs 00, 10, 11 of channel 0, then of channel 1, where those with station 1 miss three of eight.
    assert.deepEqual([...(counter.gappyRows?.rows ?? [])], [8, 8, 8, 8, 5, 5]);
    assert.deepEqual([...(counter.gappyRows?.runOf ?? [])], [0, 1]);
    const into = garbage();
    assert.equal(counter.finish(into), into);
    assert.deepEqual([...into], [19, 19, 19, 19, 16, 16]);
  });

  it('starts afresh, and hands out arrays that are the caller’s', () => {
    const counter = new SampleCounter(shape);
    counter.add(8, [gap]);
    counter.finish().fill(-9876.5);
    assert.deepEqual([counter.samples, counter.gaplessSamples, counter.gappyRows], [0, 0, undefined]);
    counter.add(8, [gap]);
    assert.deepEqual([...counter.finish()], [8, 8, 8, 8, 5, 5]);
    counter.add(8, [gap]);
    counter.restart();
    assert.deepEqual([...counter.finish(garbage())], [0, 0, 0, 0, 0, 0]);
    counter.add(3, []);
    assert.deepEqual([...counter.finish(garbage())], [3, 3, 3, 3, 3, 3]);
  });

  it('reports shortly what channels have in common', () => {
    const wide = { channels: 5, stations: 2, polarisations: 1 } as const;
    const counter = new SampleCounter(wide, Uint8Array.of(0, 0));
    counter.add(8, [{ ...gap, firstChannel: 1, endChannel: 3 }]);
    counter.add(4, []);
    const { rows, runOf } = counter.finishRows();
    assert.deepEqual([...runOf], [0, 1, 1, 2, 2]);
    assert.deepEqual([...rows], [12, 12, 12, 12, 9, 9, 12, 12, 12]);
    assert.equal(counter.samples, 0);
    counter.add(3, []);
    assert.deepEqual([...counter.finishRows().rows], [3, 3, 3]);
  });

  it('counts nothing for pairs of a flagged station, with gaps and without', () => {
    const counter = new SampleCounter(shape, Uint8Array.of(1, 0));
    counter.add(10, []);
    assert.deepEqual([...counter.finish(garbage())], [0, 0, 10, 0, 0, 10]);
    counter.add(10, []);
    counter.add(8, [gap]);
    assert.deepEqual([...counter.finish(garbage())], [0, 0, 18, 0, 0, 15]);
  });
});
