import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spectraCAT } from '../../core/axes.js';
import type { SpectraGap } from '../../core/gaps.js';
import { packNibbles } from '../../core/nibbles.js';
import { randomStream } from '../../core/random.js';
import { LOOKED_AT, SpectraWatch, RANGE } from './watch-spectra.js';

const [CHANNELS, INPUTS] = [2, 3];

/** Gaussian levels of this rms for each input, channel and spectrum, within a rail; the same whichever block they are in. */
const levelsOf = (rmsAt: (c: number, a: number, t: number) => number, total: number, rail: number) => {
  const random = randomStream(7, 'levels');
  const rows = Array.from({ length: CHANNELS * INPUTS }, (_, row) =>
    Int8Array.from({ length: 2 * total }, (_, n) => {
      const rms = rmsAt(Math.floor(row / INPUTS), row % INPUTS, Math.floor(n / 2));
      return Math.max(-rail, Math.min(rail, Math.round(rms * random.gaussian())));
    }),
  );
  return (row: number, part: number, t: number): number => rows[row][2 * t + part];
};

/** Watches all of it, in blocks of so many spectra. */
function watched(
  type: 'ci8' | 'ci4',
  total: number,
  perBlock: number,
  at: ReturnType<typeof levelsOf>,
  gaps: readonly SpectraGap[] = [],
) {
  const watch = new SpectraWatch({ type, channels: CHANNELS, inputs: INPUTS });
  for (let first = 0; first < total; first += perBlock) {
    const samples = Math.min(perBlock, total - first);
    const numbers = Array.from({ length: CHANNELS * INPUTS * samples }, (_, n) => {
      const [row, t] = [Math.floor(n / samples), first + (n % samples)];
      return [at(row, 0, t), at(row, 1, t)];
    });
    const data =
      type === 'ci8'
        ? Int8Array.from(numbers.flat())
        : Uint8Array.from(numbers, ([re, im]) => packNibbles(re, im));
    const here = gaps
      .map((gap) => ({
        ...gap,
        firstSample: Math.max(0, gap.firstSample - first),
        endSample: Math.min(samples, gap.endSample - first),
      }))
      .filter(({ firstSample, endSample }) => firstSample < endSample);
    watch.add({ samples, gaps: here }, spectraCAT(data, type, CHANNELS, INPUTS, samples), first);
  }
  return watch.found();
}

describe('what rounding met in spectra', () => {
  const total = 2 * RANGE + 300;

  it('is the same however they come, of both kinds of whole numbers', () => {
    // Input 1 falls in the last time range; input 2 is silent.
    const rmsAt = (c: number, a: number, t: number): number =>
      a === 2 ? 0 : a === 1 && t >= 2 * RANGE ? 0.4 : 2 + c / 2;
    for (const type of ['ci8', 'ci4'] as const) {
      const at = levelsOf(rmsAt, total, type === 'ci8' ? 127 : 7);
      const found = watched(type, total, total, at);
      assert.ok(found);
      assert.deepEqual([found.withSignal, found.weak, found.zeroInputs, found.zeroForATime], [4, 2, 1, 0]);
      assert.ok(Math.abs(found.weakestRms / 0.4 - 1) < 0.15, String(found.weakestRms));
      assert.ok(found.mostRms > 2 && found.mostRms < 2.6, String(found.mostRms));
      for (const perBlock of [1, 100, 257, 5000]) assert.deepEqual(watched(type, total, perBlock, at), found);
    }
  });

  it('leaves out what is missing, and what too little came of', () => {
    const gap: SpectraGap = {
      firstChannel: 0,
      endChannel: CHANNELS,
      firstInput: 1,
      endInput: 2,
      firstSample: 0,
      endSample: (3 * LOOKED_AT) / 4,
    };
    const rmsAt = (_: number, a: number, t: number): number => (a === 1 && t < gap.endSample ? 0 : 1.5);
    const at = levelsOf(rmsAt, total, 127);
    // A quarter of it is no weak signal where the rest is known to be missing.
    assert.equal(watched('ci8', total, 4000, at, [gap])?.weak, 0);
    assert.equal(watched('ci8', total, 4000, at)?.weak, CHANNELS);
    const all = { ...gap, endSample: RANGE };
    const gone = levelsOf((_, a, t) => (a === 1 && t < RANGE ? 0 : 1.5), total, 127);
    assert.deepEqual(
      [
        watched('ci8', total, 4000, gone, [all])?.zeroForATime,
        watched('ci8', total, 4000, gone)?.zeroForATime,
      ],
      [0, 1],
    );
  });

  it('counts what is missing and taken as well once', () => {
    // Half of a quarter at 1.2 levels rms is reported missing twice: counted twice, the rest would look like 1.7
    // levels.
    const gap: SpectraGap = {
      firstChannel: 0,
      endChannel: CHANNELS,
      firstInput: 0,
      endInput: INPUTS,
      firstSample: 0,
      endSample: LOOKED_AT / 2,
    };
    const more = { ...gap, firstSample: LOOKED_AT / 4, endSample: (5 * LOOKED_AT) / 8 };
    const within = { ...gap, firstSample: LOOKED_AT / 8, endSample: LOOKED_AT / 4 };
    const at = levelsOf((_, __, t) => (t < more.endSample ? 0 : 1.2), LOOKED_AT, 127);
    const apart = watched('ci8', LOOKED_AT, LOOKED_AT, at, [{ ...gap, endSample: more.endSample }]);
    assert.ok(apart && Math.abs(apart.mostRms / 1.2 - 1) < 0.15);
    assert.deepEqual(watched('ci8', LOOKED_AT, LOOKED_AT, at, [more, gap, within]), apart);
  });

  it('is nothing of floats', () => {
    const watch = new SpectraWatch({ type: 'cf32', channels: 1, inputs: 1 });
    watch.add({ samples: 20, gaps: [] }, spectraCAT(new Float32Array(40).fill(1), 'cf32', 1, 1, 20), 0);
    assert.equal(watch.found(), undefined);
  });
});
