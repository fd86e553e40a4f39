/** The report as JSON, and the differences from an earlier one. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { refuse } from '../../core/errors.js';
import { issueWords } from '../../core/schema-words.js';
import { figureText, missed, type Qualification } from '../qualification.js';

const VERSION = 1;

const reportSchema = z.object({
  report: z.literal('corella qualification'),
  reportVersion: z.literal(VERSION),
  version: z.string(),
  madeUtc: z.string(),
  figures: z.array(
    z.object({
      name: z.string(),
      checks: z.array(
        z.object({
          what: z.string(),
          measured: z.number().nullable(),
          unit: z.string(),
          result: z.enum(['pass', 'fail', 'reported']),
        }),
      ),
    }),
  ),
});
type EarlierReport = z.infer<typeof reportSchema>;

/** Everything except the pictures. */
export const reportJson = (qualification: Qualification): Record<string, unknown> => ({
  report: 'corella qualification',
  reportVersion: VERSION,
  passed: missed(qualification).length === 0,
  ...qualification,
  figures: qualification.figures.map(({ name, title, seconds, failure, checks, remarks, tables }) => ({
    name,
    title,
    seconds,
    checks,
    failure,
    remarks,
    tables,
  })),
});

export async function readReport(path: string): Promise<EarlierReport> {
  const text = await readFile(path, 'utf8').catch(() =>
    refuse(path, 'cannot be read', 'give the report.json of an earlier run'),
  );
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    refuse(path, 'is not JSON', 'give the report.json of an earlier run');
  }
  const { success, data, error } = reportSchema.safeParse(json);
  if (success) return data;
  const [issue] = error.issues;
  const what = issue.path.length === 0 ? 'its content' : issue.path.join('.');
  return refuse(
    path,
    `is no report of ours: ${what} ${issueWords(issue, json)}`,
    'give the report.json of an earlier run',
  );
}

export interface Moved {
  readonly figure: string;
  readonly what: string;
  readonly unit: string;
  readonly before: string;
  readonly now: string;
  readonly worse: boolean;
}

/** Measurements in both reports that differ, and results that changed. Small fluctuations are not reported. */
export function movedSince(earlier: EarlierReport, now: Qualification): readonly Moved[] {
  const known = new Map(
    earlier.figures.flatMap(({ name, checks }) => checks.map((check) => [`${name}\0${check.what}`, check])),
  );
  return now.figures.flatMap(({ name, checks }) =>
    checks.flatMap((check): Moved[] => {
      const before = known.get(`${name}\0${check.what}`);
      if (!before) return [];
      const value = before.measured ?? NaN;
      const near =
        Math.abs(check.measured - value) <= WANDER * Math.max(Math.abs(value), Math.abs(check.measured));
      if (near && before.result === check.result) return [];
      return [
        {
          figure: name,
          what: check.what,
          unit: check.unit,
          before: figureText(value),
          now: figureText(check.measured),
          worse: check.result === 'fail' && before.result !== 'fail',
        },
      ];
    }),
  );
}

/** Seeds are fixed, so larger differences have a cause (except rates, which depend on the load of the machine). */
const WANDER = 0.01;
