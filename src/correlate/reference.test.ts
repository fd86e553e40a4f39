import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spectraCAT, type SpectraCAT } from '../core/axes.js';
import { zeroGaps } from '../core/gaps.js';
import { whole } from './cases.js';
import { planCorrelation, type CorrelatePlan } from './plan.js';
import { correlateReference } from './reference-testing.js';

const ci8 = (plan: CorrelatePlan, parts: readonly number[], samples: number): SpectraCAT =>
  spectraCAT(Int8Array.from(parts), 'ci8', plan.channels, plan.inputs, samples);

describe('the correlator’s oracle', () => {
  it('two stations, two samples, by hand', () => {
    const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 1, type: 'ci8' });
    // x₀ = (1 + 2i, 3 − i), x₁ = (2 − i, −1 + 4i)
    const spectra = ci8(plan, [1, 2, 3, -1, 2, -1, -1, 4], 2);
    const { visibilities, counts, samples } = correlateReference(plan, [whole(spectra, 2)]);
    assert.deepEqual(
      [...visibilities],
      [
        15,
        0, // V₀₀ = |1+2i|² + |3−i|² = 5 + 10
        // V₁₀ = x₁ conj(x₀) = (2−i)(1−2i) + (−1+4i)(3+i) = (2−4i−i−2) + (−3−i+12i−4) = −5i + (−7+11i)
        -7,
        6,
        22,
        0, // V₁₁ = 5 + 17
      ],
    );
    assert.deepEqual([...counts], [2, 2, 2]);
    assert.equal(samples, 2);
  });

  it('one station, two polarisations: both cross products, each the conjugate of the other', () => {
    const plan = planCorrelation({ stations: 1, polarisations: 2, channels: 1, type: 'ci8' });
    // X = 1 + i, Y = 2 − 3i: XX = 2, XY = (1+i)(2+3i) = 2+3i+2i−3 = −1+5i, YX = −1−5i, YY = 13
    const { visibilities } = correlateReference(plan, [whole(ci8(plan, [1, 1, 2, -3], 1), 1)]);
    assert.deepEqual([...visibilities], [2, 0, -1, 5, -1, -5, 13, 0]);
  });

  it('two stations, two polarisations, two channels: every product in its place', () => {
    const plan = planCorrelation({ stations: 2, polarisations: 2, channels: 2, type: 'ci8' });
    // Real values, so that products are easy to distinguish: channel 0 inputs 1, 2, 3, 5; channel 1 inputs 7, 11, 13,
    // 17.
    const { visibilities } = correlateReference(plan, [
      whole(ci8(plan, [1, 0, 2, 0, 3, 0, 5, 0, 7, 0, 11, 0, 13, 0, 17, 0], 1), 1),
    ]);
    const re = [...visibilities].filter((_, n) => n % 2 === 0);
    assert.deepEqual(re, [
      1,
      2,
      2,
      4, // 00 of channel 0: XX XY YX YY
      3,
      6,
      5,
      10, // 10: station 1's (3, 5) with station 0's (1, 2)
      9,
      15,
      15,
      25,
      49,
      77,
      77,
      121,
      91,
      143,
      119,
      187,
      169,
      221,
      221,
      289,
    ]);
  });

  it('4-bit samples: real part in the high nibble, signs kept', () => {
    const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 1, type: 'ci4' });
    // x₀ = −7 + i (0x91), x₁ = 7 − i (0x7f): V₁₀ = −50
    const spectra = spectraCAT(Uint8Array.from([0x91, 0x7f]), 'ci4', 1, 2, 1);
    const { visibilities } = correlateReference(plan, [whole(spectra, 1)]);
    assert.deepEqual([...visibilities], [50, 0, -50, 0, 50, 0]);
  });

  it('gaps and flags are counted out, by hand', () => {
    const flaggedInputs = Uint8Array.of(0, 1, 0, 0, 1, 1); // Y of station 0, all of station 2
    const plan = planCorrelation({ stations: 3, polarisations: 2, channels: 2, type: 'ci8', flaggedInputs });
    // Station 1 misses samples 1 and 2 of 4 in channel 1; every part that arrived is 1.
    const [firstSample, endSample] = [1, 3];
    const gap = { firstChannel: 1, endChannel: 2, firstInput: 2, endInput: 4, firstSample, endSample };
    const ones = Array.from({ length: 2 * 6 * 4 * 2 }, () => 1);
    const spectra = ci8(plan, ones, 4);
    zeroGaps(spectra, { type: 'ci8', inputs: 6, samples: 4 }, [gap]);
    const { visibilities, counts } = correlateReference(plan, [{ spectra, samples: 4, gaps: [gap] }]);
    // Pairs 00, 10, 11, 20, 21, 22 of channel 0, then of channel 1.
    assert.deepEqual([...counts], [4, 4, 4, 0, 0, 0, 4, 2, 2, 0, 0, 0]);
    // (1 + i)·conj(1 + i) = 2 a sample; products of station 0's Y are zero.
    const re = [...visibilities].filter((_, n) => n % 2 === 0);
    const nothing = new Array<number>(12).fill(0); // pairs 20, 21, 22
    assert.deepEqual(re, [
      8,
      0,
      0,
      0,
      8,
      0,
      8,
      0,
      8,
      8,
      8,
      8,
      ...nothing,
      8,
      0,
      0,
      0,
      4,
      0,
      4,
      0,
      4,
      4,
      4,
      4,
      ...nothing,
    ]);
    assert.ok(visibilities.every((value, n) => n % 2 === 0 || value === 0));
  });
});
