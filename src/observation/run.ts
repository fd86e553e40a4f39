/** Runs an observation of a recording: opens, plans, checks the outputs, composes, and completes the products. */
import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { openBackend } from '../backend/select.js';
import type { Backend } from '../backend/backend.js';
import { present } from '../core/present.js';
import { InterruptedError, stoppable } from '../core/ending.js';
import { CorellaError, refuse } from '../core/errors.js';
import type { OnProgress } from '../core/progress.js';
import { checkOutputs } from '../formats/index.js';
import { orbitMessages, type Message } from '../messages/index.js';
import { observe, phaseLossOf } from '../compose/index.js';
import {
  writeEqualiser,
  type Account,
  type Emit,
  type Stage,
  type Level,
  type EqualiserGains,
  endsEarly,
} from '../stages/index.js';
import {
  productName,
  productNames,
  type MadeProduct,
  type PlannedProduct,
  type ProductItem,
} from '../products/index.js';
import { takeOrbitReport } from '../sky/orbits/report.js';
import { useSky } from '../sky/use-sky.js';
import { filesOf, historyOf, readLine, usesGains } from './history.js';
import { openRecording, type OpenedRecording } from './opening.js';
import { gather, isOfSky, planObservation, type FlaggedByKurtosis, type ObservationPlan } from './plan.js';
import type { Observation } from './schema.js';
import { withSolvedGains } from './solved.js';
import { refuseNotOfRecordings } from './support.js';
import { sourceKind } from './parts/source.js';

interface RunSettings {
  readonly version: string;
  /** The command, for the error when a signal ends it; by default run. */
  readonly command?: string;
  /** Folder for all outputs. */
  readonly into?: string;
  readonly onProgress?: OnProgress;
  /** Called before the work with what was opened and planned. */
  readonly onPlan?: (plan: ObservationPlan, opened: OpenedRecording) => void | Promise<void>;
  /** Receives the items of products without a path; by default such products are refused. */
  readonly onItem?: (item: ObservedItem) => Promise<void>;
  /** Ends the run as if the recording ended there. */
  readonly stop?: AbortSignal;
}

/** An item, and the number of its product in the observation. */
export type ObservedItem = ProductItem & { readonly product: number };

export interface ProductOutcome {
  readonly name: string;
  /** Files that were written. */
  readonly paths: readonly string[];
  /** The product's own facts: VisibilityFacts, ImageFacts, SpectraFacts. */
  readonly facts: object;
  /** Why it ended before the others. */
  readonly failure?: Error;
}

/** Results of the front end, for all products. */
interface FrontOutcome {
  readonly level?: Level;
  readonly equaliser?: EqualiserGains;
  /** Amplitude loss where delays within channels are corrected by phases alone. */
  readonly phaseLoss?: number;
  readonly kurtosis?: FlaggedByKurtosis;
  /** For finer channels: this many, starting with the first, are below the band and mirror those above its edge. */
  readonly mirrored: number;
  /** If float taps were requested: samples were widened, or have such taps anyway. */
  readonly floatTaps?: { readonly of: string; readonly widened: boolean };
}

export interface RunOutcome {
  readonly plan: ObservationPlan;
  readonly account: Account;
  readonly front: FrontOutcome;
  readonly products: readonly ProductOutcome[];
  /** On the orbital elements that were used. */
  readonly orbits: readonly Message[];
  /** The backend that computed it. */
  readonly backend: string;
}

/** The same observation with its outputs in a folder; an output outside it is refused. */
export function into(observation: Observation, folder: string | undefined): Observation {
  if (folder === undefined) return observation;
  const inside = <Part extends object>(part: Part, name: string, keys: readonly string[]): Part =>
    Object.fromEntries(
      Object.entries(part).map(([key, value]: [string, unknown]) => [
        key,
        keys.includes(key) && typeof value === 'string' ? within(folder, value, `${name}.${key}`) : value,
      ]),
    ) as Part;
  const { source, front, flags, products } = observation;
  return {
    ...observation,
    source: inside(source, 'source', ['noise-gains']),
    ...(front && { front: inside(front, 'front', ['equaliser-out']) }),
    ...(flags && { flags: inside(flags, 'flags', ['out']) }),
    products: products.map((product) => inside(product, 'products', [...productNames, 'delays-out'])),
  };
}

