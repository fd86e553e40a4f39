import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factorise, planFft } from './fft.js';
import { randomStream } from './random.js';

/** X[k] = Σ_n x[n] e^(sign·2πi nk/N), by definition. */
function plainDft(x: Float64Array, sign: 1 | -1): Float64Array {
  const length = x.length / 2;
  const out = new Float64Array(x.length);
  for (let k = 0; k < length; k++) {
    for (let n = 0; n < length; n++) {
      const angle = (sign * 2 * Math.PI * ((n * k) % length)) / length;
      out[2 * k] += x[2 * n] * Math.cos(angle) - x[2 * n + 1] * Math.sin(angle);
      out[2 * k + 1] += x[2 * n] * Math.sin(angle) + x[2 * n + 1] * Math.cos(angle);
    }
  }
  return out;
}

function assertNear(actual: Float64Array, expected: Float64Array, tolerance: number, what: string): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, n) => {
    assert.ok(Math.abs(value - expected[n]) <= tolerance, `${what}: [${n}] is ${value}, not ${expected[n]}`);
  });
}

describe('Fourier transform', () => {
  it('rotates by the convention of the project: forward e^(−), inverse e^(+)', () => {
    // x = (0, 1, 0, 0): X[k] = e^(−2πi k/4) = 1, −i, −1, +i
    const shifted = Float64Array.from([0, 0, 1, 0, 0, 0, 0, 0]);
    const forward = shifted.slice();
    planFft(4).forward(forward);
    assertNear(forward, Float64Array.from([1, 0, 0, -1, -1, 0, 0, 1]), 1e-15, 'forward');
    const inverse = shifted.slice();
    planFft(4).inverse(inverse);
    assertNear(inverse, Float64Array.from([1, 0, 0, 1, -1, 0, 0, -1]), 1e-15, 'inverse');
    // N = 3 by hand: e^(−2πi/3) = −1/2 − i√3/2
    const three = Float64Array.from([0, 0, 1, 0, 0, 0]);
    planFft(3).forward(three);
    const h = Math.sqrt(3) / 2;
    assertNear(three, Float64Array.from([1, 0, -0.5, -h, -0.5, h]), 1e-15, 'three');
  });

  for (const length of [...Array.from({ length: 40 }, (_, n) => n + 1), 64, 97, 100, 343]) {
    it(`equals the plain sum at length ${length}`, () => {
      const stream = randomStream(1, 'fft', length);
      const x = Float64Array.from({ length: 2 * length }, () => stream.gaussian());
      // N terms of size about 1, each rounded to 2⁻⁵³, in both sums: 1e-15·N leaves a factor of ten.
      const tolerance = 4e-15 * (length + 10);
      const forward = x.slice();
      planFft(length).forward(forward);
      assertNear(forward, plainDft(x, -1), tolerance, 'forward');
      const inverse = x.slice();
      planFft(length).inverse(inverse);
      assertNear(inverse, plainDft(x, 1), tolerance, 'inverse');
    });
  }

  it('works in place on a part of a longer array and leaves the rest alone', () => {
    const values = Float64Array.from([9, 9, 1, 0, 2, 0, 9, 9]);
    planFft(2).forward(values, 1);
    assertNear(values, Float64Array.from([9, 9, 3, 0, -1, 0, 9, 9]), 1e-15, 'part');
    assert.deepEqual([...values.subarray(0, 2), ...values.subarray(6)], [9, 9, 9, 9]);
  });

  it('forward then inverse is N times the start', () => {
    const x = Float64Array.from({ length: 60 }, (_, n) => n * n - 100);
    const back = x.slice();
    const fft = planFft(30);
    fft.forward(back);
    fft.inverse(back);
    assertNear(
      back.map((value) => value / 30),
      x,
      1e-11,
      'round trip',
    );
  });

  it('factorises with fours first', () => {
    assert.deepEqual(factorise(1), []);
    assert.deepEqual(factorise(2), [2]);
    assert.deepEqual(factorise(360), [4, 2, 3, 3, 5]);
    assert.deepEqual(factorise(97), [97]);
  });

  it('refuses lengths that are none', () => {
    assert.throws(() => planFft(0), /length is 0/);
    assert.throws(() => planFft(2.5), /length is 2.5/);
  });
});
