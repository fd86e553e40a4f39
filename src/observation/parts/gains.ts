/** The gains in force: a file, or solved while the observation runs. */
import { z } from 'zod';
import { field, inputPath, timeS } from '../../fields/index.js';
import { modelSources, solvingFields } from '../../products/index.js';

const group = 'Gains';

const fields = z.strictObject({
  file: field(inputPath, {
    flag: '--gains <path>',
    group,
    changes: 'spectrum',
    help: 'calibrate images with these gains, from corella calibrate',
    otherwise: 'none',
  }),
  'cross-hand': field(z.enum(['known']), {
    group,
    changes: 'spectrum',
    help: 'known: X and Y of these gains have one phase reference, whatever their file states',
  }),
  solve: field(modelSources, {
    group,
    changes: 'cut',
    help: 'solve for gains while the observation runs, with this model: all, names of sources, or the file of a sky model',
  }),
  every: field(timeS, {
    group,
    changes: 'cut',
    unit: 's',
    range: { above: 0 },
    help: 'a solution this often, like 10min, of the data of that time',
    otherwise: 'one solution, of the first data; live also when asked on the page',
  }),
  lag: field(timeS, {
    group,
    changes: 'never',
    unit: 's',
    range: { least: 0 },
    default: 0,
    help: 'a solution calibrates data that begin this long after the time it was solved from; with 0 data wait for it, else one that took longer is not used in real time',
  }),
  ...solvingFields(group),
});
/** A bare path is a file of gains. */
export const gains = z.union([fields, inputPath.transform((file): GainsPart => ({ file }))]);
type GainsPart = z.output<typeof fields>;
