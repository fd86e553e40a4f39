import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSeconds, parseInstant } from '../core/instant.js';
import { localCentre } from '../sky/phase-centre.js';
import { BeamLevels } from './beam-levels.js';
import type { BeamsHead } from './messages.js';

const start = parseInstant('2026-06-21T04:00:00Z');
const targets = ['a', 'b'].map((name) => localCentre(name, { x: 0, y: 0, z: 1 }));
/** [b][d][value][c]: two beams, two planes, two values, three channels. */
const item = (of: readonly ReturnType<typeof localCentre>[], powers: readonly number[]) => ({
  ...({ kind: 'powers', beams: { first: 0, targets: of }, firstValue: 0, values: 2 } as const),
  powers: Float64Array.from(powers),
  counts: new Float64Array(6).fill(1),
});

describe('beams for a page', () => {
  it('are means of the first plane since the last row; other beams begin anew', () => {
    const said: { readonly head: BeamsHead; readonly values: number[] }[] = [];
    const levels = new BeamLevels((head, values) => said.push({ head, values: [...values] }));
    const powers = Array.from({ length: 24 }, (_, n) => n);
    const seen = { item: item(targets, powers), isCoherent: true, planes: 2 };
    levels.take(1, { ...seen, start }, 0);
    assert.equal(said.length, 0);
    levels.take(1, { ...seen, start: addSeconds(start, 1) }, 1000);
    // Values 0 and 1 of plane 0: (0, 1, 2) and (3, 4, 5); 12 more in beam b.
    assert.deepEqual(said[0].values, [1.5, 2.5, 3.5, 13.5, 14.5, 15.5]);
    assert.deepEqual(said[0].head, {
      topic: 'beams',
      shape: [2, 3],
      time: '2026-06-21T04:00:00.000Z',
      product: 1,
      names: ['a', 'b'],
      of: 2,
    });
    const one = [targets[1]];
    levels.take(1, { ...seen, item: item(one, powers.slice(0, 12)), start: addSeconds(start, 2) }, 1100);
    assert.deepEqual(levels.targets, one);
    levels.take(1, { ...seen, item: item(one, powers.slice(0, 12)), start: addSeconds(start, 3) }, 2100);
    assert.deepEqual([said[1].head.time, said[1].values], ['2026-06-21T04:00:02.000Z', [1.5, 2.5, 3.5]]);
  });

  it('of an incoherent sum have no circle', () => {
    const levels = new BeamLevels(() => undefined);
    levels.take(
      0,
      { item: item(targets, new Array<number>(24).fill(0)), isCoherent: false, planes: 2, start },
      0,
    );
    assert.deepEqual(levels.targets, []);
  });
});
