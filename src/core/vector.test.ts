import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cross, dot, normalise, scale } from './vector.js';

describe('vectors', () => {
  const a = { x: 2, y: 3, z: 5 };
  const b = { x: 7, y: 11, z: 13 };

  it('multiply as they do by hand', () => {
    assert.equal(dot(a, b), 14 + 33 + 65);
    // (3·13 − 5·11, 5·7 − 2·13, 2·11 − 3·7): right-handed, x × y = z
    assert.deepEqual(cross(a, b), { x: -16, y: 9, z: 1 });
    assert.deepEqual(cross({ x: 1, y: 0, z: 0 }, { x: 0, y: 1, z: 0 }), { x: 0, y: 0, z: 1 });
    assert.deepEqual(scale(a, 4), { x: 8, y: 12, z: 20 });
  });

  it('keep their direction when made one long', () => {
    // 2² + 3² + 6² = 7²
    assert.deepEqual(normalise({ x: 4, y: -6, z: 12 }), scale({ x: 4, y: -6, z: 12 }, 1 / 14));
  });
});
