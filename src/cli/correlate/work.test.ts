import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { largestSum } from './work.js';

describe('the largest sum of an integration', () => {
  it('is that of all samples at full scale, and refused beforehand where whole numbers end', () => {
    const [work, recording] = [{ type: 'ci8', spectrumRateHz: 1e6 } as const, { samples: 4e11 }];
    assert.equal(largestSum(work, { samples: 100 }, 1e-4), 2 * 127 ** 2 * 100);
    assert.ok(largestSum(work, recording, 279_000) > 2 ** 52);
    assert.throws(
      () => largestSum(work, recording, 300_000),
      /--integration: .* whole sums can hold; give at most/,
    );
    // Floats lose digits, not all of them.
    largestSum({ ...work, type: 'cf32' }, recording, 300_000);
  });
});
