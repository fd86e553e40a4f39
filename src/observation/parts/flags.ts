/** What is left out: inputs, channels, times, pairs of stations, interference. */
import { z } from 'zod';
import {
  baselineList,
  channelList,
  discList,
  field,
  flagged,
  inputList,
  inputPath,
  outputPath,
  real,
  timeList,
  whole,
  withForm,
} from '../../fields/index.js';

const group = 'Flags';
const interference = 'Interference in voltages';

export const flags = z.strictObject({
  inputs: field(inputList, {
    group,
    changes: 'spectrum',
    help: 'inputs by number (12, 30-33), stations by name (stand17), one polarisation of a station ("stand17:Y")',
  }),
  channels: field(channelList, {
    group,
    changes: 'cut',
    help: 'channels by number from 0 (10-20) or by frequency (151MHz..152MHz)',
  }),
  times: field(timeList, {
    group,
    changes: 'cut',
    help: 'time ranges, FROM..TO in UTC; either may be left out',
  }),
  baselines: field(baselineList, { group, changes: 'cut', help: 'pairs of stations (stand1&stand17)' }),
  sky: field(discList, {
    group,
    changes: 'never',
    help: 'the sky round sources, NAME@RADIUS (Sun@2deg, "PRN 13@1deg", satellites@30arcmin): blank in images, at every moment of their data, and left out of models that gains are solved with',
  }),
  file: field(inputPath, {
    flag: '--flags <path>',
    group,
    changes: 'cut',
    help: 'a file of flags (docs/interference.md); flagged data keep their value and weight',
  }),
  interference: field(
    withForm(z.union([flagged, real]), { words: 'true, false or a number of standard deviations' }),
    {
      flag: '--flag-interference [sigma]',
      group,
      of: 'visibilities',
      changes: 'never',
      range: { least: 2, most: 1000 },
      default: false,
      help: 'flag interference, from this many standard deviations on; in time and frequency (SumThreshold); 6 where no number is given',
    },
  ),
  'keep-bursts': field(flagged, {
    flag: '--keep-bursts',
    group,
    of: 'visibilities',
    changes: 'never',
    default: false,
    help: 'with interference: leave short bursts over most of the band on most baselines, which may be of the sky',
  }),
  unflag: field(flagged, {
    flag: '--unflag',
    group,
    of: 'visibilities',
    changes: 'never',
    default: false,
    help: 'use values that are flagged in the file; other flags are applied after that',
  }),
  out: field(outputPath, {
    flag: '--flags-out <path>',
    group,
    of: 'visibilities',
    changes: 'never',
    help: 'write what was flagged as a file of flags',
    otherwise: 'none',
  }),
  kurtosis: field(
    withForm(z.union([flagged, real]), { words: 'true, false or a number of standard deviations' }),
    {
      flag: '--kurtosis [sigmas]',
      group: interference,
      changes: 'cut',
      range: { least: 1, most: 6 },
      default: false,
      help: 'flag interference by its spectral kurtosis; beyond this many standard deviations, 3 where no number is given',
    },
  ),
  'kurtosis-spectra': field(whole, {
    flag: '--kurtosis-spectra <number>',
    group: interference,
    changes: 'cut',
    range: { least: 24 },
    help: 'spectra in each window that is tested',
    otherwise: '256, or what fits',
  }),
  'kurtosis-over': field(z.enum(['each', 'inputs']), {
    flag: '--kurtosis-over <what>',
    group: interference,
    changes: 'cut',
    help: 'test each input by itself, or the mean over all inputs, for weak signals in all of them',
    otherwise: 'each',
  }),
  'kurtosis-bursts': field(z.enum(['keep', 'take']), {
    flag: '--kurtosis-bursts <fate>',
    group: interference,
    changes: 'cut',
    help: 'keep, or flag (take), bursts that most inputs receive in most channels at once: they may be pulses from the sky',
    otherwise: 'keep',
  }),
});
export type FlagsPart = z.output<typeof flags>;
