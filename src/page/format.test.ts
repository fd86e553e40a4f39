import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { altAz, fixed, percent, scaled, seconds } from './format.js';

const plain = (text: string): string => text.replaceAll('\u202f', ' ');

describe('numbers for people', () => {
  it('a small share is not shown as none, and what is missing not as a number', () => {
    assert.equal(plain(percent(0)), '0 %');
    assert.equal(plain(percent(0.004)), '< 0.01 %');
    assert.equal(plain(percent(0.005)), '0.01 %');
    assert.equal(plain(percent(99.994)), '99.99 %');
    assert.equal(plain(percent(100)), '100 %');
    for (const missing of [null, undefined, NaN, Infinity]) assert.equal(percent(missing), '–');
  });

  it('have one minus sign, and none before a zero', () => {
    assert.equal(fixed(-0.04), '0.0');
    assert.equal(fixed(-0.06), '−0.1');
    assert.equal(fixed(-12.34, 2), '−12.34');
  });

  it('have the prefix of their size', () => {
    assert.equal(plain(scaled(1419.6e6, 'Hz', 5)), '1.4196 GHz');
    assert.equal(plain(scaled(999, 'B')), '999 B');
    assert.equal(plain(scaled(-2e6, 'B')), '−2 MB');
  });

  it('times are in the natural unit', () => {
    assert.deepEqual([0.25, 9.96, 119, 121, 7199, 7200].map(seconds).map(plain), [
      '250 ms',
      '10.0 s',
      '119 s',
      '2 min',
      '120 min',
      '2.0 h',
    ]);
  });
});

describe('a direction on the sky', () => {
  it('has l towards the east, m towards the north, and the zenith in the middle', () => {
    const near = (l: number, m: number, altDeg: number, azDeg: number): void => {
      const found = altAz(l, m);
      assert.ok(Math.abs(found.altDeg - altDeg) < 1e-9 && Math.abs(found.azDeg - azDeg) < 1e-9, `${l}, ${m}`);
    };
    near(0, 1, 0, 0);
    near(1, 0, 0, 90);
    near(0, -1, 0, 180);
    near(-0.5, 0, 60, 270);
    assert.equal(altAz(0, 0).altDeg, 90);
    // A direction outside the horizon by a rounding error counts as on it.
    assert.equal(altAz(0.8, 0.6000001).altDeg, 0);
  });
});
