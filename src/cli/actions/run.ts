/** What corella run does, loaded when it runs. */
import type { Command } from 'commander';
import { formatBytes, formatSeconds } from '../../core/units.js';
import type { Line } from '../../messages/index.js';
import {
  isOfLiveData,
  readObservation,
  runObservation,
  skyModelsOf,
  sourceKind,
  type RunOutcome,
  frontFacts,
  frontLines,
  lackingOf,
  productFacts,
  productLines,
  failedMessage,
  spectraText,
} from '../../observation/index.js';
import { reportSkyModels } from '../options/sky-options.js';
import {
  runVisibilities,
  lackingIn,
  madeFacts,
  madeLines,
  sourceFacts as madeSourceFacts,
  sourceLines as madeSourceLines,
} from '../../visibilities/index.js';
import { printPlan, settingsOf } from '../options/shorthand.js';
import { openTerminal } from '../report/terminal.js';
import { version } from '../../core/program/version.js';
import type { RunOptions } from '../run.js';

/** Exit code if some products failed. */
const SOME_FAILED = 2;

export async function run(path: string, options: RunOptions, command: Command): Promise<void> {
  const { observation: read } = await readObservation(path);
  const given = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  const observation = {
    ...read,
    ...(options.overwrite && { overwrite: true }),
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
    await printPlan(observation, options);
    return;
  }
  if (isOfLiveData(observation)) {
    const { runLiveObservation } = await import('../live.js');
    await runLiveObservation(observation, { json: options.json, quiet: options.quiet, into: options.into });
    return;
  }
  for (const model of skyModelsOf(observation)) await reportSkyModels(model, options);
  if (sourceKind(observation.source) === 'visibilities') {
    const made = await runVisibilities(observation, { ...settingsOf(terminal), into: options.into });
    if (made.products.some(({ failure }) => failure)) process.exitCode = SOME_FAILED;
    terminal.result(
      {
        products: made.products.map((one) => ({
          product: one.name,
          paths: one.paths,
          ...(one.failure ? { failure: one.failure.message } : madeFacts(one)),
        })),
        ...madeSourceFacts(made),
      },
      [...made.products.flatMap((one) => madeLines(one, made)), ...madeSourceLines(made)],
      lackingIn(made),
    );
    return;
  }
  const stage = terminal.stage('run');
  const outcome = await runObservation(observation, {
    version: version(),
    into: options.into,
    onProgress: stage.update,
  });
  const seconds = stage.done(outcome.backend);
  const failed = outcome.products.filter(({ failure }) => failure).map(failedMessage);
  terminal.result(factsOf(outcome, seconds), linesOf(outcome, seconds), [
    ...failed,
    ...lackingOf(outcome.products),
  ]);
}

const factsOf = (outcome: RunOutcome, seconds: number): object => ({
  products: outcome.products.map((one) => ({
    product: one.name,
    paths: one.paths,
    ...(one.failure ? { failure: one.failure.message } : productFacts(one, outcome)),
  })),
  ...frontFacts(outcome),
  integrations: outcome.account.integrations,
  seconds,
});

const linesOf = (outcome: RunOutcome, seconds: number): Line[] => [
  ...outcome.products.flatMap((one) => (one.failure ? [] : productLines(one, outcome, seconds))),
  `${spectraText(outcome.account.spectra)}, ${formatSeconds(seconds)}`,
  ...frontLines(outcome),
];

export const sizeText = (sizeBytes: number | undefined): string =>
  sizeBytes === undefined ? '' : `, about ${formatBytes(sizeBytes)}`;
