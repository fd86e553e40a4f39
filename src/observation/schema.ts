/** An observation: everything that a user can request, as plain data. */
import { z } from 'zod';
import { field, flagged, inputPath, requiredField, timeS, utc, whole, words } from '../fields/index.js';
import { productFields } from '../products/index.js';
import { flags } from './parts/flags.js';
import { front } from './parts/front.js';
import { gains } from './parts/gains.js';
import { machine } from './parts/machine.js';
import { page } from './parts/page.js';
import { source } from './parts/source.js';

/** Increased when files of an older version would change their meaning. Older versions stay readable. */
export const OBSERVATION_VERSION = 1;

/** A product of the registry, identified by its own key. */
export const product = z.union(Object.values(productFields));

export const observation = z.strictObject({
  corella: requiredField(z.literal(OBSERVATION_VERSION), {
    changes: 'never',
    help: 'version of this description: 1',
  }),
  source: requiredField(source, { changes: 'never', help: 'where the data come from' }),
  telescope: field(words('the name of a telescope, the path of a description, or none'), {
    flag: '--telescope <name>',
    group: 'Source',
    changes: 'never',
    help: 'the telescope, by name (lwasv, eda2, mwa128 …) or by a file; a description (JSON), positions (CSV) or an SSMIF; none: positions are unknown (a laboratory, a single dish)',
    otherwise: 'the one that the data name',
  }),
  stations: field(whole, {
    flag: '--stations <number>',
    group: 'Source',
    changes: 'never',
    range: { least: 1 },
    help: 'use only this many stations of the telescope; spread evenly over its list',
    otherwise: 'all',
  }),
  start: field(utc, {
    group: 'Source',
    changes: 'never',
    help: 'live: process data from this time on',
    otherwise: 'at once',
  }),
  end: field(utc, {
    group: 'Source',
    changes: 'cut',
    help: 'live: end at this time',
    otherwise: 'never',
  }),
  for: field(timeS, {
    flag: '--for <time>',
    group: 'Source',
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'end after this long, like 60s or 8h; live: even if nothing has arrived',
    otherwise: 'never',
  }),
  eop: field(inputPath, {
    flag: '--eop <path>',
    group: 'Running',
    changes: 'never',
    help: 'orientation of the Earth: a finals2000A or EOP C04 file of the IERS, newer than the one built in',
    otherwise: 'built in',
  }),
  orbits: field(inputPath, {
    flag: '--orbits <path>',
    group: 'Running',
    changes: 'never',
    help: 'orbits of satellites, which are then known by name: two-line elements (TLE), or OMM as JSON, CSV, KVN or XML, of about the time of the data',
    otherwise: 'none',
  }),
  'old-orbits': field(flagged, {
    flag: '--old-orbits',
    group: 'Running',
    changes: 'never',
    default: false,
    help: 'use orbits of any age; by default those more than 14 days from the data (orbits below 2,000 km), or 180 days, are refused',
  }),
  front: field(front, { changes: 'never', help: 'how samples become spectra' }),
  flags: field(flags, { changes: 'spectrum', help: 'what is left out' }),
  gains: field(gains, {
    changes: 'spectrum',
    help: 'gains that calibrate images: a file, or solved while running',
  }),
  products: requiredField(z.array(product).min(1), { changes: 'cut', help: 'what is made' }),
  overwrite: field(flagged, {
    flag: '--overwrite',
    group: 'Running',
    changes: 'never',
    default: false,
    help: 'replace files that exist already',
  }),
  page: field(page, { changes: 'never', help: 'live: the page in a browser; false for none' }),
  log: field(inputPath, {
    group: 'Running',
    changes: 'never',
    help: 'changes to make at the spectra where an earlier run was changed: the log that was written beside its products',
    otherwise: 'none',
  }),
  machine: field(machine, { changes: 'never', help: 'where it is computed' }),
});

/** A checked observation: quantities are numbers in SI units (angles in degrees); omitted fields are absent. */
export type Observation = z.output<typeof observation>;
/** An observation as written: "40ms" or 0.04. */
export type ObservationInput = z.input<typeof observation>;

/** Sky models that an observation names: lists of sources, or files. */
export const skyModelsOf = ({ gains, products }: Observation): readonly string[] => [
  ...(gains?.solve === undefined ? [] : [gains.solve]),
  ...products.flatMap((one) => ('sources' in one && one.sources !== undefined ? [one.sources] : [])),
];
