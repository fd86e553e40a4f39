/** Gains solved from the data, in a file. The fields of an observation. */
import { z } from 'zod';
import {
  field,
  flagged,
  outputPath,
  real,
  requiredField,
  timeS,
  whole,
  withForm,
  words,
} from '../fields/index.js';
import { channelsField, feedsField, modelSources, solvingFields } from './solving.js';

const group = 'Gains';

const outlierFactor = withForm(
  z.number().refine((factor) => factor === 0 || factor > 1, 'is not a factor'),
  { words: 'a number above 1, like 4, or 0 to keep all inputs' },
);

const jsonPath = withForm(
  outputPath.refine((path) => /\.json$/i.test(path), 'is not a name for JSON'),
  { words: 'the path of a file to write, ending in .json' },
).nullable();

export const gains = z.strictObject({
  gains: requiredField(jsonPath, {
    flag: '-o, --out <path>',
    group,
    changes: 'cut',
    help: 'gains to write as JSON; CalH5 is written beside it',
  }),
  sources: field(modelSources, {
    flag: '--sources <list>',
    group,
    changes: 'cut',
    default: 'all',
    help: 'sources: all, or names like CygA,Sun; also NAME:RA_DEG:DEC_DEG:FLUX_JY[:INDEX], NAME@ALT_DEG:AZ_DEG:FLUX_JY, or the file of a sky model (WSClean, BBS, hyperdrive, skyh5; CSV or FITS like GLEAM’s)',
  }),
  every: field(timeS, {
    flag: '--solve-every <time>',
    group,
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'a solution this often, like 10s; they are interpolated where they are applied',
    otherwise: 'one solution',
  }),
  integration: field(timeS, {
    group,
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'of recordings and live data: length of the integrations that are summed for a solution',
    otherwise: 'as that of visibilities',
  }),
  align: field(z.enum(['first-sample', 'utc']), {
    group,
    changes: 'cut',
    help: 'of recordings and live data: where integrations are cut, counted from the first sample or on the boundaries of UTC',
    otherwise: 'first-sample for a recording, utc live',
  }),
  'van-vleck': field(flagged, {
    group,
    changes: 'cut',
    default: false,
    help: 'of recordings and live data: correct powers and correlations for the rounding to 8 or 4 bits',
  }),
  'min-altitude': field(real, {
    flag: '--min-altitude <degrees>',
    group,
    changes: 'cut',
    unit: 'degrees',
    range: { least: -90, most: 90 },
    default: 5,
    help: 'leave lower sources out of the model',
  }),
  ...solvingFields(group),
  over: field(z.enum(['channel', 'band', 'delay']), {
    flag: '--over <what>',
    group,
    changes: 'cut',
    default: 'channel',
    help: 'a gain for each channel, one for the whole band, or an amplitude, a delay and a phase for each input',
  }),
  polarisation: field(z.enum(['each', 'full']), {
    flag: '--polarisation <which>',
    group,
    changes: 'never',
    default: 'each',
    help: 'each: a gain for each input; full: a 2 × 2 matrix for each station, with the leakage between X and Y',
  }),
  channels: channelsField(group),
  feeds: feedsField(group, 'what the telescope and the file state'),
  polarise: field(z.array(words('NAME:Q:U:V, like CygA:0.1:0:0')), {
    flag: '--polarise <NAME:Q:U:V>',
    group,
    changes: 'cut',
    help: 'Stokes fractions of a source, −1 to 1; may be repeated',
    otherwise: 'unpolarised',
  }),
  'cross-hand': field(
    words('model, v-zero:u-positive, v-zero:u-negative, an angle like 42deg, or a file of gains'),
    {
      flag: '--cross-hand <how>',
      group,
      changes: 'cut',
      help: 'how the phase between X and Y is found: model, v-zero:u-positive, v-zero:u-negative, an angle like 42deg, or an earlier file of gains',
      otherwise: 'by the model where it is polarised, else unknown',
    },
  ),
  tolerance: field(real, {
    flag: '--convergence <change>',
    group,
    changes: 'cut',
    range: { above: 0 },
    default: 1e-8,
    help: 'converged when the gains change by a smaller fraction',
  }),
  'most-iterations': field(whole, {
    flag: '--most-iterations <number>',
    group,
    changes: 'cut',
    range: { least: 1 },
    default: 500,
    help: 'give up after this many iterations; what has not converged has no gains',
  }),
  iterations: field(whole, {
    flag: '--iterations <number>',
    group,
    changes: 'cut',
    range: { least: 1 },
    help: 'exactly this many iterations instead',
    otherwise: 'until it converges',
  }),
  reference: field(words('the name or number of a station'), {
    flag: '--reference <station>',
    group,
    changes: 'cut',
    help: 'the station whose phase is zero, by number or name',
    otherwise: 'the first good one',
  }),
  'accept-model': field(flagged, {
    flag: '--accept-model',
    group,
    changes: 'cut',
    default: false,
    help: 'write the gains although the model explains little of the sky',
  }),
  odd: field(outlierFactor, {
    flag: '--odd <factor>',
    group,
    changes: 'cut',
    default: 4,
    help: 'leave out inputs whose power or gain differs from the median by this factor; 0 keeps all',
  }),
  'delays-out': field(words('the path of a file to write'), {
    flag: '--delays-out <path>',
    group,
    changes: 'never',
    help: 'with over: delay, also write cable lengths against the reference, as a file of fixed delays',
    otherwise: 'none',
  }),
});
