import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { largestSumOf } from './visibilities.js';

describe('the largest sum of an integration', () => {
  it('is that of all samples at full scale, and refused beforehand where whole numbers end', () => {
    const [grid, samples] = [{ spectrumRateHz: 1e6 }, 4e11];
    const spectra = { type: 'ci8', grid } as const;
    assert.equal(largestSumOf(spectra, 100, 1e-4), 2 * 127 ** 2 * 100);
    assert.ok(largestSumOf(spectra, samples, 279_000) > 2 ** 52);
    assert.throws(
      () => largestSumOf(spectra, samples, 300_000),
      /products\.visibilities\.integration: .* whole sums can hold; give at most/,
    );
    // Floats lose some digits, not all.
    largestSumOf({ type: 'cf32', grid }, samples, 300_000);
  });
});
