/** corella qualify: every figure of the instrument, measured on this machine, as a report. */
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
import { addBackendOptions, addExamples, threadsOf, type BackendOptions } from './options/command.js';
import { addOverwriteOption, checkOutputs, parseFolder, type OutputOptions } from './options/outputs.js';
import { NotPassed } from './report/outcome.js';
import { openTerminal } from './report/terminal.js';
import { version } from '../core/program/version.js';

interface Options extends BackendOptions, OutputOptions {
  readonly output: string;
  readonly quick?: true;
  readonly only?: readonly string[];
  readonly live?: true;
  readonly compare?: string;
}

export function registerQualify(program: Command): void {
  const command = program
    .command('qualify')
    .option('-o, --output <folder>', 'where report.html and report.json go', parseFolder, 'qualification')
    .option('--quick', 'a minute on two cores: fewer cases, wider errors')
    .option('--only <names>', `some figures alone: ${figureNames().join(', ')}`, (text) => text.split(','))
    .option('--live', 'a night by loopback in real time too; the machine should do nothing else')
    .option('--compare <report.json>', 'what moved since an earlier report');
  addOverwriteOption(command);
  addBackendOptions(command.action(run));
  addExamples(command, [
    ['qualify --quick', 'all figures, quickly; the report in qualification/report.html'],
    ['qualify --backend cuda -o report-h200', 'the full run on a card'],
    ['qualify --live -o report', 'with packets by loopback in real time'],
    ['qualify --only tone,shape,noise', 'three figures alone'],
    ['qualify --compare old/report.json -o new', 'the full run, and what moved since'],
  ]);
}

async function run(options: Options): Promise<void> {
  const terminal = openTerminal(options);
  const paths = { html: join(options.output, 'report.html'), json: join(options.output, 'report.json') };
  const earlier = options.compare === undefined ? undefined : await readReport(options.compare);
  await makeFolder(options.output);
  await checkOutputs({ paths: Object.values(paths), ...(options.overwrite && { overwrite: true }) });
  const backend = await openBackend(options.backend, threadsOf(options));
  try {
    terminal.say(`backend ${backend.kind}: ${backend.description}`);
    const stage = terminal.stage('qualify');
    const made = await qualify({
      backend,
      quick: options.quick === true,
      version: version(),
      ...(options.only && { only: options.only }),
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
  const judged = checks.filter(({ verdict }) => verdict !== 'told');
  const bad = checks.filter(({ verdict }) => verdict === 'fail');
  if (failure !== undefined) return `✗ ${name.padEnd(15)} could not be measured: ${failure}`;
  if (bad.length > 0) return `✗ ${name.padEnd(15)} ${bad.map(checkLine).join('; ')}`;
  return judged.length === 0
    ? `· ${name.padEnd(15)} told`
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
