/** corella qualify: every performance figure of the instrument, measured on this machine, as a report. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { openBackend } from '../backend/select.js';
import { makeFolder, writeFileWhole } from '../formats/index.js';
import {
  checkLine,
  figureNames,
  missed,
  movedSince,
  qualify,
  readReport,
  reportHtml,
  reportJson,
  type Moved,
  type QualifiedFigure,
} from '../qualify/index.js';
import { threadsOf } from './options/command.js';
import { checkOutputs } from './options/outputs.js';
import { NotPassed } from './report/outcome.js';
import { openTerminal } from './report/terminal.js';
import { version } from '../core/program/version.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { again, field, inputPath } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { computing, given, outFolder, overwrite } from './options/shared.js';

const changes = 'never';
const qualifyOptions = z.strictObject({
  out: again(outFolder, { default: 'qualification' }),
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
      help: `measure only these: ${figureNames().join(', ')}`,
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
type QualifyOptions = Options<typeof qualifyOptions>;

export function registerQualify(program: Command): void {
  const command = addFields(program.command('qualify'), qualifyOptions).action(run);
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

async function run(options: QualifyOptions): Promise<void> {
  const terminal = openTerminal(options);
  const paths = { html: join(options.out, 'report.html'), json: join(options.out, 'report.json') };
  const earlier = options.compare === undefined ? undefined : await readReport(options.compare);
  await makeFolder(options.out);
  await checkOutputs({ paths: Object.values(paths), ...(options.overwrite && { overwrite: true }) });
  const backend = await openBackend(options.backend, threadsOf(options));
  try {
    terminal.say(`backend ${backend.kind}: ${backend.description}`);
    const stage = terminal.stage('qualify');
    const made = await qualify({
      backend,
      quick: options.quick === true,
      version: version(),
      ...(options.figures && { only: options.figures }),
      ...(options.live && { live: true }),
      onStep: stage.at,
    });
    stage.done();
    const moved = earlier ? movedSince(earlier, made) : [];
    const json = {
      ...reportJson(made),
      ...(earlier && { movedSince: { version: earlier.version, madeUtc: earlier.madeUtc, moved } }),
    };
    await writeFileWhole(paths.json, `${JSON.stringify(json, null, 2)}\n`);
    await writeFileWhole(paths.html, await reportHtml(made, moved));
    terminal.result({ ...json, paths }, [
      ...made.figures.map(figureLine),
      ...movedLines(moved, earlier !== undefined),
      '',
      `report: ${paths.html}, ${paths.json}`,
    ]);
    const lines = missed(made);
    if (lines.length > 0) throw new NotPassed(lines);
  } finally {
    await backend.close();
  }
}

function figureLine({ name, checks, failure }: QualifiedFigure): string {
  const judged = checks.filter(({ verdict }) => verdict !== 'reported');
  const bad = checks.filter(({ verdict }) => verdict === 'fail');
  if (failure !== undefined) return `✗ ${name.padEnd(15)} could not be measured: ${failure}`;
  if (bad.length > 0) return `✗ ${name.padEnd(15)} ${bad.map(checkLine).join('; ')}`;
  return judged.length === 0
    ? `· ${name.padEnd(15)} reported`
    : `✓ ${name.padEnd(15)} ${judged.length} ${judged.length === 1 ? 'threshold' : 'thresholds'} kept`;
}

const movedLines = (moved: readonly Moved[], compared: boolean): string[] =>
  compared
    ? [
        '',
        moved.length === 0 ? 'nothing moved since the earlier report' : 'moved since the earlier report:',
        ...moved.map(
          ({ figure, what, before, now, unit }) => `  ${figure}: ${what}: ${before} → ${now} ${unit}`,
        ),
      ]
    : [];
