/** Beams: weighted sums of all stations towards positions on the sky. The fields of an observation. */
import { z } from 'zod';
import {
  angleDeg,
  field,
  productPath,
  real,
  requiredField,
  timeS,
  whole,
  withForm,
  words,
} from '../fields/index.js';

const group = 'Beams';

const target = words('a source, "RA Dec", "az 120 el 45", Sun, Moon, a planet or zenith');
const targets = withForm(z.union([z.array(target).min(1), target.transform((one) => [one])]), {
  words: 'a list of places, like [B0329+54, "19h59m28s +40d44m02s", "az 120 el 45", Sun]',
});
const grid = withForm(
  z.string().refine((value) => /^\s*\d+\s*[x×]\s*\d+\s*$/.test(value), 'is not a grid'),
  { words: 'columns × rows, like 5x3' },
);

const detectionNames = ['I', 'XX,YY', 'IQUV', 'none'] as const;

export const beams = z.strictObject({
  beams: requiredField(productPath, {
    flag: '-o, --out <path>',
    group,
    changes: 'never',
    help: 'beams to write: .fil (SIGPROC filterbank) or .sf (PSRFITS) of powers, .vdif of voltages; several beams have their number in their names',
  }),
  towards: field(targets, {
    flag: '--towards <places>',
    group,
    changes: 'cut',
    help: 'where beams point: sources and pulsars by name, "RA Dec" (J2000), "az 120 el 45" in degrees, Sun, Moon, planets, zenith',
    otherwise: 'the tracked source; needed without one, but not for an incoherent sum',
  }),
  grid: field(grid, {
    flag: '--grid <columns x rows>',
    group,
    changes: 'never',
    help: 'around each place a grid of beams, east by north, like 5x3; its middle is the place',
    otherwise: '1x1',
  }),
  spacing: field(angleDeg, {
    flag: '--spacing <angle>',
    group,
    changes: 'never',
    unit: 'degrees',
    range: { above: 0, most: 30 },
    help: 'between the beams of a grid, on the tangent plane',
    otherwise: 'needed with a grid',
  }),
  sum: field(z.enum(['coherent', 'incoherent']), {
    flag: '--sum <kind>',
    group,
    changes: 'never',
    default: 'coherent',
    help: 'coherent: voltages are added in phase (tied-array); incoherent: powers of stations are added, one beam as wide as an element',
  }),
  detection: field(z.enum(detectionNames), {
    flag: '--detection <kind>',
    group,
    changes: 'never',
    help: 'I, "XX,YY", IQUV, or none: voltages',
    otherwise: 'I; none for .vdif',
  }),
  every: field(timeS, {
    flag: '--every <time>',
    group,
    changes: 'never',
    unit: 's',
    range: { above: 0 },
    help: 'a value this often, like 1ms: powers are averaged over whole spectra',
    otherwise: 'every spectrum',
  }),
  'average-channels': field(whole, {
    flag: '--average-channels <number>',
    group,
    changes: 'never',
    range: { least: 1 },
    default: 1,
    help: 'neighbouring channels that are averaged',
  }),
  bits: field(z.union([z.literal(8), z.literal(16), z.literal(32)]), {
    flag: '--beam-bits <bits>',
    group,
    changes: 'never',
    help: 'of each value: 32 (floats; powers alone), 16 or 8, scaled by the first values',
    otherwise: '32; 8 of voltages',
  }),
  weights: field(z.union([z.literal(8), z.literal('float')]), {
    flag: '--beam-weights <bits>',
    group,
    changes: 'never',
    help: 'of each real and imaginary part of a weight: 8 (sums of integer spectra are exact) or float',
    otherwise: '8, or float where the spectra are floats or there are nulls',
  }),
  taper: field(real, {
    flag: '--beam-taper <metres>',
    group,
    changes: 'never',
    unit: 'm',
    range: { above: 0 },
    help: 'Gaussian weights: half at this distance from the middle of the array; a wider beam with lower sidelobes',
    otherwise: 'equal weights',
  }),
  nulls: field(targets, {
    flag: '--nulls <places>',
    group,
    changes: 'never',
    help: 'places that every beam receives nothing from, given as in towards',
    otherwise: 'none',
  }),
});
