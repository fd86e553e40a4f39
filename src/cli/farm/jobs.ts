/** Options of all submissions to a farm. */
import { z } from 'zod';
import type { CommonOptions } from '../options/command.js';
import { variant, field, timeS, whole, withForm, words } from '../../fields/index.js';
import type { Options } from '../options/own.js';
import { access, timeout, root } from '../options/shared.js';

const group = 'The farm';
const changes = 'never';

/** The options of every submission. */
export const farmFields = z.strictObject({
  farm: field(words('the name of a folder'), {
    flag: '--farm <folder>',
    group,
    changes,
    otherwise: 'the name of the output with .farm',
    help: 'folder for the plan, the results and the ledger',
  }),
  jobTime: field(timeS, {
    flag: '--job-time <time>',
    group,
    changes,
    unit: 's',
    range: { above: 0 },
    help: 'length of a job',
    otherwise: '256 MiB of the recording',
  }),
  jobChannels: field(whole, {
    flag: '--job-channels <number>',
    group,
    changes,
    range: { least: 1 },
    help: 'most channels of a job',
    otherwise: 'results below 64 MiB',
  }),
  root: field(words('a folder'), { ...root, group }),
  verify: field(
    withForm(
      z
        .string()
        .regex(/^\s*1\/[1-9]\d{0,5}\s*$/)
        .transform((text) => Number(text.split('/')[1])),
      { words: 'a part of all jobs, like 1/10' },
    ),
    {
      flag: '--verify <1/N>',
      group,
      changes,
      help: 'one job in N is done by two workers, and counts when they agree; a worker that differs is reported',
    },
  ),
  timeout: variant(timeout, { group }),
  ...access,
});
export type FarmOptions = Options<typeof farmFields> & CommonOptions;
