/**
 * Commands that are shorthands of an observation: filled from flags, printed with --plan, run, and reported in flags.
 */
import { Option, type Command } from 'commander';
import { namesIn } from '../../formats/index.js';
import {
  addFlags,
  checkObservation,
  type Flags,
  type FlagSettings,
  type Observation,
  type RunOutcome,
} from '../../observation/index.js';
import type { ProductName } from '../../products/index.js';
import type { VisibilitiesSettings } from '../../visibilities/index.js';
import type { Line, Message } from '../../messages/index.js';
import { openTerminal, type Terminal } from '../report/terminal.js';
import { version } from '../../core/program/version.js';
import type { CommonOptions } from './command.js';
import { noteUnknownOrientation } from './eop-option.js';
import { partialFileLines } from './partial-file-lines.js';
import { z } from 'zod';
import { addFields } from './own.js';
import { common, plan } from './shared.js';

/** Fields of a recording's observation that no shorthand of a recording has. */
export const notOfRecordings = [
  'stations',
  'for',
  'source.capture',
  'source.listen',
  'source.interface',
  'source.epoch',
  'source.meta',
  'source.column',
  'source.target',
  'source.stored-pair',
  'source.metafits',
  'source.remove-cables',
  'source.duration',
] as const;

/** Differences of their help from that of live data. */
export const ofRecordings: NonNullable<FlagSettings['renamed']> = {
  'source.start': { otherwise: 'as the recording says' },
  'front.gain': { otherwise: 'from the first samples; 8 bits at a good level keep their level' },
};

export interface ShorthandOptions extends CommonOptions {
  readonly plan?: true;
}

/** Flags of the schema, --plan, and the common options. */
export function addShorthand(command: Command, settings: FlagSettings): Flags {
  const flags = addFlags(command, settings);
  addFields(command, z.strictObject({ ...common, plan }));
  noteUnknownOrientation(command);
  return flags;
}

/** Hidden options of a command of the same name for other sources: refused by name if given. */
export function addForeign(command: Command, foreign: readonly Option[]): readonly string[] {
  const others = foreign.filter(({ long }) => !command.options.some((own) => own.long === long));
  for (const { flags } of others) command.addOption(new Option(flags).hideHelp());
  return others.map((option) => option.attributeName());
}

/** The observation of the command line. */
export const observationOf = (
  flags: Flags,
  product: ProductName,
  { recording, out }: { readonly recording: string; readonly out: string },
): Observation => filledFrom(flags, { recording }, { [product]: out });

/** The source and product from the arguments, with the command's own settings. Flags add to both. */
export function filledFrom(
  { given }: Flags,
  from: { readonly recording: string } | { readonly visibilities: string },
  product: Readonly<Record<string, unknown>>,
  { gains }: { readonly gains?: object } = {},
): Observation {
  const { observation, products } = given();
  const [[kind, path]] = Object.entries<string>(from);
  const names = namesIn(path);
  const [name] = Object.keys(product) as [ProductName];
  return checkObservation(
    {
      corella: 1,
      ...observation,
      source: { [kind]: names.length === 1 ? names[0] : names, ...(observation.source as object) },
      ...(gains && { gains: { ...gains, ...(observation.gains as object) } }),
      products: [{ ...product, ...products[name] }],
    },
    'command line',
  );
}

/** Prints the observation for --plan. */
export async function printPlan(observation: Observation, { json }: CommonOptions): Promise<void> {
  const { writeObservation } = await import('../../observation/index.js');
  process.stdout.write(writeObservation(observation, json === true ? 'json' : 'yaml'));
}

/** Reports partial files of killed runs beside the files that will be written. */
const reportPartialFiles =
  (terminal: Terminal) =>
  async ({
    products,
  }: {
    readonly products: readonly { readonly paths: readonly string[] }[];
  }): Promise<void> => {
    for (const path of products.flatMap(({ paths }) => paths))
      for (const line of await partialFileLines(path)) terminal.say(line);
  };

/** A result as JSON and as lines; `lacking` is what was requested but is missing. */
export interface CommandReport {
  readonly facts: object;
  readonly lines: readonly Line[];
  readonly lacking?: readonly Message[];
}

/** Runs the observation, or prints it for --plan; `report` converts the outcome to a result. */
export async function runShorthand(
  observation: Observation,
  options: ShorthandOptions,
  {
    command,
    report,
  }: {
    readonly command: string;
    readonly report: (outcome: RunOutcome, seconds: number) => CommandReport;
  },
): Promise<void> {
  if (options.plan === true) {
    await printPlan(observation, options);
    return;
  }
  const terminal = openTerminal(options);
  const { runObservation } = await import('../../observation/index.js');
  const stage = terminal.stage(command);
  const outcome = await runObservation(observation, {
    version: version(),
    command,
    onProgress: stage.update,
    onPlan: reportPartialFiles(terminal),
  });
  const { facts, lines, lacking } = report(outcome, stage.done(outcome.backend));
  terminal.result(facts, lines, lacking);
}

/** The same for visibilities: `run` makes the products, `report` converts their outcome to a result. */
export async function runOfVisibilities<Made>(
  observation: Observation,
  options: ShorthandOptions,
  {
    run,
    report,
  }: {
    readonly run: (observation: Observation, settings: VisibilitiesSettings) => Promise<Made>;
    readonly report: (made: Made) => CommandReport;
  },
): Promise<void> {
  if (options.plan === true) {
    await printPlan(observation, options);
    return;
  }
  const terminal = openTerminal(options);
  const made = await run(observation, settingsOf(terminal));
  const { facts, lines, lacking } = report(made);
  terminal.result(facts, lines, lacking);
}

/** How a run of visibilities reports on the terminal. */
export const settingsOf = (terminal: Terminal): VisibilitiesSettings => ({
  version: version(),
  stage: (title) => terminal.stage(title),
  onPlan: reportPartialFiles(terminal),
});
