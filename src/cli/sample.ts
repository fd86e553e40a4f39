/** corella sample: a small simulated recording, or products of one, for the examples of each documentation page. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { CorellaError, refuse } from '../core/errors.js';
import { formatBytes } from '../core/units.js';
import { makeFolder } from '../formats/index.js';
import { checkOutputs } from './options/outputs.js';
import { openTerminal, type Terminal } from './report/terminal.js';
import { makeSample, stepText } from '../skies/index.js';
import { history } from './report/history.js';
import { samples } from './sample/recipes.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { again, field } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { common, given, outFolder, overwrite } from './options/shared.js';

const sampleOptions = z.strictObject({
  list: field(given, {
    flag: '--list',
    changes: 'never',
    help: 'list the samples, and which page uses each',
  }),
  out: again(outFolder, { default: '.' }),
  overwrite,
  ...common,
});
type SampleOptions = Options<typeof sampleOptions>;

export function registerSample(program: Command): void {
  const command = program
    .command('sample')
    .argument('[name]', `one of ${samples.map(({ name }) => name).join(', ')}`);
  addFields(command, sampleOptions).action(run);
  addHelp(command, {
    examples: [
      ['sample --list', 'what there is'],
      ['sample station', 'raw voltages of a small station, here'],
      ['sample dishes -o tracking', 'eight dishes over 2 km, into a folder'],
    ],
  });
}

async function run(name: string | undefined, options: SampleOptions): Promise<void> {
  const terminal = openTerminal(options);
  if (options.list === true) {
    list(terminal);
    return;
  }
  const advice = `choose ${samples.map((known) => known.name).join(', ')}; --list says what each is`;
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

const main = fileURLToPath(new URL('./main.js', import.meta.url));

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
