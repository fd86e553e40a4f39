/** Runs an observation of a recording: opens, plans, checks the outputs, composes, and lets the products appear. */
import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { openBackend } from '../backend/select.js';
import type { Backend } from '../backend/backend.js';
import { InterruptedError, stoppable } from '../core/ending.js';
import { CorellaError, refuse } from '../core/errors.js';
import type { OnProgress } from '../core/progress.js';
import { checkOutputs } from '../formats/index.js';
import { observe } from '../pipeline/compose/compose.js';
import { writeEqualiser } from '../pipeline/levels/equaliser-file.js';
import type { Account, Emit, Stage } from '../pipeline/stages/stage.js';
import type { MadeProduct, PlannedProduct } from '../products/index.js';
import { historyOf, readLine } from './history.js';
import { openRecording, type OpenedRecording } from './opening.js';
import { gather, planObservation, type ObservationPlan } from './plan.js';
import type { Observation } from './schema.js';
import { refuseNotOfRecordings } from './support.js';

export interface RunSettings {
  readonly version: string;
  /** Where products without an absolute path go. */
  readonly into?: string;
  readonly onProgress?: OnProgress;
  /** Before the work: what was opened and planned. */
  readonly onPlan?: (plan: ObservationPlan, opened: OpenedRecording) => void | Promise<void>;
}

export interface ProductOutcome {
  readonly planned: PlannedProduct;
  /** Why it ended before the others. */
  readonly failure?: Error;
}

export interface RunOutcome {
  readonly plan: ObservationPlan;
  readonly account: Account;
  readonly products: readonly ProductOutcome[];
  /** Where it was computed. */
  readonly backend: string;
}

/** The same observation with its products in a folder. */
export const into = (observation: Observation, folder: string | undefined): Observation =>
  folder === undefined
    ? observation
    : {
        ...observation,
        products: observation.products.map((product) =>
          Object.fromEntries(
            Object.entries(product).map(([key, value]) => [
              key,
              ['visibilities', 'images', 'spectra', 'gains'].includes(key) &&
              typeof value === 'string' &&
              !isAbsolute(value)
                ? join(folder, value)
                : value,
            ]),
          ),
        ) as Observation['products'],
      };

/** Opens the source read-only and plans; `use` gets the plan, and everything is closed behind it. */
export async function withPlan<Result>(
  observation: Observation,
  use: (plan: ObservationPlan, opened: OpenedRecording, backends: Backends) => Promise<Result>,
): Promise<Result> {
  refuseNotOfRecordings(observation);
  const needs = { time: observation.products.some((product) => !('spectra' in product)) };
  const opened = await openRecording(observation, needs);
  const backends = new Backends(observation);
  try {
    const { recording, telescope } = opened;
    const gathered = await gather(observation, recording, telescope, () => backends.first());
    return await use(
      await planObservation(observation, recording, telescope, gathered),
      ...([opened, backends] as const),
    );
  } finally {
    await backends.close();
    await opened.opened.close();
  }
}

export async function runObservation(asked: Observation, settings: RunSettings): Promise<RunOutcome> {
  const observation = into(asked, settings.into);
  return withPlan(observation, async (plan, opened, backends) => {
    const paths = plan.products.flatMap((product) => product.paths);
    const [from] = opened.paths;
    if (settings.into !== undefined) await mkdir(settings.into, { recursive: true });
    await checkOutputs({ paths, from, overwrite: observation.overwrite });
    await settings.onPlan?.(plan, opened);
    const { equaliser } = plan.front;
    const equaliserOut = observation.front?.['equaliser-out'];
    if (equaliserOut !== undefined)
      await writeEqualiser(
        equaliserOut,
        equaliser ??
          refuse('front.equaliser-out', 'no equaliser gains are asked for', 'give front.equaliser'),
      );
    const reads = await Promise.all([...opened.paths, ...sideFiles(observation)].map(readLine));
    const machine = await backends.all();
    const made: Guarded[] = [];
    const stop = stoppable('run');
    try {
      for (const [k, product] of plan.products.entries()) {
        const history = historyOf(settings.version, observation, k, reads);
        for (const path of product.paths) await mkdir(dirname(path), { recursive: true });
        made.push(new Guarded(product, await product.make({ backend: machine[0], history })));
      }
      const { front, flaggedInputs } = plan.observed;
      const account = await observe(
        { front, flaggedInputs, products: made.map((one) => one.composed) },
        machine,
        { onProgress: settings.onProgress, stop: stop.signal },
      );
      for (const one of made) await one.finish();
      const products = made.map(({ planned, failure }) => ({ planned, failure }));
      const [{ failure: firstFailure }] = products;
      if (firstFailure && products.every(({ failure }) => failure)) throw firstFailure;
      const on = machine.map((one) => one.description).join(' and ');
      return { plan, account, products, backend: `${machine[0].kind}: ${on}` };
    } catch (error) {
      throw await ended(error, made);
    } finally {
      stop.release();
    }
  });
}

