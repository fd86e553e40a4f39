/** What pairs determine, compared with the rank of their equations. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../../backend/reference.js';
import { baselineCount, baselineIndex } from '../../core/axes.js';
import { eigenSymmetric } from '../../core/eigen.js';
import { adjoint, inverseMatrix, timesMatrix, type Matrix2 } from '../../core/jones.js';
import { planCalibration, prepareFullCalibrator } from '../index.js';
import { fullSample } from './cases.js';
import { loopsOf, undetermined } from './determined.js';
import type { ModelForm } from './plan.js';

type Pairs = readonly (readonly [number, number])[];
const all = (stations: number): Pairs =>
  Array.from({ length: stations }, (_, i) =>
    Array.from({ length: i }, (_unused, j) => [i, j] as const),
  ).flat();
const graphs: Readonly<Record<string, { readonly stations: number; readonly pairs: Pairs }>> = {
  'three stations': { stations: 3, pairs: all(3) },
  'three in a row': { stations: 3, pairs: [[1, 0], [2, 1]] },
  'four stations': { stations: 4, pairs: all(4) },
  'four in a ring': { stations: 4, pairs: [[1, 0], [2, 1], [3, 2], [3, 0]] },
  'a ring and one across': { stations: 4, pairs: [[1, 0], [2, 1], [3, 2], [3, 0], [2, 0]] },
  'a triangle and a tail': { stations: 4, pairs: [[1, 0], [2, 0], [2, 1], [3, 2]] },
  'five in a ring': { stations: 5, pairs: [[1, 0], [2, 1], [3, 2], [4, 3], [4, 0]] },
  'two triangles at one station': { stations: 5, pairs: [[1, 0], [2, 0], [2, 1], [3, 2], [4, 2], [4, 3]] },
  'two by three': { stations: 5, pairs: [[2, 0], [3, 0], [4, 0], [2, 1], [3, 1], [4, 1]] },
  'two triangles apart': { stations: 6, pairs: [[1, 0], [2, 0], [2, 1], [4, 3], [5, 3], [5, 4]] },
}; // prettier-ignore
const skies = [
  [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
  [[0.1, 0, 0], [-0.2, 0, 0], [0.3, 0, 0]],
  [[0, 0, 0], [0.05, 0.6, 0.1], [-0.3, 0.1, 0.2]],
] as const; // prettier-ignore
/** Numbers that all stations share and no pair of such a model determines. */
const SHARED = [4, 2, 1] as const;

/** How many numbers of all matrices the pairs determine, to first order. */
function rankOf(stations: number, pairs: Pairs, form: ModelForm): number {
  const { truth, input } = fullSample({ seed: 3, stations, channels: 1, polarised: skies[form] });
  const seen = (gains: Float64Array): number[] =>
    pairs.flatMap(([i, j]) => {
      const at = 8 * baselineIndex(i, j);
      const [own, other] = [gains.subarray(8 * i, 8 * i + 8), gains.subarray(8 * j, 8 * j + 8)];
      return [...timesMatrix(timesMatrix(own, input.model.subarray(at, at + 8)), adjoint(other))];
    });
  const size = 8 * stations;
  // Of second order in every number: differences are exact.
  const slopes = Array.from({ length: size }, (_, n) => {
    const [up, down] = [1e-3, -1e-3].map((by) => seen(truth.map((x, k) => (k === n ? x + by : x))));
    return up.map((value, k) => (value - down[k]) / 2e-3);
  });
  const normal = new Float64Array(size * size);
  slopes.forEach((x, n) => {
    slopes.forEach((y, k) => (normal[n * size + k] = x.reduce((sum, value, e) => sum + value * y[e], 0)));
  });
  const { values } = eigenSymmetric(normal, size);
  const stiffest = Math.max(...values);
  return values.filter((value) => value > 1e-9 * stiffest).length;
}

