import assert from 'node:assert/strict';
import { it } from 'node:test';
import { header } from '../../formats/visibilities/uvh5/testing.js';
import { orientationLines } from './flag-lines.js';

it('feeds whose orientation nobody says are told, and no others', () => {
  const unknown = { ...header, polarisations: 2, xOrientation: 'unknown' } as const;
  assert.match(
    orientationLines(unknown).join(),
    /nothing says where X points: .* Q and V have the other sign/,
  );
  assert.deepEqual(orientationLines({ ...unknown, xOrientation: 'east' }), []);
  assert.deepEqual(orientationLines({ ...unknown, feeds: 'circular' }), []);
  assert.deepEqual(orientationLines({ ...unknown, polarisations: 1 }), []);
});
