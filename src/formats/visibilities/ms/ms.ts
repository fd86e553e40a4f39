/** Measurement Sets: folders of casacore tables, the format of CASA and WSClean. */
import { refuse } from '../../../core/errors.js';
import type { Format } from '../../format.js';
import { openMs } from './read.js';
import { createMs } from './write.js';

export const ms: Format = {
  name: 'ms',
  title: 'Measurement Set',
  extensions: ['.ms'],
  kinds: [{ title: 'Measurement Sets', holds: 'visibilities', reads: ['column', 'uvw', 'target'] }],
  recognise: () => false,
  open: (path, options) => openMs(path, options),
  createVisibilities: (path, header, { values = 'means', appears = 'finished' } = {}) => {
    if (values === 'sums') refuse(path, 'a Measurement Set holds means, no whole sums', 'write UVH5');
    if (appears !== 'finished')
      refuse(path, 'a Measurement Set appears when it is finished', 'write UVH5 or UVFITS to watch it grow');
    return createMs(path, header);
  },
  repair: (path) => refuse(path, 'is a Measurement Set that was not finished', 'convert it again'),
};
