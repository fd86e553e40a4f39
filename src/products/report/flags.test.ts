import assert from 'node:assert/strict';
import { it } from 'node:test';
import { header } from '../../formats/visibilities/uvh5/testing.js';
import { orientationLines } from './flags.js';

it('feeds of unknown orientation are reported, and no others', () => {
  const unknown = { ...header, polarisations: 2, xOrientation: 'unknown' } as const;
  assert.deepEqual(
    orientationLines(unknown).map(({ code }) => code),
    ['feeds.orientation-unknown'],
  );
  assert.deepEqual(orientationLines({ ...unknown, xOrientation: 'east' }), []);
  assert.deepEqual(orientationLines({ ...unknown, feeds: 'circular' }), []);
  assert.deepEqual(orientationLines({ ...unknown, polarisations: 1 }), []);
});
