import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Calibration, CrossHanded } from '../../calibrate/index.js';
import { gainsCA } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import { fullPolarisationOf, summarise } from './summary.js';

const solved = (marks: readonly number[], converged: boolean, residual: number): Calibration => ({
  gains: gainsCA(Float64Array.from(marks.flatMap((mark) => (mark === 1 ? [1, 0] : [NaN, NaN]))), 1, 3),
  solved: Uint8Array.from(marks),
  solutions: [
    { channel: 0, polarisation: 0, iterations: 10, converged, lastChange: 1e-3, residual, leftOut: [] },
  ],
  referenceStation: 0,
});

it('a summary of several times is of all of them', () => {
  const summary = summarise([
    { time: instant(0), calibration: solved([1, 1, 1], true, 0.01) },
    { time: instant(10), calibration: solved([0, 0, 0], false, 0.6) },
    { time: instant(20), calibration: solved([1, 0, 1], true, 0.02) },
  ]);
  assert.deepEqual([summary.solves, summary.converged, summary.solvedInputs], [3, 2, 2]);
  assert.equal(summary.worstResidual, 0.6);
  assert.equal(summary.unconverged[0].timeUtc, '1970-01-01T00:00:10.000Z');
});

it('leakage is that of the inputs that are solved', () => {
  const found = {
    gains: Float64Array.of(2, 0, 1, 0, 1, 0, 1, 0),
    leakage: Float64Array.of(0.8, 0, 0, 0, 9, 0, 0, 0.1),
    solved: Uint8Array.of(1, 1, 0, 1),
    frame: { openRotations: Uint8Array.of(1), errorRad: Float64Array.of(1e-3) },
  } as unknown as CrossHanded;
  assert.deepEqual(fullPolarisationOf([found]), {
    medianLeakage: 0.1,
    largestLeakage: 0.4,
    openRotations: 1,
    errorRad: 1e-3,
  });
  assert.equal(fullPolarisationOf([{ ...found, frame: undefined, leakage: undefined }]), undefined);
});