function within(folder: string, path: string, where: string): string {
  const [first] = relative(folder, resolve(folder, path)).split(sep);
  if (first === '..' || isAbsolute(relative(folder, resolve(folder, path))))
    refuse(where, `${path} is outside ${folder}, the folder that outputs go into`, 'name a file within it');
  return isAbsolute(path) ? path : join(folder, path);
}

/** A command cannot pass on a product without a path. */
export function refuseUnwritten({ products }: Observation): void {
  for (const product of products) {
    const name = productName(product);
    if ((product as Readonly<Record<string, unknown>>)[name] === null)
      refuse(`products.${name}`, 'has no path', 'name a file');
  }
}

/** Opens the source read-only and plans; `use` gets the plan, then everything is closed. */
export async function withPlan<Result>(
  asked: Observation,
  use: (plan: ObservationPlan, opened: OpenedRecording, backends: Backends) => Promise<Result>,
): Promise<Result> {
  const observation = withSolvedGains(asked);
  const kind = sourceKind(observation.source);
  if (kind !== 'recording' && kind !== 'visibilities')
    refuse(`source.${kind}`, 'live data are not there before they are received', 'use corella run');
  refuseNotOfRecordings(observation);
  await useSky(observation);
  const opened = await openRecording(observation, { ofSky: observation.products.some(isOfSky) });
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

/** Refuses outputs that cannot be written, or would replace what is read. */
export const checkPlannedOutputs = (
  { observation, products }: ObservationPlan,
  { paths: [from] }: OpenedRecording,
): Promise<void> =>
  checkOutputs({
    paths: present(...products.flatMap(({ paths }) => paths), observation.front?.['equaliser-out']),
    from,
    overwrite: observation.overwrite,
  });

export async function runObservation(asked: Observation, settings: RunSettings): Promise<RunOutcome> {
  const named = into(asked, settings.into);
  const { onItem } = settings;
  if (!onItem) refuseUnwritten(named);
  return withPlan(named, async (plan, opened, backends) => {
    const { observation } = plan;
    const equaliserOut = observation.front?.['equaliser-out'];
    if (settings.into !== undefined) await mkdir(settings.into, { recursive: true });
    await checkPlannedOutputs(plan, opened);
    await settings.onPlan?.(plan, opened);
    const { equaliser } = plan.front;
    if (equaliserOut !== undefined && equaliser) await writeEqualiser(equaliserOut, equaliser);
    const reads = await readsOf(observation, opened.paths);
    const machine = await backends.all();
    const made: Guarded[] = [];
    const stop = stoppable(settings.command ?? 'run');
    try {
      for (const [k, product] of plan.products.entries()) {
        const history = historyOf(settings.version, observation, k, reads(k));
        for (const path of product.paths) await mkdir(dirname(path), { recursive: true });
        const one = await product.make({
          backend: machine[0],
          history,
          emit: onItem && ((item) => onItem({ ...item, product: k })),
        });
        made.push(new Guarded(product, one, () => made.every(({ failure }) => failure)));
      }
      const { front, flaggedInputs } = plan.observed;
      const account = await observe(
        { front, flaggedInputs, products: made.map((one) => one.composed) },
        machine,
        {
          onProgress: settings.onProgress,
          stop: stop.signal,
          until: () => settings.stop?.aborted === true,
        },
      );
      for (const one of made) await one.finish();
      const [{ failure: firstFailure }] = made;
      if (firstFailure && made.every(({ failure }) => failure)) throw firstFailure;
      const on = machine.map((one) => one.description).join(' and ');
      return {
        plan,
        account,
        front: frontOutcome(plan, opened),
        orbits: orbitMessages(takeOrbitReport()),
        backend: `${machine[0].kind}: ${on}`,
        products: made.map(({ planned: { name, paths: written, facts }, failure }) => ({
          name,
          paths: written,
          facts: facts(),
          failure,
        })),
      };
    } catch (error) {
      throw await ended(error, made, settings.command ?? 'run');
    } finally {
      stop.release();
    }
  });
}

function frontOutcome(plan: ObservationPlan, { opened }: OpenedRecording): FrontOutcome {
  const { front, observation } = plan;
  const { level, equaliser, mirrored } = front;
  const isAsked = observation.front?.['float-taps'] === true && opened.kind === 'voltages';
  return {
    level,
    equaliser,
    mirrored,
    phaseLoss: phaseLossOf(front.front),
    kurtosis: plan.kurtosis(),
    ...(isAsked && { floatTaps: { of: opened.type, widened: /^c?i8$/.test(opened.type) } }),
  };
}

/** The `read` lines of each product: the source, and the side files that were used. */
export async function readsOf(
  observation: Observation,
  paths: readonly string[],
): Promise<(product: number) => readonly string[]> {
  const names = [...paths, ...sideFiles(observation)];
  const lines = await Promise.all(names.map(readLine));
  const own = await Promise.all(observation.products.map((one) => Promise.all(filesOf(one).map(readLine))));
  return (product) => {
    const isUsed = (name: string): boolean =>
      name !== observation.gains?.file || usesGains(observation.products[product]);
    return [...lines.filter((_, k) => isUsed(names[k])), ...own[product]];
  };
}

/** Files that the observation names besides the recording. */
const sideFiles = ({ front, flags, gains, eop, orbits }: Observation): readonly string[] =>
  [
    front?.coefficients,
    front?.equaliser === 'measured' ? undefined : front?.equaliser,
    front?.delays?.fixed,
    /\.json$/i.test(front?.delays?.track ?? '') ? front?.delays?.track : undefined,
    flags?.file,
    gains?.file,
    eop,
    orbits,
  ].filter((path) => path !== undefined);

/** After a signal or a full disk, finished parts are kept. After any other error no files remain. */
async function ended(error: unknown, made: readonly Guarded[], command: string): Promise<unknown> {
  if (!(error instanceof InterruptedError)) {
    for (const one of made) await one.abandon();
    return error;
  }
  const kept: string[] = [];
  for (const one of made) kept.push(await one.keep());
  return new InterruptedError(error.signal, command, `${error.what}; ${kept.join('; ')}`);
}

/** A product whose failure does not stop the others. */
export class Guarded<Planned extends Pick<PlannedProduct, 'name' | 'paths'> = PlannedProduct> {
  failure: Error | undefined;
  private isOver = false;

  constructor(
    readonly planned: Planned,
    private readonly made: MadeProduct,
    /** Whether no product is left: the rest of the data is then not read. */
    private readonly isLast: () => boolean,
  ) {}

  get composed(): MadeProduct['composed'] {
    const { composed } = this.made;
    return composed.from === 'integrations'
      ? {
          ...composed,
          stage: this.guard(composed.stage),
          ...(composed.onCard && { onCard: this.guard(composed.onCard) }),
        }
      : { ...composed, stage: this.guard(composed.stage) };
  }

  private guard<In>(stage: Stage<In, unknown>): Stage<In, unknown> {
    const guarded = async (work: () => Promise<void>): Promise<void> => {
      if (this.failure) return;
      try {
        await work();
      } catch (error) {
        const failure = await this.fail(error as Error);
        if (this.isLast()) throw failure;
      }
    };
    return {
      ...stage,
      push: (item: In, emit: Emit<unknown>) => guarded(() => stage.push(item, emit)),
      flush: (emit: Emit<unknown>) => guarded(() => stage.flush(emit)),
    };
  }

  private async fail(error: Error): Promise<Error> {
    this.isOver = true;
    if (!endsEarly(error)) {
      await this.made.abandon();
      this.failure = error;
      return error;
    }
    const kept = await this.made.keep().catch((later: unknown) => String(later));
    this.failure =
      error instanceof CorellaError
        ? new CorellaError(
            { where: error.where, what: `${error.what}; ${kept}`, fix: error.fix },
            { cause: error.cause },
          )
        : error;
    return this.failure;
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

/** The backends of an observation, opened on demand. */
export class Backends {
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
