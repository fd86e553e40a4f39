/** Visibilities in a file: what an observation says of them. */
import { z } from 'zod';
import { channelList, field, flagged, place, productPath, requiredField, timeS } from '../fields/index.js';

const group = 'Visibilities';

export const visibilities = z.strictObject({
  visibilities: requiredField(productPath, {
    flag: '-o, --out <path>',
    group,
    common: true,
    changes: 'cut',
    help: 'visibilities to write: .uvfits, .uvh5 or .ms',
  }),
  integration: field(timeS, {
    flag: '--integration <time>',
    group,
    common: true,
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'length of each integration, like 40ms',
    otherwise:
      'of a recording the longest that loses at most 1 % of the amplitude; live 1s, or the length of an image',
  }),
  align: field(z.enum(['first-sample', 'utc']), {
    flag: '--align <clock>',
    group,
    changes: 'cut',
    help: 'where integrations are cut: counted from the first sample, or on the boundaries of UTC',
    otherwise: 'first-sample for a recording, utc live',
  }),
  values: field(z.enum(['means', 'sums']), {
    flag: '--values <kind>',
    group,
    changes: 'cut',
    default: 'means',
    help: 'means, or sums: whole numbers, bit for bit as they were summed, with fringes running (.uvh5 only)',
  }),
  'van-vleck': field(flagged, {
    flag: '--van-vleck',
    group,
    changes: 'cut',
    default: false,
    help: 'correct powers and correlations for the rounding to 8 or 4 bits',
  }),
  'phase-centre': field(place, {
    flag: '--phase-centre <place>',
    group,
    changes: 'never',
    help: 'where fringes are stopped in the file: a source, "RA Dec", Sun, or zenith',
    otherwise: 'the tracked source, or the zenith',
  }),
  channels: field(channelList, {
    flag: '--keep-channels <list>',
    group,
    changes: 'never',
    help: 'write only these channels, by number from 0, 10-20,30, or by frequency, 151MHz..152MHz',
    otherwise: 'all',
  }),
  'file-every': field(timeS, {
    flag: '--file-every <time>',
    group,
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'start a new file this often, with its start time in its name',
    otherwise: 'one file',
  }),
});
