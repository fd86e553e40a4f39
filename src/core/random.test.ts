import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from './random.js';

describe('random streams', () => {
  it('give the same numbers everywhere', () => {
    // Computed independently, in arbitrary-precision integers, from FNV-1a and xoshiro128**.
    const noise = randomStream(7, 'noise', 3);
    assert.deepEqual(
      [noise.uniform(), noise.uniform(), noise.uniform()],
      [0.5480310898391901, 0.6316595503565188, 0.6256609314504825],
    );
    const bare = randomStream(1);
    assert.deepEqual(
      [bare.uniform(), bare.uniform(), bare.uniform()],
      [0.8194523650340313, 0.794252144966729, 0.37762872102030376],
    );
  });

  it('differ by seed and by every key, and never disturb each other', () => {
    const firsts = [
      randomStream(1, 'a', 0),
      randomStream(2, 'a', 0),
      randomStream(1, 'a', 1),
      randomStream(1, 'b', 0),
      randomStream(1, 'a'),
    ].map((stream) => stream.uniform());
    assert.equal(new Set(firsts).size, firsts.length);
    const [x, y] = [randomStream(1, 'x'), randomStream(1, 'x')];
    randomStream(1, 'z').gaussian();
    assert.deepEqual([x.gaussian(), x.gaussian(), x.uniform()], [y.gaussian(), y.gaussian(), y.uniform()]);
  });

  it('have the moments they should', () => {
    const stream = randomStream(3, 'moments');
    const count = 40_000;
    let [sum, squares, low, high] = [0, 0, 1, 0];
    for (let n = 0; n < count; n++) {
      const u = stream.uniform();
      sum += u;
      squares += u * u;
      low = Math.min(low, u);
      high = Math.max(high, u);
    }
    // The mean of n uniforms scatters by 1/√(12n) = 0.0014, their mean square by √(4/45/n) = 0.0015; limits are five
    // times that.
    assert.ok(Math.abs(sum / count - 1 / 2) < 0.0072);
    assert.ok(Math.abs(squares / count - 1 / 3) < 0.0075);
    assert.ok(low >= 0 && high < 1);
    let [mean, variance, fourth, neighbours, last] = [0, 0, 0, 0, 0];
    for (let n = 0; n < count; n++) {
      const g = stream.gaussian();
      mean += g / count;
      variance += g ** 2 / count;
      fourth += g ** 4 / count;
      neighbours += (g * last) / count;
      last = g;
    }
    // Standard errors 1/√n = 0.005, √(2/n) = 0.0071, √(96/n) = 0.049; limits are five times that.
    assert.ok(Math.abs(mean) < 0.025);
    assert.ok(Math.abs(variance - 1) < 0.036);
    assert.ok(Math.abs(fourth - 3) < 0.25);
    assert.ok(Math.abs(neighbours) < 0.025, 'Box–Muller pairs must not be correlated');
  });

  it('below covers its range evenly and stays in it', () => {
    const stream = randomStream(4, 'below');
    const hits = [0, 0, 0, 0, 0];
    for (let n = 0; n < 5000; n++) hits[stream.below(5)]++;
    // 1000 each, ±√800 = 28; the limit is five times that.
    for (const hit of hits) assert.ok(Math.abs(hit - 1000) < 142);
    assert.equal(hits.length, 5);
  });

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
