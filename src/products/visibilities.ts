/** Visibilities in a file. The fields of an observation. */
import { z } from 'zod';
import {
  baselineList,
  field,
  flagged,
  nameList,
  place,
  productPath,
  requiredField,
  timeS,
  whole,
} from '../fields/index.js';
import { channelsField } from './solving.js';

const group = 'Visibilities';

export const visibilities = z.strictObject({
  visibilities: requiredField(productPath, {
    flag: '-o, --out <path>',
    group,
    changes: 'cut',
    help: 'visibilities to write: .uvfits, .uvh5 or .ms',
  }),
  integration: field(timeS, {
    flag: '--integration <time>',
    group,
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
  channels: channelsField(group, { flag: '--keep-channels <list>' }),
  calibrated: field(flagged, {
    group,
    of: 'visibilities',
    changes: 'never',
    default: false,
    help: 'divide by the gains (gains.file): visibilities in Jy, flagged where there are no gains',
  }),
  antennas: field(nameList, {
    flag: '--antennas <list>',
    group,
    of: 'visibilities',
    changes: 'never',
    help: 'write only pairs of these antennas, by name',
    otherwise: 'all',
  }),
  baselines: field(baselineList, {
    flag: '--baselines <list>',
    group,
    of: 'visibilities',
    changes: 'never',
    help: 'write only these pairs of antennas, by name: stand1&stand17,stand2&stand2',
    otherwise: 'all',
  }),
  products: field(nameList, {
    flag: '--products <list>',
    group,
    of: 'visibilities',
    changes: 'never',
    help: 'write only these polarisation products, like XX,YY',
    otherwise: 'all',
  }),
  'average-time': field(timeS, {
    flag: '--average-time <s>',
    group,
    of: 'visibilities',
    changes: 'never',
    unit: 's',
    range: { above: 0 },
    help: 'means over this many seconds, with fringes stopped at the phase centre',
    otherwise: 'none',
  }),
  'average-channels': field(whole, {
    flag: '--average-channels <number>',
    group,
    of: 'visibilities',
    changes: 'never',
    range: { least: 1 },
    help: 'means over this many neighbouring channels',
    otherwise: 'none',
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
