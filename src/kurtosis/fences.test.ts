import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { ENTRY, FenceBook, firstOf, keyOf } from './fences.js';
import { Judge } from './judge.js';
import { planKurtosis } from './plan.js';
import { allocateScreened, offsetByFence, OUTSIDE, PAIR_OUTSIDE, screen } from './screen.js';
import { isAlone, offsetOf, verdictOf } from './verdicts.js';

const types = ['ci8', 'ci4', 'cf32'] as const;
const edges = Int32Array.of(0, 256, 508);

describe('fences of noise', () => {
  it('keys are octaves in 64 parts', () => {
    assert.equal(keyOf(2) - keyOf(1), 64);
    assert.equal(keyOf(1 + 1 / 64) - keyOf(1), 1);
    assert.equal(keyOf(1.0156) - keyOf(1), 0);
    for (const key of [keyOf(1), keyOf(7.3e5), keyOf(1e-20)]) {
      assert.equal(keyOf(firstOf(key)), key);
      assert.equal(keyOf(firstOf(key) * (1 - 2 ** -53)), key - 1);
    }
  });

  for (const type of types)
    it(`${type}: whatever lies within is noise by its limits, and little noise lies outside`, () => {
      const plan = planKurtosis({ type, channels: 9, inputs: 1, polarisations: 1, realChannels: 1 });
      const book = new FenceBook(plan);
      const { fences, places } = book.fencing(edges);
      for (const [kind, shape] of ([1, 0.5] as const).entries())
        for (const [side, span] of (['window', 'pair'] as const).entries()) {
          const { spectra, leastPower, mostPower, entries, scale } = fences[places[2 * kind + side]];
          assert.equal(spectra, side === 0 ? 256 : 508);
          const limits = book.limitsOf(spectra, shape, span);
          const curve = plan.curves[shape === 1 ? 'complex' : 'real'];
          const verdict = (s1: number, ratio: number): number =>
            verdictOf(s1, ratio * s1 * s1, spectra, limits, shape, curve);
          const keys = entries.length / ENTRY;
          const firstKey = keyOf(leastPower);
          for (let n = 0; n < keys; n++) {
            const [from, to] = keys === 1 ? [3, 5] : [firstOf(firstKey + n), firstOf(firstKey + n + 1)];
            const [low, high] = entries.subarray(ENTRY * n);
            // Both ends of the key's powers, and some between.
            for (const part of [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1 - 1e-12]) {
              const s1 = Math.min(mostPower, Math.max(leastPower, from + part * (to - from)));
              assert.equal(verdict(s1, low), 0, `${type} ${shape} ${span} power ${s1 / spectra} low`);
              assert.equal(verdict(s1, high), 0, `${type} ${shape} ${span} power ${s1 / spectra} high`);
              // A tenth of the fence further out nobody is noise.
              assert.equal(verdict(s1, low - 0.1 * (high - low)), 2);
              assert.equal(verdict(s1, high + 0.1 * (high - low)), 1);
              const [s2, exact] = [
                1.01 * low * s1 * s1,
                offsetOf(s1, 1.01 * low * s1 * s1, spectra, shape, curve),
              ];
              const offset = offsetByFence(fences[places[2 * kind + side]], s1, s2);
              assert.ok(Math.abs(offset - exact) < 0.006, `${offset} is not ${exact} at ${s1 / spectra}`);
            }
          }
          assert.ok(scale > spectra / 2);
        }
    });

  it('of silence, overload and what is no number nothing is within', () => {
    for (const type of types) {
      const plan = planKurtosis({ type, channels: 1, inputs: 1, polarisations: 1 });
      const { fences, places } = new FenceBook(plan).fencing(edges);
      for (const s1 of [0, NaN, Infinity, -1])
        assert.ok(Number.isNaN(offsetByFence(fences[places[0]], s1, 1)));
    }
    const plan = planKurtosis({ type: 'ci8', channels: 1, inputs: 1, polarisations: 1 });
    const { fences, places } = new FenceBook(plan).fencing(Int32Array.of(0, 20, 40));
    assert.ok(Number.isNaN(offsetByFence(fences[places[0]], 2000, 400_000)), 'too few spectra');
  });

  for (const type of types)
    it(`${type}: nobody is lost by screening, of windows and of pairs`, () => {
      const flaggedInputs = new Uint8Array(20);
      flaggedInputs[7] = 1;
      const plan = planKurtosis({
        ...{ type, channels: 5, inputs: 20, polarisations: 2, realChannels: 1, flaggedInputs },
      });
      const random = randomStream(3, type);
      const cells = 2 * 5 * 20;
      const sums = new Float64Array(2 * cells);
      for (let at = 0; at < cells; at++) {
        const power = 2 ** (8 * random.uniform() - 2);
        // Kurtoses on either side of both limits, and some silence.
        const kurtosis = 0.5 + 1.2 * random.uniform();
        sums[2 * at] = at % 31 === 0 ? 0 : 256 * power;
        sums[2 * at + 1] = at % 31 === 0 ? 0 : 256 * power * power * (1 + (kurtosis * 255) / 257);
      }
      const judge = new Judge(plan);
      const fencing = judge.fencing(edges);
      assert.ok(fencing);
      const book = new FenceBook(plan);
      const verdict = (at: number, span: 'window' | 'pair'): number => {
        const isReal = Math.floor(at / 20) % 5 === 0;
        const [shape, curve] = isReal
          ? ([0.5, plan.curves.real] as const)
          : ([1, plan.curves.complex] as const);
        const [s1, s2] = [0, 1].map(
          (n) => sums[2 * at + n] + (span === 'pair' ? sums[2 * (at + 100) + n] : 0),
        );
        const spectra = span === 'pair' ? 508 : at < 100 ? 256 : 252;
        return verdictOf(s1, s2, spectra, book.limitsOf(spectra, shape, span), shape, curve);
      };
      /** Of a usual level, and well within its limits. */
      const isPlainNoise = (at: number): boolean => {
        const [s1, s2, spectra] = [sums[2 * at], sums[2 * at + 1], at < 100 ? 256 : 252];
        const isReal = Math.floor(at / 20) % 5 === 0;
        if (isReal || s1 < 2 * spectra || s1 > 16 * spectra) return false;
        const off = offsetOf(s1, s2, spectra, 1, plan.curves.complex);
        return off > -0.25 && off < 0.35;
      };
      const made = allocateScreened(plan, 2);
      screen(plan, fencing, sums, made);
      for (let at = 0; at < cells; at++) {
        if (at % 20 === 7) assert.equal(made.marks[at], 0);
        else {
          if (verdict(at, 'window') !== 0) assert.equal(made.marks[at] & OUTSIDE, OUTSIDE);
          else if (isPlainNoise(at)) assert.equal(made.marks[at] & OUTSIDE, 0, 'no look is wasted');
          if (at < 100 && verdict(at, 'pair') !== 0)
            assert.equal(made.marks[at] & PAIR_OUTSIDE, PAIR_OUTSIDE);
        }
      }
      const { offenders } = judge.judge(edges, sums, undefined);
      const alone = [...offenders].map((code) => (isAlone(code) ? code : 0));
      const expected = alone.map((_, at) => {
        const code = at % 20 === 7 ? 0 : verdict(at, 'window');
        return isAlone(code) ? code : 0;
      });
      assert.deepEqual(alone, expected);
      assert.ok(expected.includes(1) && expected.includes(2) && expected.includes(0));
    });
});
