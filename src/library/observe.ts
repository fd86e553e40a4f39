/** Runs an observation from a program: items of products without a path as they are made, steering, the end. */
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import type { OnProgress } from '../core/progress.js';
import { version } from '../core/program/version.js';
import { prepareSkyModels, readGainFile } from '../formats/index.js';
import { runLive, type Change, type LivePlan, type MadeChange, type Steering } from '../live/index.js';
import {
  checkObservation,
  readObservation,
  runObservation,
  sourceKind,
  type Observation,
  type ObservationInput,
  type ObservedItem,
} from '../observation/index.js';
import { gainsOverTime, inputsNamed, type Account } from '../stages/index.js';
import {
  runVisibilities,
  type ItemOfVisibilities,
  type VisibilitiesSettings,
} from '../visibilities/index.js';
import { Handover } from './handover.js';

/** An item of a product without a path, and the number of its product in the observation. */
export type Item = ObservedItem | (ItemOfVisibilities & { readonly product: number });

export interface ObserveOptions {
  /** The folder of products without an absolute path. */
  readonly into?: string;
  readonly onProgress?: OnProgress;
  /** Warnings, and what happens on the way. */
  readonly onNote?: (line: string) => void;
}

/** A change while live data are observed. Inputs and stations by name or number; gains of a file, null for none. */
export type SteeredChange =
  | { readonly flag: readonly string[] }
  | { readonly unflag: readonly string[] }
  | { readonly integrationS: number }
  | { readonly recording: boolean }
  | { readonly gains: string | null };

export interface ObservationOutcome {
  /** Of what came; not of visibilities, which were counted when they were made. */
  readonly account?: Account;
  /** Files that were written. */
  readonly paths: readonly string[];
  /** Products that ended before the others, and why. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * An observation that runs. Iterate over it for the items of products without a path: each is valid until the next is
 * asked for, and the data wait until then. Whoever leaves the loop stops the observation.
 */
export interface RunningObservation extends AsyncIterable<Item> {
  /** Changes live data from the next integration on, or from `from`; resolves to when it takes effect. */
  steer(change: SteeredChange, from?: Instant): Promise<Instant>;
  /** Ends the observation: what has come is worked through. */
  stop(): void;
  /** When everything is written. With products without a path it comes only after the loop over the items. */
  readonly done: Promise<ObservationOutcome>;
}

/** Runs an observation: plain data, or the path of an observation file. */
export function observe(asked: ObservationInput | string, options: ObserveOptions = {}): RunningObservation {
  const handover = new Handover<Item>();
  const stop = new AbortController();
  let steered: { readonly steering: Steering; readonly plan: LivePlan } | undefined;
  const run = async (): Promise<ObservationOutcome> => {
    const observation =
      typeof asked === 'string' ? (await readObservation(asked)).observation : checkObservation(asked);
    const { address } = observation.page ?? {};
    if (address !== undefined && address !== false)
      refuse('page.address', 'a program has no page', 'leave it out, or use corella run');
    const settings = {
      ...{ version: version(), into: options.into, stop: stop.signal },
      onItem: (item: Item) => handover.offer(item),
    };
    if (isLive(observation))
      return runFromLive(observation, {
        ...settings,
        say: (line) => options.onNote?.(line),
        onSteering: (steering, plan) => (steered = { steering, plan }),
      });
    return sourceKind(observation.source) === 'visibilities'
      ? runFromVisibilities(observation, settings, options)
      : runFromRecording(observation, { ...settings, onProgress: options.onProgress }, options);
  };
  const done = run().then(
    (outcome) => {
      handover.end();
      return outcome;
    },
    (error: unknown) => {
      handover.end(error);
      throw error;
    },
  );
  // Whoever iterates meets the failure there.
  done.catch(() => undefined);
  return {
    done,
    stop: () => {
      stop.abort();
    },
    steer: async (change, from) => {
      if (!steered)
        return refuse('steer', 'no live data have come yet', 'steer live data, once the first item is there');
      const { steering, plan } = steered;
      const made: MadeChange = steering.make(await changeOf(change, plan), BY_PROGRAM, from);
      return made.from.at;
    },
    [Symbol.asyncIterator]: () =>
      handover.items(() => {
        stop.abort();
      }),
  };
}

const BY_PROGRAM = { who: 'a program', authenticated: true } as const;

const isLive = ({ source, log }: Observation): boolean =>
  log !== undefined || !['recording', 'visibilities'].includes(sourceKind(source));

async function runFromRecording(
  observation: Observation,
  settings: Parameters<typeof runObservation>[1],
  { onNote }: ObserveOptions,
): Promise<ObservationOutcome> {
  const { account, products, plan } = await runObservation(observation, {
    ...settings,
    onPlan: ({ warnings }) => {
      warnings.forEach((line) => onNote?.(line));
    },
  });
  return {
    ...{ account, warnings: plan.warnings },
    paths: products.flatMap(({ paths, failure }) => (failure ? [] : paths)),
    failures: products.flatMap(({ name, failure }) => (failure ? [`${name}: ${failure.message}`] : [])),
  };
}

async function runFromVisibilities(
  observation: Observation,
  settings: Pick<VisibilitiesSettings, 'version' | 'into' | 'onItem'>,
  { onNote, onProgress }: ObserveOptions,
): Promise<ObservationOutcome> {
  for (const product of observation.products)
    if ('sources' in product && product.sources !== undefined) await prepareSkyModels(product.sources);
  const { products, plan } = await runVisibilities(observation, {
    ...settings,
    stage: () => stageOf(onProgress),
    onPlan: ({ warnings }) => {
      warnings.forEach((line) => onNote?.(line));
    },
  });
  return {
    warnings: plan.warnings,
    paths: products.flatMap(({ paths, failure }) => (failure ? [] : paths)),
    failures: products.flatMap(({ name, failure }) => (failure ? [`${name}: ${failure.message}`] : [])),
  };
}

function stageOf(onProgress: OnProgress | undefined): ReturnType<VisibilitiesSettings['stage']> {
  const began = performance.now();
  const nothing = (): void => undefined;
  return {
    update: onProgress ?? nothing,
    ...{ at: nothing, step: nothing, done: () => (performance.now() - began) / 1000 },
  };
}

async function runFromLive(
  observation: Observation,
  settings: Omit<Parameters<typeof runLive>[1], 'onEvent' | 'onFile'>,
): Promise<ObservationOutcome> {
  const nothing = (): void => undefined;
  const { summary, failures, plan } = await runLive(observation, {
    ...{ ...settings, onEvent: nothing, onFile: nothing },
  });
  return { account: summary, paths: summary.files, failures, warnings: plan?.warnings ?? [] };
}

async function changeOf(change: SteeredChange, { telescope, spectra }: LivePlan): Promise<Change> {
  if ('integrationS' in change || 'recording' in change) return change;
  if ('gains' in change) {
    const file = change.gains;
    if (file === null) return { gains: {} };
    const calibrated = gainsOverTime(
      await readGainFile(file),
      ...([file, telescope, spectra.frequenciesHz, 'observe'] as const),
    );
    return { gains: { file, calibrated } };
  }
  const isFlagged = 'flag' in change;
  const words = isFlagged ? change.flag : change.unflag;
  const { polarisations } = spectra;
  const count = telescope.stations.length * polarisations;
  const named = inputsNamed(words, count, polarisations, telescope.stations, 'steer');
  const inputs = Array.from(named.keys()).filter((a) => named[a] === 1);
  return { flags: { inputs, flag: isFlagged } };
}
