import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeByTape } from './tape.js';

describe('places by a tape', () => {
  const close = (text: string, x: number, y: number, z: number): void => {
    const place = placeByTape(text, 'test');
    assert.ok(Math.hypot(place.x - x, place.y - y, place.z - z) < 1e-9, `${text}: ${JSON.stringify(place)}`);
  };
  it('by east and north, or by distance and bearing', () => {
    close('3.2 -1.5', 3.2, -1.5, 0);
    close('3.2, −1.5, 0.25', 3.2, -1.5, 0.25);
    close('10@90', 10, 0, 0);
    close('10@180 2', 0, -10, 2);
    close('2m@330°', -1, Math.sqrt(3), 0);
  });
  it('refuses what is none', () => {
    for (const text of ['', '3', 'a b', '1 2 3 4', '5@400', '5@', '1e9 0', '3@20 1 2'])
      assert.throws(() => placeByTape(text, 'test'), /is no place/, text);
  });
});
