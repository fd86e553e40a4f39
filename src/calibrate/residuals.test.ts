import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countsCB, gainsCA, modelCBP, visibilitiesCBPP } from '../core/axes.js';
import { planCalibration } from './plan.js';
import { residualsOf } from './solve.js';

it('residuals are of the gains that are handed in', () => {
  const plan = planCalibration({ stations: 3, polarisations: 1, channels: 1 });
  // V₁₀ = 6, V₂₀ = 3i, V₂₁ = 0, of 2, 1 and 1 samples, beside a model of 1 everywhere; autocorrelations do not count.
  const sums = Float64Array.of(99, 0, 12, 0, 99, 0, 0, 3, 0, 0, 99, 0);
  const input = {
    visibilities: visibilitiesCBPP(sums, 1, 6, 1),
    counts: countsCB(Float64Array.of(1, 2, 1, 1, 1, 1), 1, 6),
    flaggedInputs: new Uint8Array(3),
    model: modelCBP(Float64Array.of(1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0), 1, 6, 1),
  };
  // g = 2, 3, i: what they make is 6, 2i, 3i, so that 0, i and −3i are left: √((1 + 9)/(2·36 + 9)).
  const gains = gainsCA(Float64Array.of(2, 0, 3, 0, 0, 1), 1, 3);
  const [all] = residualsOf(plan, input, { gains, solved: Uint8Array.of(1, 1, 1) });
  assert.ok(Math.abs(all - Math.sqrt(10 / 81)) < 1e-15, String(all));
  // Without station 1 there is V₂₀ alone: √(1/9).
  const [two] = residualsOf(plan, input, { gains, solved: Uint8Array.of(1, 0, 1) });
  assert.ok(Math.abs(two - 1 / 3) < 1e-15, String(two));
  assert.ok(Number.isNaN(residualsOf(plan, input, { gains, solved: new Uint8Array(3) })[0]));
});
