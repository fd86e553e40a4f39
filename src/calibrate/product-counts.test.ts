/** Gains of X do not depend on what is flagged of Y, and a channel with too few stations leaves the others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { baselineCount, baselineIndex, countsCBPP } from '../core/axes.js';
import { calibrationSample } from './cases.js';
import { planCalibration, prepareCalibrator, type CalibrationInput } from './index.js';

const sample = { seed: 4, stations: 6, polarisations: 2, channels: 3, noiseJy: 0 } as const;
const baselines = baselineCount(6);

/** The same with counts of products, of which `change` takes some. */
function withProducts(input: CalibrationInput, change: (own: Float64Array) => void): CalibrationInput {
  const own = Float64Array.from({ length: 3 * baselines * 4 }, (_, at) => input.counts[Math.floor(at / 4)]);
  change(own);
  // Whatever stands where nothing counts must not be looked at.
  own.forEach((count, at) => {
    if (count === 0) input.visibilities.fill(1e12, 2 * at, 2 * at + 2);
  });
  return { ...input, productCounts: countsCBPP(own, 3, baselines, 2) };
}

describe('counts of products in a calibration', () => {
  const solve = async (input: CalibrationInput) =>
    (await prepareCalibrator(planCalibration(sample), openReference())).solve(input);

  it('YY of a pair that is flagged leaves XX, and the gains of Y to the other pairs', async () => {
    const whole = await solve(calibrationSample(sample).input);
    const some = await solve(
      withProducts(calibrationSample(sample).input, (own) => {
        own[(baselines + baselineIndex(5, 2)) * 4 + 3] = 0;
      }),
    );
    assert.deepEqual(some.solved, whole.solved);
    for (let a = 0; a < 36; a++) {
      const off = Math.hypot(
        some.gains[2 * a] - whole.gains[2 * a],
        some.gains[2 * a + 1] - whole.gains[2 * a + 1],
      );
      if (a % 2 === 0) assert.equal(off, 0, `X, place ${a}`);
      else assert.ok(off < 1e-6, `Y, place ${a}: ${off}`);
    }
  });

  it('a channel of which flags leave two stations has no gains; the others have', async () => {
    const { solved, solutions } = await solve(
      withProducts(calibrationSample(sample).input, (own) => {
        for (let i = 0; i < 6; i++)
          for (let j = 0; j <= i; j++)
            if (!(i === 1 && j === 0)) own[(2 * baselines + baselineIndex(i, j)) * 4 + 3] = 0;
      }),
    );
    const wanted = Array.from({ length: 36 }, (_, at) => (at >= 24 && at % 2 === 1 ? 0 : 1));
    assert.deepEqual([...solved], wanted);
    assert.ok(Number.isNaN(solutions[5].residual));
    assert.ok(solutions[4].residual < 1e-6);
  });

  it('is refused where that is so of every channel', async () => {
    const none = withProducts(calibrationSample(sample).input, (own) => {
      own.fill(0);
      for (const c of [0, 1, 2]) own[(c * baselines + 1) * 4] = 100;
    });
    await assert.rejects(solve(none), /2 of 6 stations have data/);
  });
});
