import assert from 'node:assert/strict';
import { it } from 'node:test';
import { skyPalettes, skyScales } from '../draw/index.js';
import { colourNames, scaleNames } from './images.js';
import { lookOf } from './looks.js';

it('fields of images choose the look of their pictures, by names that drawing knows', () => {
  assert.deepEqual([...colourNames], [...skyPalettes]);
  assert.deepEqual([...scaleNames], Object.keys(skyScales));
  const { range, scale } = lookOf({ images: null, range: '..150', scale: 'sqrt' });
  assert.deepEqual([range, scale], [{ low: undefined, high: 150 }, 'sqrt']);
  assert.deepEqual(lookOf({ images: null, range: '-2 .. 3e2' }).range, { low: -2, high: 300 });
});
