import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP, weightsCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { addIntegrations } from './select.js';

const one = (unixSeconds: number, value: number): Integration => ({
  start: instant(unixSeconds),
  durationS: 2,
  channels: 1,
  stations: 1,
  polarisations: 1,
  visibilities: visibilitiesCBPP(Float64Array.of(value, 0), 1, 1, 1),
  counts: countsCB(Float64Array.of(4), 1, 1),
  flaggedInputs: new Uint8Array(1),
  filed: {
    means: visibilitiesCBPP(Float64Array.of(value / 4, 0), 1, 1, 1),
    weights: weightsCBPP(Float64Array.of(4), 1, 1, 1),
  },
});

describe('adding integrations', () => {
  it('adds sums and counts, and forgets what files said of each', () => {
    const sum = addIntegrations(one(100, 8), one(102, 20));
    assert.deepEqual([sum.visibilities[0], sum.counts[0], sum.durationS], [28, 8, 4]);
    assert.equal(sum.filed, undefined);
  });
});
