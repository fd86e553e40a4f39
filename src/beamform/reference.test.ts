import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { spectraCAT } from '../core/axes.js';
import { beamCases } from './cases.js';
import { prepareBeamformer } from './index.js';
import { planBeams } from './plan.js';
import { addPowers, beamsOf } from './reference.js';
import { roundedWeights } from './weights.js';

describe('reference beamformer', () => {
  beamCases(() => Promise.resolve(openReference()));
});

describe('beams by hand', () => {
  it('two stations, two polarisations: each polarisation by itself', () => {
    const plan = planBeams({
      ...{ stations: 2, polarisations: 2, channels: 1, type: 'ci8', beams: 1, weights: 'ci8' },
    });
    // X and Y of stations 0 and 1, one spectrum.
    const spectra = spectraCAT(Int8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 'ci8', 1, 4, 1);
    // 1, 1 for station 0; i, −1 for station 1.
    const weights = Int8Array.of(1, 0, 1, 0, 0, 1, -1, 0);
    // X: (1 + 2i) + i(5 + 6i) = −5 + 7i. Y: (3 + 4i) − (7 + 8i) = −4 − 4i.
    const voltages = beamsOf(plan, weights, spectra, 1);
    assert.deepEqual([...voltages], [-5, 7, -4, -4]);
    const powers = new Float64Array(4);
    addPowers(plan, voltages, 1, { detection: 'IQUV', spectraPerBin: 1, offset: 0, bins: 1 }, powers);
    // XX = 74, YY = 32; X·conj(Y) = (−5 + 7i)(−4 + 4i) = −8 − 48i = U − iV.
    assert.deepEqual([...powers], [53, -21, -8, 48]);
  });

  it('weights of 8 bits: the largest is 127, halves go to even', () => {
    const { weights, scales } = roundedWeights(Float32Array.of(1, 0.5, -254, 1, 0, 0, 0, 0), 2, 2);
    assert.deepEqual([...scales], [0.5, 0]);
    // 0.5 and 0.25 of the first beam's: 0.5 → 0.
    assert.deepEqual([...weights], [0, 0, -127, 0, 0, 0, 0, 0]);
  });

  it('refuses weights that are none', async () => {
    const plan = planBeams({
      ...{ stations: 1, polarisations: 1, channels: 1, type: 'ci8', beams: 1, weights: 'ci8' },
    });
    const beamformer = await prepareBeamformer(plan, openReference());
    for (const [weights, said] of [
      [Int8Array.of(-128, 0), /weight 0 is -128/],
      [Float32Array.of(1, 0), /as Float32Array/],
      [Int8Array.of(1), /1 weights/],
    ] as const)
      assert.throws(() => {
        beamformer.setWeights(weights);
      }, said);
  });
});