describe('what pairs determine', () => {
  for (const [name, { stations, pairs }] of Object.entries(graphs))
    it(`${name}: refused where the pairs determine less than all but what stations share`, () => {
      const used = new Set(pairs.map(([i, j]) => baselineIndex(i, j)));
      const loops = loopsOf(stations, (b) => used.has(b));
      assert.equal(loops.stations, stations);
      assert.equal(loops.pairs, pairs.length);
      for (const form of [0, 1, 2] as const) {
        const rank = rankOf(stations, pairs, form);
        const isOpen = rank < 8 * stations - SHARED[form];
        const refusal = undetermined('here', form, loops);
        // Three stations determine a diagonal model too, with one number to spare: that is left.
        if (!(form === 1 && loops.loops === 1 && loops.isOdd))
          assert.equal(refusal !== undefined, isOpen, `form ${form}: ${rank} numbers`);
        if (isOpen) assert.ok(refusal !== undefined);
      }
    });

  it('counts loops, odd ones and groups', () => {
    const of = (name: string) => {
      const { stations, pairs } = graphs[name];
      const used = new Set(pairs.map(([i, j]) => baselineIndex(i, j)));
      const { groups, loops, isOdd } = loopsOf(stations, (b) => used.has(b));
      return [groups, loops, isOdd];
    };
    assert.deepEqual(of('three stations'), [1, 1, true]);
    assert.deepEqual(of('three in a row'), [1, 0, false]);
    assert.deepEqual(of('four stations'), [1, 3, true]);
    assert.deepEqual(of('four in a ring'), [1, 1, false]);
    assert.deepEqual(of('two by three'), [1, 2, false]);
    assert.deepEqual(of('two triangles apart'), [2, 2, true]);
  });

  it('three stations of a polarised model: other matrices fit as well', () => {
    const { truth, input } = fullSample({ seed: 1, stations: 3, channels: 1 });
    const gain = (s: number): Float64Array => truth.subarray(8 * s, 8 * s + 8);
    const model = (i: number, j: number): Float64Array => {
      const at = 8 * baselineIndex(i, j);
      return input.model.subarray(at, at + 8);
    };
    const inverse = (a: Matrix2): Float64Array => {
      const found = inverseMatrix(a);
      assert.ok(found);
      return found;
    };
    const product = (...factors: Matrix2[]): Float64Array =>
      factors.reduce<Float64Array>((a, b) => timesMatrix(a, b), Float64Array.of(1, 0, 0, 0, 0, 0, 1, 0));
    const seen = (gains: readonly Float64Array[], i: number, j: number): Float64Array =>
      product(gains[i], model(i, j), adjoint(gains[j]));
    // Around the loop 1, 0, 2: A = M_20⁻¹ M_21 M_10⁻ᴴ, and C = A⁻ᴴ A.
    const a = product(inverse(model(2, 0)), model(2, 1), adjoint(inverse(model(1, 0))));
    const c = product(adjoint(inverse(a)), a);
    const zero = product(gain(0), inverse(c));
    const others = [1, 2].map((s) =>
      product(seen([gain(0), gain(1), gain(2)], s, 0), adjoint(inverse(zero)), inverse(model(s, 0))),
    );
    const found = [zero, ...others];
    const truths = [gain(0), gain(1), gain(2)];
    for (const [i, j] of all(3))
      seen(found, i, j).forEach((value, n) => {
        assert.ok(Math.abs(value - seen(truths, i, j)[n]) < 1e-9);
      });
    // No phase transforms one to the other: their sizes differ.
    const off = Math.max(...[0, 2, 4, 6].map((n) => Math.abs(Math.hypot(zero[n], zero[n + 1]) - Math.hypot(truth[n], truth[n + 1])))); // prettier-ignore
    assert.ok(off > 0.05, `${off}`);
  });

  it('solving refuses such channels by name, and solves the others', async () => {
    const plan = (stations: number, channels: number) =>
      planCalibration({ stations, channels, polarisations: 2 });
    const solve = async (stations: number, channels: number, form: ModelForm, change?: (counts: Float64Array) => void) => {
      const { input } = fullSample({ seed: 2, stations, channels, polarised: skies[form] });
      change?.(input.counts);
      const calibrator = await prepareFullCalibrator(plan(stations, channels), openReference());
      return calibrator.solve(input);
    }; // prettier-ignore
    await assert.rejects(
      solve(3, 1, 2),
      /channel 0: 3 stations with 3 pairs leave their matrices open.*\n?.*keep four stations/s,
    );
    await assert.rejects(solve(3, 1, 1), /3 stations with 3 pairs leave their matrices open/);
    const { solutions } = await solve(3, 1, 0);
    assert.ok(solutions[0].converged && solutions[0].residual < 1e-5);
    await assert.rejects(
      solve(6, 1, 2, (counts) => {
        for (let i = 3; i < 6; i++) for (let j = 0; j < 3; j++) counts[baselineIndex(i, j)] = 0;
      }),
      /channel 0: 3 stations with 3 pairs leave their matrices open/,
    );
    // A triangle separate from four connected stations: its stations are left out.
    const four = await solve(7, 1, 2, (counts) => {
      for (let i = 4; i < 7; i++) for (let j = 0; j < 4; j++) counts[baselineIndex(i, j)] = 0;
    });
    assert.deepEqual(
      four.solutions[0].leftOut.map(({ station, reason }) => [station, reason]),
      [4, 5, 6].map((station) => [station, 'apart']),
    );
    assert.deepEqual([...four.solved], [...Array<number>(8).fill(1), ...Array<number>(6).fill(0)]);
    // The second channel has three stations left.
    const some = await solve(6, 2, 2, (counts) => {
      for (let i = 3; i < 6; i++) for (let j = 0; j <= i; j++) counts[baselineCount(6) + baselineIndex(i, j)] = 0;
    }); // prettier-ignore
    assert.deepEqual(some.solutions.map(({ converged }) => converged), [true, true, false, false]); // prettier-ignore
    assert.ok(some.gains.subarray(24).every((value) => Number.isNaN(value)));
    assert.ok(some.solutions[3].leftOut.some(({ reason }) => reason === 'open'));
  });
});
