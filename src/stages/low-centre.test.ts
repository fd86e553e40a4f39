import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { parsePhaseCentre } from '../sky/phase-centre.js';
import { lowCentre } from './low-centre.js';

it('a centre below the horizon gives a warning, all or part of the time', () => {
  const site = { latitudeDeg: 34.35, longitudeDeg: -106.89, heightM: 1475 };
  const said = (name: string, durationS: number) =>
    lowCentre('front.delays.track', parsePhaseCentre(name, 'a test'), site, {
      start: parseInstant('2026-06-21T04:00:00Z'),
      durationS,
    });
  // Cyg A rises in the north-east, from 15° to 80° seven hours later; For A is in the other half of the sky.
  assert.deepEqual(said('CygA', 60), []);
  assert.deepEqual(said('zenith', 86_400), []);
  const [never] = said('ForA', 60);
  assert.deepEqual([never.code, never.severity], ['sky.centre-below-horizon', 'warning']);
  assert.match(never.text, /^front\.delays\.track: For A is below the horizon, at an altitude of −\d+\.\d°$/);
  assert.match(
    said('ForA', 86_400)[0].text,
    /For A is below the horizon for part of the data, down to an altitude of −/,
  );
  assert.match(said('ForA', Infinity)[0].text, /For A is below the horizon, at/);
});
