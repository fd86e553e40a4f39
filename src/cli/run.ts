/** corella run: an observation file, everything it asks for at once. */
import type { Command } from 'commander';
import { formatBytes, formatSeconds } from '../core/units.js';
import { readObservation, runObservation, writeObservation, type RunOutcome } from '../observation/index.js';
import { phaseLossOf } from '../pipeline/compose/front.js';
import { phaseLossLines } from '../pipeline/phase-loss.js';
import type { ImageFacts, PlannedProduct, VisibilityFacts } from '../products/index.js';
import { addBackendOptions, addExamples, type BackendOptions } from './options/command.js';
import { addOverwriteOption, parseFolder, type OutputOptions } from './options/outputs.js';
import { kurtosisLines } from './interference/kurtosis-lines.js';
import { levelsLines } from './options/levels-options.js';
import { bandLines, bandOfChannels } from './report/band-lines.js';
import { coherenceLines } from './report/coherence-lines.js';
import { askedLines } from './report/flag-lines.js';
import { levelLines, roundedLines } from './report/level-lines.js';
import { lossLines, railLines } from './report/loss-lines.js';
import { roadLines } from './report/road-lines.js';
import { openTerminal, spectraText } from './report/terminal.js';
import { version } from './report/version.js';

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
  addBackendOptions(command).action(run);
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
  const stage = terminal.stage('run');
  const outcome = await runObservation(observation, {
    ...{ version: version(), into: options.into, onProgress: stage.update },
  });
  const seconds = stage.done(outcome.backend);
  terminal.result(factsOf(outcome, seconds), linesOf(outcome, seconds));
  if (outcome.products.some(({ failure }) => failure)) process.exitCode = SOME_FAILED;
}

const factsOf = ({ account, products }: RunOutcome, seconds: number): object => ({
  products: products.map(({ planned, failure }) => ({
    ...{ product: planned.name, paths: planned.paths },
    ...(failure && { failure: failure.message }),
  })),
  ...account,
  seconds,
});

const linesOf = (outcome: RunOutcome, seconds: number): string[] => {
  const { account, plan, products } = outcome;
  return [
    ...products.map(({ planned, failure }) =>
      failure
        ? `${planned.name}: failed: ${failure.message}`
        : `${planned.name}: ${planned.paths.join(', ')}`,
    ),
    `${spectraText(account.spectra)}, ${formatSeconds(seconds)}`,
    ...plan.warnings,
    ...frontLines(outcome),
    ...products.flatMap(({ planned }) => productLines(planned, outcome)),
  ];
};

/** What the front met: levels, rails, losses, interference. */
function frontLines({ account, plan }: RunOutcome): string[] {
  const { front, observed } = plan;
  const { recording, spectra } = observed;
  return [
    ...bandLines(observed.telescope, bandOfChannels(spectra.frequenciesHz)),
    ...phaseLossLines(phaseLossOf(front.front)),
    ...levelLines(front.level),
    ...levelsLines(front.equaliser),
    ...railLines(account.saturated, 2 * account.spectra * spectra.channels * spectra.inputs),
    ...lossLines(recording, account.missingSamples, 'they count as missing in every product'),
    ...kurtosisLines({ asked: {}, told: plan.kurtosis, toldOfAll: () => [] }, spectra.grid.spectrumRateHz),
  ];
}

function productLines({ name, facts }: PlannedProduct, { plan }: RunOutcome): string[] {
  const { front, observed } = plan;
  if (name === 'visibilities') {
    const { integration, flagged, rounded } = facts as VisibilityFacts;
    return [
      ...(integration.shortenedToS === undefined
        ? []
        : [`integrations of ${formatSeconds(integration.shortenedToS)}, which keep 99 % of the amplitude`]),
      ...(observed.delays?.towards === undefined
        ? coherenceLines(integration.coherence, integration.longestS, {
            channel: 'tracking (front.delays.track) avoids it, and so do narrower channels',
            time: 'tracking (front.delays.track) avoids it, and so do shorter integrations',
          })
        : []),
      ...roundedLines(rounded(), {
        ...{ type: observed.spectra.type, level: front.level, levels: front.equaliser },
        advice: 'front.equaliser: measured gives each a gain of its own, front.bits: float needs none',
      }),
      ...askedLines(flagged),
    ];
  }
  if (name !== 'images') return [];
  const { predictedError, tiltLines } = facts as ImageFacts;
  return [...(predictedError === undefined ? [] : roadLines(predictedError)), ...tiltLines];
}

export const sizeText = (sizeBytes: number | undefined): string =>
  sizeBytes === undefined ? '' : `, about ${formatBytes(sizeBytes)}`;
