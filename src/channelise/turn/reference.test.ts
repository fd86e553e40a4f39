import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openReference } from '../../backend/reference.js';
import { spectraCAT, type SpectraType } from '../../core/axes.js';
import { CorellaError } from '../../core/errors.js';
import { packNibbles } from '../../core/nibbles.js';
import { delayModels } from '../../delay/index.js';
import { turningCases } from './cases.js';
import { planTurning } from './plan.js';
import { turnSpectra } from './reference.js';
import { turningRuns } from './runs.js';

const still = { fromTick: 0n, delayRate: 0, phaseRad: 0, phaseRateRadS: 0 };
const near = (got: ArrayLike<number>, wanted: readonly number[], within = 1e-5): void => {
  assert.equal(got.length, wanted.length);
  wanted.forEach((value, n) => {
    assert.ok(Math.abs(got[n] - value) < within, `${n}: ${got[n]}, not ${value}`);
  });
};

it('channels that are there already are turned by −f·d, and by the phase at the middle of each spectrum', () => {
  const delayModel = delayModels(2);
  delayModel.load(0, { ...still, delayS: 0.25 }); // a quarter of a turn at 1 Hz, back
  delayModel.load(1, { ...still, delayS: 0, phaseRateRadS: Math.PI }); // at 1 spectrum a second: π/2 a half, 3π/2 next
  const planned = (type: SpectraType) =>
    planTurning({ type, channels: 1, inputs: 2, spectrumRateHz: 1, frequenciesHz: Float64Array.of(1) });
  const bytes = Int8Array.of(3, 4, 5, 0, 7, 0, 0, 7);
  const wanted = [4, -3, 0, -5, 0, 7, 7, 0];
  near(
    turnSpectra(planned('ci8'), { spectra: spectraCAT(bytes, 'ci8', 1, 2, 2), samples: 2 }, delayModel, 0),
    wanted,
  );
  const nibbles = Int8Array.of(packNibbles(3, 4), packNibbles(5, 0), packNibbles(7, 0), packNibbles(0, 7));
  near(
    turnSpectra(planned('ci4'), { spectra: spectraCAT(nibbles, 'ci4', 1, 2, 2), samples: 2 }, delayModel, 0),
    wanted,
  );
});

it('runs end where a piece of any input begins, and give delays and phases at the middle of their first spectrum', () => {
  const delayModel = delayModels(2, Float64Array.of(0, 7));
  delayModel.load(0, { ...still, delayS: 3, delayRate: 0.5 });
  delayModel.load(0, { ...still, fromTick: 14n, delayS: 1, phaseRad: 3 * Math.PI, phaseRateRadS: Math.PI });
  // Spectra 10 … 15 at two a second: 10.5 ticks from the first piece's own, 5.25 s; 0.25 s after the second's.
  const { edges, coefficients } = turningRuns({ inputs: 2, spectrumRateHz: 2 }, delayModel, 10, 6);
  assert.deepEqual([...edges], [0, 4, 6]);
  near(coefficients, [5.625, 0.25, 0, 0, 7, 0, 0, 0, 1, 0, -0.375, 0.25, 7, 0, 0, 0], 1e-12);
  assert.deepEqual([...turningRuns({ inputs: 2, spectrumRateHz: 2 }, delayModel, 20, 0).edges], [0]);
});

it('channels without frequencies, and delays of other inputs, are refused', () => {
  const options = { type: 'ci8', channels: 2, inputs: 2, spectrumRateHz: 1 } as const;
  assert.throws(() => planTurning({ ...options, frequenciesHz: Float64Array.of(1) }), CorellaError);
  assert.throws(() => planTurning({ ...options, frequenciesHz: Float64Array.of(1, NaN) }), CorellaError);
  const plan = planTurning({ ...options, frequenciesHz: Float64Array.of(1, 2) });
  assert.throws(() => turningRuns(plan, delayModels(3), 0, 1), CorellaError);
});

turningCases(() => Promise.resolve(openReference()));
