/** Groups of stations, compared with the rank of the equations of their pairs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eigenSymmetric } from '../core/eigen.js';
import { randomStream } from '../core/random.js';
import { groupsOf, mainGroup } from './groups.js';

type Pair = readonly [number, number];
const find = (stations: number, pairs: readonly Pair[]) => {
  const known = new Set(pairs.flatMap(([i, j]) => [`${i} ${j}`, `${j} ${i}`]));
  return groupsOf(
    Array.from({ length: stations }, (_, s) => s),
    (i, j) => known.has(`${i} ${j}`),
  );
};

/** For g_i conj(g_j), all of one size: how many of the stations' amplitudes and phases the pairs determine. */
function rankOf(stations: number, pairs: readonly Pair[]): number {
  // Logarithms: amplitudes add up, phases differ.
  const rows = pairs.flatMap(([i, j]) => {
    const row = (add: number, first: number): Float64Array => {
      const made = new Float64Array(2 * stations);
      made[first + i] += 1;
      made[first + j] += add;
      return made;
    };
    return [row(1, 0), row(-1, stations)];
  });
  const size = 2 * stations;
  const normal = new Float64Array(size * size);
  for (const row of rows)
    for (let m = 0; m < size; m++) for (let n = 0; n < size; n++) normal[m * size + n] += row[m] * row[n];
  return eigenSymmetric(normal, size).values.filter((value) => value > 1e-9).length;
}

describe('groups of stations', () => {
  it('odd loops, even ones, a chain, a station with itself', () => {
    assert.deepEqual(find(3, [[1, 0], [2, 0], [2, 1]]), [{ stations: [0, 1, 2], isOdd: true }]); // prettier-ignore
    assert.deepEqual(find(4, [[1, 0], [2, 1], [3, 2], [3, 0]]), [{ stations: [0, 1, 2, 3], isOdd: false }]); // prettier-ignore
    assert.deepEqual(find(4, [[1, 0], [2, 1], [3, 2]]), [{ stations: [0, 1, 2, 3], isOdd: false }]); // prettier-ignore
    assert.deepEqual(find(4, [[1, 0], [2, 1], [3, 2], [0, 0]]), [{ stations: [0, 1, 2, 3], isOdd: true }]); // prettier-ignore
    const apart = find(6, [[1, 0], [5, 3], [5, 4], [4, 3]]); // prettier-ignore
    assert.deepEqual(apart, [
      { stations: [0, 1], isOdd: false },
      { stations: [2], isOdd: false },
      { stations: [3, 4, 5], isOdd: true },
    ]);
    assert.deepEqual(mainGroup(apart)?.stations, [3, 4, 5]);
    assert.equal(mainGroup([]), undefined);
  });

  it('of random pairs: all but a phase is determined, and a size where no loop is odd', () => {
    const random = randomStream(8, 'pairs');
    const seen = { odd: 0, even: 0, several: 0 };
    for (let n = 0; n < 300; n++) {
      const stations = 3 + random.below(6);
      const part = 0.15 + 0.5 * random.uniform();
      const pairs: Pair[] = [];
      for (let i = 0; i < stations; i++)
        for (let j = 0; j <= i; j++) if (random.uniform() < (i === j ? part / 10 : part)) pairs.push([i, j]);
      const groups = find(stations, pairs);
      const open = groups.reduce((sum, { isOdd }) => sum + (isOdd ? 1 : 2), 0);
      assert.equal(rankOf(stations, pairs), 2 * stations - open, JSON.stringify(pairs));
      assert.deepEqual(groups.flatMap((group) => group.stations).sort((a, b) => a - b), Array.from({ length: stations }, (_, s) => s)); // prettier-ignore
      if (groups.length > 1) seen.several++;
      else if (groups[0].isOdd) seen.odd++;
      else seen.even++;
    }
    assert.ok(seen.odd > 20 && seen.even > 20 && seen.several > 20, JSON.stringify(seen));
  });
});
