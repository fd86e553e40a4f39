/** Runs an observation from a program: items of products without a path as they are made, steering, the end. */
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import type { OnProgress } from '../core/progress.js';
import { version } from '../core/program/version.js';
import { isMessage, messagesIn, textOf, type Line, type Message } from '../messages/index.js';
import { prepareSkyModels, readGainFile } from '../formats/index.js';
import {
  beamsChange,
  runLive,
  type Change,
  type LivePlan,
  type MadeChange,
  type Steering,
} from '../live/index.js';
import {
  checkObservation,
  frontLines,
  gainsLinesOf,
  isOfLiveData,
  productLines,
  readObservation,
  runObservation,
  skyModelsOf,
  sourceKind,
  type Observation,
  type ObservationInput,
  type ObservedItem,
  type ProductOutcome,
} from '../observation/index.js';
import { openRunPage } from '../serve/index.js';
import { gainsOverTime, inputsNamed, type Account } from '../stages/index.js';
import {
  madeLines,
  runVisibilities,
  sourceLines,
  type ItemOfVisibilities,
  type VisibilitiesSettings,
} from '../visibilities/index.js';

/** An item of a product without a path, and the number of its product in the observation. */
export type Item = ObservedItem | (ItemOfVisibilities & { readonly product: number });

export interface ObserveOptions {
  /** The folder of products without an absolute path. */
  readonly into?: string;
  readonly onProgress?: OnProgress;
  /** Messages and events during the run, as text; all messages are in the outcome. */
  readonly onNote?: (line: string) => void;
}

/** A change while live data are observed. Inputs and stations by name or number; gains of a file, null for none. */
export type SteeredChange =
  | { readonly flag: readonly string[] }
  | { readonly unflag: readonly string[] }
  | { readonly integrationS: number }
  | { readonly recording: boolean }
  | { readonly gains: string | null }
  | {
      /** New directions of beams, more or fewer of them; in the form of the product's `towards`. */
      readonly beams:
        | { readonly towards: readonly string[] }
        | { readonly add: readonly string[] }
        | { readonly stop: readonly string[] };
      /** The number of the product, if several make beams. */
      readonly product?: number;
    };

export interface ObservationOutcome {
  /** Received data; absent for visibilities, which were counted when they were made. */
  readonly account?: Account;
  /** Files written. */
  readonly paths: readonly string[];
  /** Products that ended early, and why. */
  readonly failures: readonly string[];
  /** Notes and warnings with their codes, as a command with `--json` has them. */
  readonly messages: readonly Message[];
}

/** A page in a browser. */
export interface PageAddress {
  readonly url: string;
  /** The same page with the right to steer. */
  readonly steerUrl: string;
}

/**
 * A running observation. Iterate over it for the items of products without a path: each is valid until the next is
 * requested, and the data wait until then. Leaving the loop stops the observation.
 */
export interface RunningObservation extends AsyncIterable<Item> {
  /** Changes live data from the next integration on, or from `from`; resolves to when the change takes effect. */
  steer(change: SteeredChange, from?: Instant): Promise<Instant>;
  /** Ends the observation: data already received are processed. */
  stop(): void;
  /** Address of its page, once it is open; undefined if the source is not live, or without `page.address`. */
  readonly page: Promise<PageAddress | undefined>;
  /** Resolves when everything is written. With products without a path this is only after the loop over the items. */
  readonly done: Promise<ObservationOutcome>;
}

/** Runs an observation: plain data, or the path of an observation file. */
export function observe(asked: ObservationInput | string, options: ObserveOptions = {}): RunningObservation {
  const handover = new Handover<Item>();
  const stop = new AbortController();
  const noted = new Set<string>();
  const note = (line: Line): void => {
    noted.add(textOf(line));
    options.onNote?.(textOf(line));
  };
  let opened: (page: PageAddress | undefined) => void = () => undefined;
  const page = new Promise<PageAddress | undefined>((resolve) => (opened = resolve));
  let steered: { readonly steering: Steering; readonly plan: LivePlan } | undefined;
  const run = async (): Promise<ObservationOutcome> => {
    const observation =
      typeof asked === 'string' ? (await readObservation(asked)).observation : checkObservation(asked);
    const settings = {
      version: version(),
      into: options.into,
      stop: stop.signal,
      onItem: (item: Item) => handover.offer(item),
    };
    for (const model of skyModelsOf(observation)) (await prepareSkyModels(model)).forEach(note);
    if (isOfLiveData(observation)) {
      // A program has a page only on request.
      const wanted = observation.page?.address ?? false;
      return runFromLive(
        { ...observation, page: { ...observation.page, address: wanted } },
        {
          ...settings,
          say: note,
          onSteering: (steering, plan) => (steered = { steering, plan }),
          openPage: async (input, to) => {
            const open = await openRunPage(input, { ...to, say: note, onOpen: opened });
            return { page: open, close: async () => open?.close() };
          },
        },
      );
    }
    const onPlan = ({ warnings }: { readonly warnings: readonly Line[] }): void => {
      warnings.forEach(note);
    };
    const { onProgress } = options;
    return sourceKind(observation.source) === 'visibilities'
      ? runFromVisibilities(observation, { ...settings, onPlan }, onProgress)
      : runFromRecording(observation, { ...settings, onPlan, onProgress });
  };
  const done = run().then(
    (outcome) => {
      outcome.messages.filter(({ text }) => !noted.has(text)).forEach(note);
      handover.end();
      return outcome;
    },
    (error: unknown) => {
      handover.end(error);
      throw error;
    },
  );
  // The loop over the items throws the failure.
  const ended = (): void => {
    opened(undefined);
  };
  done.then(ended, ended);
  return {
    done,
    page,
    stop: () => {
      stop.abort();
    },
    steer: async (change, from) => {
      if (!steered)
        return refuse(
          'steer',
          'no live data have arrived yet',
          'steer live data, once the first item is there',
        );
      const { steering } = steered;
      const made: MadeChange = steering.make(await changeOf(change, steered), BY_PROGRAM, from);
      return made.from.at;
    },
    [Symbol.asyncIterator]: () =>
      handover.items(() => {
        stop.abort();
      }),
  };
}

