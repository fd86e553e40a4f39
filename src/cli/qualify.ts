/** corella qualify: every performance figure of the instrument, measured on this machine, as a report. */
import type { Command } from 'commander';
import { figureNames } from '../qualify/index.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { variant, field, inputPath } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { computing, given, outFolder, overwrite } from './options/shared.js';
import { whenRun } from './options/command.js';

const changes = 'never';
const qualifyOptions = z.strictObject({
  out: variant(outFolder, { default: 'qualification' }),
  quick: field(given, {
    flag: '--quick',
    changes,
    help: 'a minute on two cores: fewer cases, larger errors',
  }),
  figures: field(
    z.string().transform((text) => text.split(',')),
    {
      flag: '--figures <names>',
      changes,
      otherwise: 'all',
      help: `measure only these: ${figureNames.join(', ')}`,
    },
  ),
  live: field(given, {
    flag: '--live',
    changes,
    help: 'also an observation by loopback in real time; the machine should do nothing else',
  }),
  compare: field(inputPath, {
    flag: '--compare <report.json>',
    changes,
    help: 'show what changed since an earlier report',
  }),
  overwrite,
  ...computing,
});
export type QualifyOptions = Options<typeof qualifyOptions>;

export function registerQualify(program: Command): void {
  const command = addFields(program.command('qualify'), qualifyOptions).action(
    whenRun(async () => (await import('./actions/qualify.js')).run),
  );
  addHelp(command, {
    common: ['--out', '--quick', '--live', '--compare', '--overwrite', '--backend', '--json'],
    examples: [
      ['qualify --quick', 'all figures, quickly; the report in qualification/report.html'],
      ['qualify --backend cuda -o report-h200', 'the full run on a card'],
      ['qualify --live -o report', 'with packets by loopback in real time'],
      ['qualify --figures tone,shape,noise', 'three figures alone'],
      ['qualify --compare old/report.json -o new', 'the full run, and what moved since'],
    ],
  });
}
