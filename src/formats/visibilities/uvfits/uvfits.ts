/** UVFITS: visibilities as random groups, the format shared by AIPS, CASA, pyuvdata and WSClean's tools. */
import { refuse } from '../../../core/errors.js';
import type { Format } from '../../format.js';
import { repairUvfits } from './repair.js';
import { openUvfits } from './read.js';
import { createUvfits } from './write.js';

export const uvfits: Format = {
  name: 'uvfits',
  title: 'UVFITS',
  extensions: ['.uvfits'],
  grows: true,
  kinds: [{ title: 'UVFITS', holds: 'visibilities', reads: ['uvw', 'target'] }],
  // Only random groups have a first axis of length zero.
  recognise: (_path, head) =>
    /^SIMPLE {2}= +T.*NAXIS1 {2}= +0 /s.test(new TextDecoder('latin1').decode(head.subarray(0, 2880))),
  open: (path, options) => openUvfits(path, options),
  createVisibilities: (path, header, { values = 'means', appears = 'finished' } = {}) =>
    values === 'means'
      ? createUvfits(path, header, appears)
      : refuse(path, 'UVFITS keeps means in floats, not whole sums', 'write sums as .uvh5'),
  repair: repairUvfits,
};
