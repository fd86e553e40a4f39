import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refuseWrongModel } from './model-lines.js';

describe('a model that explains too little', () => {
  const words = (asked: Parameters<typeof refuseWrongModel>[2]): string => {
    try {
      return refuseWrongModel({ unexplained: 0.9, noiseResidual: 0.1, left: 0.9 }, 1, asked);
    } catch (error) {
      return String(error);
    }
  };

  it('advises what has not been asked for already', () => {
    assert.match(words({}), /--diffuse galaxy\) or leave out baselines that see it \(--min-baseline 5wl\)/);
    const shorter = words({ minBaseline: { value: 5, unit: 'wl' } });
    assert.match(shorter, /put the diffuse sky into the model \(--diffuse galaxy\), check the/);
    assert.doesNotMatch(shorter, /--min-baseline/);
    assert.doesNotMatch(words({ minBaseline: 5, diffuse: 'galaxy' }), /--diffuse|--min-baseline/);
  });
});
