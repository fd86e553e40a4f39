/** corella run: an observation file, everything it asks for at once. */
import type { Command } from 'commander';
import { formatBytes, formatSeconds } from '../core/units.js';
import {
  readObservation,
  runObservation,
  sourceKind,
  writeObservation,
  type RunOutcome,
} from '../observation/index.js';
import { addBackendOptions, addExamples, type BackendOptions } from './options/command.js';
import { addOverwriteOption, parseFolder, type OutputOptions } from './options/outputs.js';
import { noteUnknownOrientation } from './options/eop-option.js';
import { reportSkyModels } from './options/sky-options.js';
import { runVisibilities } from '../visibilities/index.js';
import { settingsOf } from './options/shorthand.js';
import {
  lackingIn,
  madeFacts,
  madeLines,
  sourceFacts as madeSourceFacts,
  sourceLines as madeSourceLines,
} from './report/from-visibilities.js';
import { frontFacts, frontLines, productFacts, productLines } from './report/observed.js';
import { PartlyDone } from './report/outcome.js';
import { openTerminal, spectraText } from './report/terminal.js';
import { version } from '../core/program/version.js';

interface RunOptions extends Partial<BackendOptions>, OutputOptions {
  readonly into?: string;
  readonly plan?: true;
}

export function registerRun(program: Command): void {
  const command = program
    .command('run')
    .argument('<observation>', 'what to observe; docs/observation.md has an example')
    .option('--into <folder>', 'where products go (default: this folder)', parseFolder)
    .option('--plan', 'print the observation as it is understood, and open nothing');
  addOverwriteOption(command);
  noteUnknownOrientation(addBackendOptions(command)).action(run);
  addExamples(command, [
    ['run observation.yaml', 'make everything that the file asks for'],
    ['run observation.yaml --into tonight', 'the same, into a folder'],
    ['run observation.yaml --plan', 'the observation with its defaults'],
  ]);
}

/** Exit code where some products were made and others failed. */
const SOME_FAILED = 2;

async function run(path: string, options: RunOptions, command: Command): Promise<void> {
  const { observation: read } = await readObservation(path);
  const given = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  const observation = {
    ...read,
    ...(options.overwrite === true && { overwrite: true }),
    ...((given('backend') || given('threads')) && {
      machine: {
        ...read.machine,
        ...(given('backend') && { backend: options.backend }),
        ...(given('threads') && { threads: options.threads }),
      },
    }),
  };
  const terminal = openTerminal(options);
  if (options.plan === true) {
    process.stdout.write(writeObservation(observation, options.json === true ? 'json' : 'yaml'));
    return;
  }
  const kind = sourceKind(observation.source);
  if (kind === 'capture' || kind === 'listen' || kind === 'stream' || observation.log !== undefined) {
    const { runLiveObservation } = await import('./live.js');
    await runLiveObservation(observation, { json: options.json, quiet: options.quiet, into: options.into });
    return;
  }
  for (const product of observation.products)
    if ('sources' in product && product.sources !== undefined)
      await reportSkyModels(product.sources, options);
  if (kind === 'visibilities') {
    const made = await runVisibilities(observation, { ...settingsOf(terminal), into: options.into });
    terminal.result(
      {
        products: made.products.map((one) => ({
          ...{ product: one.name, paths: one.paths },
          ...(one.failure ? { failure: one.failure.message } : madeFacts(one)),
        })),
        ...madeSourceFacts(made),
      },
      [...made.products.flatMap((one) => madeLines(one, made)), ...madeSourceLines(made)],
    );
    if (made.products.some(({ failure }) => failure)) process.exitCode = SOME_FAILED;
    const lacking = lackingIn(made);
    if (lacking.length > 0) throw new PartlyDone(lacking.join('\n'));
    return;
  }
  const stage = terminal.stage('run');
  const outcome = await runObservation(observation, {
    ...{ version: version(), into: options.into, onProgress: stage.update },
  });
  const seconds = stage.done(outcome.backend);
  terminal.result(factsOf(outcome, seconds), linesOf(outcome, seconds));
  if (outcome.products.some(({ failure }) => failure)) process.exitCode = SOME_FAILED;
}

const factsOf = (outcome: RunOutcome, seconds: number): object => ({
  products: outcome.products.map((one) => ({
    ...{ product: one.name, paths: one.paths },
    ...(one.failure ? { failure: one.failure.message } : productFacts(one, outcome)),
  })),
  ...frontFacts(outcome),
  integrations: outcome.account.integrations,
  seconds,
});

const linesOf = (outcome: RunOutcome, seconds: number): string[] => [
  ...outcome.products.flatMap((one) => productLines(one, outcome, seconds)),
  `${spectraText(outcome.account.spectra)}, ${formatSeconds(seconds)}`,
  ...frontLines(outcome),
];

export const sizeText = (sizeBytes: number | undefined): string =>
  sizeBytes === undefined ? '' : `, about ${formatBytes(sizeBytes)}`;