/** Files beside the recording that the observation names. */
const sideFiles = ({ front, flags, gains, eop }: Observation): readonly string[] =>
  [
    front?.coefficients,
    front?.equaliser === 'measured' ? undefined : front?.equaliser,
    front?.delays?.fixed,
    /\.json$/i.test(front?.delays?.track ?? '') ? front?.delays?.track : undefined,
    ...[flags?.file, gains?.file, eop],
  ].filter((path) => path !== undefined);

/** A signal or a full disk: what is finished appears. Anything else leaves nothing behind. */
async function ended(error: unknown, made: readonly Guarded[]): Promise<unknown> {
  if (!(error instanceof InterruptedError)) {
    for (const one of made) await one.abandon();
    return error;
  }
  const kept: string[] = [];
  for (const one of made) kept.push(await one.keep());
  return new InterruptedError(error.signal, 'run', `${error.what}; ${kept.join('; ')}`);
}

/** A product whose failure is its own: the others go on. */
class Guarded {
  failure: Error | undefined;
  private isOver = false;

  constructor(
    readonly planned: PlannedProduct,
    private readonly made: MadeProduct,
  ) {}

  get composed(): MadeProduct['composed'] {
    const { composed } = this.made;
    return composed.from === 'integrations'
      ? { ...composed, stage: this.guard(composed.stage) }
      : { ...composed, stage: this.guard(composed.stage) };
  }

  private guard<In>(stage: Stage<In, unknown>): Stage<In, unknown> {
    const guarded = async (work: () => Promise<void>): Promise<void> => {
      if (this.failure) return;
      try {
        await work();
      } catch (error) {
        await this.fail(error as Error);
      }
    };
    return {
      ...stage,
      push: (item: In, emit: Emit<unknown>) => guarded(() => stage.push(item, emit)),
      flush: (emit: Emit<unknown>) => guarded(() => stage.flush(emit)),
    };
  }

  private async fail(error: Error): Promise<void> {
    this.isOver = true;
    const kept = await this.made.keep().catch((later: unknown) => String(later));
    this.failure =
      error instanceof CorellaError
        ? new CorellaError(
            { where: error.where, what: `${error.what}; ${kept}`, fix: error.fix },
            { cause: error.cause },
          )
        : error;
  }

  async finish(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    try {
      await this.made.finish();
    } catch (error) {
      await this.made.abandon();
      this.failure = error as Error;
    }
  }

  async keep(): Promise<string> {
    if (this.isOver) return this.failure?.message ?? '';
    this.isOver = true;
    return this.made.keep();
  }

  async abandon(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    await this.made.abandon();
  }
}

/** The backends of an observation, opened when they are needed. */
class Backends {
  private readonly open: Backend[] = [];

  constructor(private readonly observation: Observation) {}

  async first(): Promise<Backend> {
    const { backend = 'auto', threads, cards } = this.observation.machine ?? {};
    if (this.open.length === 0)
      this.open.push(
        await openBackend(backend, { threads, cuda: cards === undefined ? undefined : { device: cards[0] } }),
      );
    return this.open[0];
  }

  async all(): Promise<readonly Backend[]> {
    const { backend = 'auto', threads, cards = [] } = this.observation.machine ?? {};
    if (cards.length > 0 && backend !== 'cuda')
      refuse('machine.cards', `is for cards, and the backend is '${backend}'`, 'give machine.backend: cuda');
    await this.first();
    for (const device of cards.slice(this.open.length))
      this.open.push(await openBackend('cuda', { threads, cuda: { device } }));
    return this.open;
  }

  async close(): Promise<void> {
    for (const backend of this.open.splice(0)) await backend.close();
  }
}
