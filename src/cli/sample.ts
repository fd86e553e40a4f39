/** corella sample: a small simulated recording, or what is made of one, for trying each page of the documentation. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { refuse } from '../core/errors.js';
import { formatBytes } from '../core/units.js';
import { makeFolder } from '../formats/index.js';
import { addCommonOptions, addExamples, type CommonOptions } from './options/command.js';
import { addOverwriteOption, checkOutputs, parseFolder, type OutputOptions } from './options/outputs.js';
import { openTerminal, type Terminal } from './report/terminal.js';
import { makeSample, stepText } from './sample/make.js';
import { samples } from './sample/recipes.js';

interface SampleOptions extends CommonOptions, OutputOptions {
  readonly list?: true;
  readonly out: string;
}

export function registerSample(program: Command): void {
  const command = program
    .command('sample')
    .argument('[name]', `one of ${samples.map(({ name }) => name).join(', ')}`)
    .option('--list', 'what there is, and which page uses it')
    .option('-o, --out <folder>', 'where to', parseFolder, '.')
    .action(run);
  addOverwriteOption(command);
  addCommonOptions(command);
  addExamples(command, [
    ['sample --list', 'what there is'],
    ['sample station', 'raw voltages of a small station, here'],
    ['sample dishes -o tracking', 'eight dishes over 2 km, into a folder'],
  ]);
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
  const files = await makeSample(sample, options.out, stage.step);
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
