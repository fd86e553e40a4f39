/** Fields that several products share, and those of solving gains: the model of the sky and of the stations. */
import { channelList, field, withForm, words } from '../fields/index.js';
import { mounts } from '../telescope/telescope.js';
import { z } from 'zod';

/** In metres, or in wavelengths at the centre of the band. */
const baselineLength = withForm(
  z
    .union([z.number().nonnegative(), z.string()])
    .transform(String)
    .refine(
      (text) => /^\s*(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*(?:m|wl|λ)?\s*$/i.test(text),
      'is not a length',
    ),
  { words: 'a length in metres or wavelengths, like 12m or 5wl' },
);

export const elementField = (group: string, changes: 'cut' | 'never') =>
  field(words('the name of a beam, or STATION=BEAM,*=BEAM'), {
    flag: '--element <beam>',
    group,
    changes,
    help: 'beam of a station: cosine:EXPONENT, airy:DIAMETER_M, mwa-dipole, none, the path of a CSV; STATION=BEAM,*=BEAM where stations differ',
    otherwise: "the one in the telescope's description",
  });

export const feedsField = (group: string, otherwise: string) =>
  field(z.enum([...mounts, 'corrected']), {
    flag: '--feeds <kind>',
    group,
    changes: 'never',
    help: 'mount of the feeds, altaz, equatorial or fixed, where the data are not corrected for its rotation; or corrected, where they are',
    otherwise,
  });

/** `flag` where it is an option of a command of its own. */
export const channelsField = (group: string, named: { readonly flag?: string } = {}) =>
  field(channelList, {
    ...named,
    group,
    changes: 'never',
    help: 'use only these channels, like 10-20,30; by number from 0, or by frequency, 151MHz..152MHz',
    otherwise: 'all',
  });

export const solvingFields = (group: string) => ({
  'min-baseline': field(baselineLength, {
    flag: '--min-baseline <length>',
    group,
    changes: 'cut',
    help: 'leave shorter baselines out, like 12m or 5wl (wavelengths); they see diffuse emission that a model of points lacks',
    otherwise: '2wl for large arrays that see the whole sky',
  }),
  element: elementField(group, 'cut'),
  diffuse: field(words('galaxy, or the path of a CSV'), {
    flag: '--diffuse <sky>',
    group,
    changes: 'cut',
    help: 'diffuse emission behind the sources: galaxy, a smooth formula, or the CSV of a map (temperature_k with ra_deg, dec_deg or l_deg, b_deg)',
    otherwise: 'none',
  }),
});

export const modelSources = words(
  'all, names and positions of sources separated by commas, or the file of a sky model',
);
