import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from './random.js';

describe('random streams', () => {
  it('add standard normals, the same for the same keys', () => {
    const length = 200_001;
    const draw = (key: string): Float64Array => {
      const values = new Float64Array(length).fill(10);
      randomStream(1, key).addGaussians(values, 3);
      return values.map((value) => (value - 10) / 3);
    };
    const values = draw('x');
    const moment = (order: number): number => values.reduce((sum, value) => sum + value ** order, 0) / length;
    // σ of the first four moments of 200,000 normals: √(1, 2, 15, 96)/√200,000; five times that is allowed.
    [0, 1, 0, 3].forEach((expected, n) => {
      const sigma = Math.sqrt([1, 2, 15, 96][n] / length);
      const got = moment(n + 1);
      assert.ok(Math.abs(got - expected) < 5 * sigma, `moment ${n + 1} is ${got}`);
    });
    assert.deepEqual(draw('x'), values);
    assert.notDeepEqual(draw('y'), values);
  });

  it('go on where they were', () => {
    const once = new Float64Array(8);
    randomStream(1, 'x').addGaussians(once, 1);
    const twice = new Float64Array(8);
    const stream = randomStream(1, 'x');
    stream.addGaussians(twice.subarray(0, 4), 1);
    stream.addGaussians(twice.subarray(4), 1);
    assert.deepEqual(twice, once);
  });
});