const BY_PROGRAM = { who: 'a program', authenticated: true } as const;

async function runFromRecording(
  observation: Observation,
  settings: Parameters<typeof runObservation>[1],
): Promise<ObservationOutcome> {
  const outcome = await runObservation(observation, settings);
  const { account, products } = outcome;
  const lines = [...products.flatMap((one) => productLines(one, outcome, 0)), ...frontLines(outcome)];
  return { account, ...outcomeOf(products, lines) };
}

async function runFromVisibilities(
  observation: Observation,
  settings: Omit<VisibilitiesSettings, 'stage'>,
  onProgress: OnProgress | undefined,
): Promise<ObservationOutcome> {
  const outcome = await runVisibilities(observation, {
    ...settings,
    stage: () => stageOf(onProgress),
  });
  const { products } = outcome;
  const lines = [...products.flatMap((one) => madeLines(one, outcome)), ...sourceLines(outcome)];
  return outcomeOf(products, lines);
}

const outcomeOf = (products: readonly ProductOutcome[], lines: readonly Line[]): ObservationOutcome => ({
  messages: messagesIn(lines),
  paths: products.flatMap(({ paths, failure }) => (failure ? [] : paths)),
  failures: products.flatMap(({ name, failure }) => (failure ? [`${name}: ${failure.message}`] : [])),
});

function stageOf(onProgress: OnProgress | undefined): ReturnType<VisibilitiesSettings['stage']> {
  const began = performance.now();
  const nothing = (): void => undefined;
  return {
    update: onProgress ?? nothing,
    at: nothing,
    step: nothing,
    done: () => (performance.now() - began) / 1000,
  };
}

async function runFromLive(
  observation: Observation,
  settings: Omit<Parameters<typeof runLive>[1], 'onEvent' | 'onFile'>,
): Promise<ObservationOutcome> {
  const nothing = (): void => undefined;
  const messages: Message[] = [];
  const { summary, failures, products } = await runLive(observation, {
    ...settings,
    say: (line) => {
      if (isMessage(line)) messages.push(line);
      settings.say(line);
    },
    onEvent: nothing,
    onFile: nothing,
  });
  messages.push(...messagesIn(products.flatMap(gainsLinesOf)));
  return { account: summary, paths: summary.files, failures, messages };
}

async function changeOf(
  change: SteeredChange,
  { steering, plan }: { readonly steering: Steering; readonly plan: LivePlan },
): Promise<Change> {
  const { telescope, spectra } = plan;
  if ('beams' in change) return beamsChange(steering, change.beams, change.product);
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

/** Passes items from producers to the loop, one at a time: the next is made when the previous one is done. */
class Handover<Item> {
  private readonly waiting: { readonly item: Item; readonly done: () => void }[] = [];
  private wake: () => void = () => undefined;
  private state: 'open' | 'ended' | 'left' = 'open';
  private failure: unknown;

  /** Resolves when the item has been used; immediately after the loop was left. */
  offer(item: Item): Promise<void> {
    if (this.state === 'left') return Promise.resolve();
    return new Promise((done) => {
      this.waiting.push({ item, done });
      this.wake();
    });
  }

  /** No item follows. */
  end(failure?: unknown): void {
    if (this.state === 'open') this.state = 'ended';
    this.failure = failure;
    this.wake();
  }

  /** Calls `onLeave` if the loop is left before the last item. */
  async *items(onLeave: () => void): AsyncGenerator<Item, void, undefined> {
    try {
      for (;;) {
        const next = this.waiting.shift();
        if (next)
          try {
            yield next.item;
          } finally {
            next.done();
          }
        else if (this.state === 'open') await new Promise<void>((resolve) => (this.wake = resolve));
        else break;
      }
    } finally {
      if (this.state === 'open') onLeave();
      this.state = 'left';
      for (const { done } of this.waiting.splice(0)) done();
    }
    if (this.failure !== undefined) throw this.failure as Error;
  }
}
