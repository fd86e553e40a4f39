import assert from 'node:assert/strict';
import { it } from 'node:test';
import { visibilitiesCBPP, countsCB } from '../core/axes.js';
import { instant } from '../core/instant.js';
import { delayModels } from '../delay/index.js';
import { runOne } from './run.js';
import { prepareUnphase } from './unphase.js';

const still = { fromTick: 0n, delayRate: 0, phaseRad: 0, phaseRateRadS: 0 };
const near = (got: ArrayLike<number>, wanted: readonly number[]): void => {
  assert.equal(got.length, wanted.length);
  wanted.forEach((value, n) => {
    assert.ok(Math.abs(got[n] - value) < 1e-5, `${n}: ${got[n]}, not ${value}`);
  });
};

it('what was tracked is turned back at the middle of the integration, fixed delays are not', async () => {
  const delayModel = delayModels(2, Float64Array.of(0, 0.3));
  delayModel.load(1, { ...still, delayS: 0, delayRate: 0.05, phaseRad: Math.PI }); // 0.25 s at 5 s
  const stage = prepareUnphase({
    delayModel,
    tickRateHz: 1,
    start: instant(100),
    frequenciesHz: Float64Array.of(1),
  });
  // V_10 = x1·conj(x0): turned by +f·d = a quarter, and by −π.
  const { visibilities } = await runOne(stage, {
    start: instant(104),
    durationS: 2,
    channels: 1,
    stations: 2,
    polarisations: 1,
    visibilities: visibilitiesCBPP(Float64Array.of(2, 0, 1, 2, 3, 0), 1, 3, 1),
    counts: countsCB(Float64Array.of(1, 1, 1), 1, 3),
    flaggedInputs: new Uint8Array(2),
  });
  near(visibilities, [2, 0, 2, -1, 3, 0]);
});
