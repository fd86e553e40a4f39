/** What corella sample does, loaded when it runs. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CorellaError, refuse } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import { makeFolder, checkOutputs } from '../../formats/index.js';
import { openTerminal, type Terminal } from '../report/terminal.js';
import { makeSample, stepText } from '../../skies/index.js';
import { history } from '../report/history.js';
import { samples } from '../sample/recipes.js';
import type { SampleOptions } from '../sample.js';

export async function run(name: string | undefined, options: SampleOptions): Promise<void> {
  const terminal = openTerminal(options);
  if (options.list === true) {
    list(terminal);
    return;
  }
  const advice = `choose ${samples.map((known) => known.name).join(', ')}; --list describes each`;
  if (name === undefined) refuse('sample', 'no name was given', advice);
  const sample =
    samples.find((known) => known.name === name) ?? refuse('sample', `there is no '${name}'`, advice);
  await makeFolder(options.out);
  await checkOutputs({ ...options, paths: sample.files.map((file) => join(options.out, file)) });
  const stage = terminal.stage(`sample ${sample.name}`);
  const files = await makeSample(sample, options.out, {
    command: runCommand,
    history: history(),
    onStep: stage.step,
  });
  const seconds = stage.done();
  const made = sample.steps.map(stepText);
  terminal.result({ sample: sample.name, what: sample.what, page: sample.page, files, made, seconds }, [
    `${sample.what} (simulated)`,
    ...files.map(({ path, sizeBytes }) => `  ${path}, ${formatBytes(sizeBytes)}`),
    'made by',
    ...made.map((line) => `  ${line}`),
    `for ${sample.page}; next:`,
    `  corella ${sample.next}`,
  ]);
}

function list(terminal: Terminal): void {
  const width = Math.max(...samples.map(({ name }) => name.length));
  terminal.result(
    { samples: samples.map(({ name, what, page, files }) => ({ name, what, page, files })) },
    samples.flatMap(({ name, what, page }) => [
      `${name.padEnd(width)}  ${what}`,
      `${' '.repeat(width)}  ${page}`,
    ]),
  );
}

const main = fileURLToPath(new URL('../main.js', import.meta.url));

/** In a separate process, as if typed: the history in the files then shows how they were made. */
function runCommand(words: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...words, '--quiet'], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (data: Buffer) => (said += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else
        reject(
          new CorellaError({
            where: `corella ${words.join(' ')}`,
            what: said.replace(/^corella: /, '').trim(),
          }),
        );
    });
  });
}
