/** What corella qualify does, loaded when it runs. */
import { join } from 'node:path';
import { openBackend } from '../../backend/select.js';
import { makeFolder, writeFileWhole, checkOutputs } from '../../formats/index.js';
import {
  checkLine,
  missed,
  movedSince,
  qualify,
  readReport,
  reportHtml,
  reportJson,
  type Moved,
  type QualifiedFigure,
} from '../../qualify/index.js';
import { threadsOf } from '../options/command.js';
import { NotPassed } from '../report/outcome.js';
import { openTerminal } from '../report/terminal.js';
import { version } from '../../core/program/version.js';
import type { QualifyOptions } from '../qualify.js';

export async function run(options: QualifyOptions): Promise<void> {
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
      only: options.figures,
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
  const tested = checks.filter(({ result }) => result !== 'reported');
  const bad = checks.filter(({ result }) => result === 'fail');
  if (failure !== undefined) return `✗ ${name.padEnd(15)} could not be measured: ${failure}`;
  if (bad.length > 0) return `✗ ${name.padEnd(15)} ${bad.map(checkLine).join('; ')}`;
  return tested.length === 0
    ? `· ${name.padEnd(15)} reported`
    : `✓ ${name.padEnd(15)} ${tested.length} ${tested.length === 1 ? 'threshold' : 'thresholds'} kept`;
}

const movedLines = (moved: readonly Moved[], compared: boolean): string[] =>
  compared
    ? [
        '',
        moved.length === 0 ? 'no figure changed since the earlier report' : 'moved since the earlier report:',
        ...moved.map(
          ({ figure, what, before, now, unit }) => `  ${figure}: ${what}: ${before} → ${now} ${unit}`,
        ),
      ]
    : [];
