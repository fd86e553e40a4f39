/** X's direction by the FEED table, without casacore. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Mount } from '../../../telescope/telescope.js';
import { orientationOfSet } from './feeds.js';

const RIGHT = Math.PI / 2;
const found = (
  telescope: string,
  [x, y]: readonly [number, number],
  mount?: Mount,
  keyword = '',
): readonly [string, string] => {
  const { orientation, assumed } = orientationOfSet(keyword, [`X Y ${x} ${y} `], { telescope, mount });
  return [orientation, assumed.join()];
};

it("in the MWA's sets X is east where the angles are a writer's default, and as they say elsewhere", () => {
  for (const [angles, words] of [
    [[0, RIGHT], /Y at 90°, a default: X is east/],
    [[0, 0], /Y at 0°, a default: X is east/],
  ] as const) {
    const [orientation, assumed] = found('MWA', angles, 'altaz');
    assert.equal(orientation, 'east');
    assert.match(assumed, words);
  }
  assert.deepEqual(found('MWA', [RIGHT, 0]), ['east', '']);
  assert.deepEqual(found('MWA', [0, RIGHT], undefined, 'north'), ['north', '']);
  assert.equal(found('MWA', [-RIGHT, -RIGHT])[0], 'east');
});

it("importers' default of 0 and 90 degrees says nothing of dipoles on the ground, and is believed of dishes", () => {
  const [orientation, assumed] = found('OVRO_MMA', [0, RIGHT], 'fixed');
  assert.equal(orientation, 'unknown');
  assert.match(assumed, /X and Y stay as they are; `feeds` fixed states that X is east/);
  assert.deepEqual(found('VLA', [0, RIGHT], 'altaz'), ['north', '']);
  assert.deepEqual(found('OVRO_MMA', [0, 0], 'fixed'), ['unknown', '']);
  assert.deepEqual(found('OVRO_MMA', [RIGHT, 0], 'fixed'), ['east', '']);
});
