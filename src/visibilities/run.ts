/** Runs an observation of visibilities: opens, flags, plans, checks the outputs, and makes the products in order. */
import { present } from '../core/present.js';
import { mkdir } from 'node:fs/promises';
import { InterruptedError } from '../core/ending.js';
import { refuse } from '../core/errors.js';
import type { ProgressStage } from '../core/progress.js';
import { orbitMessages, type Message } from '../messages/index.js';
import { checkOutputs } from '../formats/index.js';
import { writeFlagFile, type FlagAccount } from '../stages/index.js';
import {
  Backends,
  historyOf,
  into,
  readsOf,
  refuseUnwritten,
  refuseNotOfVisibilities,
  type Observation,
  type ProductOutcome,
} from '../observation/index.js';
import { isProduct, productName, type Product } from '../products/index.js';
import { takeOrbitReport } from '../sky/orbits/report.js';
import { useSky } from '../sky/use-sky.js';
import {
  accountOf,
  gatherVisibilities,
  openSource,
  type FromVisibilities,
  type ItemOfVisibilities,
  type OpenedSource,
  type PlannedFromVisibilities,
} from './from-visibilities.js';

export interface VisibilitiesPlan {
  readonly from: FromVisibilities;
  readonly products: readonly PlannedFromVisibilities[];
  /** Unexpected properties. */
  readonly warnings: readonly Message[];
}

export interface VisibilitiesSettings {
  readonly version: string;
  /** Folder for products without an absolute path. */
  readonly into?: string;
  readonly stage: (title: string) => ProgressStage;
  /** Called before the work with what was opened and planned. */
  readonly onPlan?: (plan: VisibilitiesPlan) => void | Promise<void>;
  /** Receives the items of products without a path; by default such products are refused. */
  readonly onItem?: (item: ItemOfVisibilities & { readonly product: number }) => Promise<void>;
}

export interface MadeFromVisibilities extends ProductOutcome {
  /** Account of flags, if any were requested. */
  readonly flags?: FlagAccount;
}

export interface VisibilitiesOutcome {
  readonly plan: VisibilitiesPlan;
  readonly products: readonly MadeFromVisibilities[];
  /** On the orbital elements that were used. */
  readonly orbits: readonly Message[];
}

/** One module per product, loaded when a run needs it. */
async function planProduct(product: Product, from: FromVisibilities): Promise<PlannedFromVisibilities> {
  if (isProduct('visibilities', product))
    return (await import('./products/visibilities.js')).planVisibilities(product, from);
  if (isProduct('images', product)) return (await import('./products/images.js')).planImages(product, from);
  if (isProduct('gains', product))
    return (await import('./products/gains.js')).planGainsProduct(product, from);
  return refuse(`products.${productName(product)}`, 'is not made of visibilities', 'leave it out');
}

/** Opens the source read-only and plans; `use` gets the plan, then everything is closed. */
export async function withVisibilities<Result>(
  observation: Observation,
  use: (plan: VisibilitiesPlan, source: OpenedSource) => Promise<Result>,
): Promise<Result> {
  await begin(observation);
  const source = await openSource(observation);
  try {
    return await withOpened(observation, source, use);
  } finally {
    await source.opened.close();
  }
}

/** Refusals that hold for any file, before one is opened. */
export async function begin(observation: Observation): Promise<void> {
  refuseNotOfVisibilities(observation);
  await useSky(observation);
}

async function withOpened<Result>(
  observation: Observation,
  source: OpenedSource,
  use: (plan: VisibilitiesPlan, source: OpenedSource) => Promise<Result>,
): Promise<Result> {
  const backends = new Backends(observation);
  try {
    const from = await gatherVisibilities(observation, source, () => backends.first());
    const products: PlannedFromVisibilities[] = [];
    for (const product of observation.products) products.push(await planProduct(product, from));
    const warnings = [...new Set(products.flatMap((one) => one.warnings ?? []))];
    return await use({ from, products, warnings }, source);
  } finally {
    await backends.close();
  }
}

/** Refuses outputs that cannot be written, or would replace what is read. */
export const checkPlannedVisibilities = (
  { from: { observation, opened }, products }: VisibilitiesPlan,
  read: readonly string[],
): Promise<void> =>
  checkOutputs({
    paths: present(...products.flatMap(({ paths }) => paths), observation.flags?.out),
    from: read.at(0) ?? opened.path,
    overwrite: observation.overwrite,
  });

export async function runVisibilities(
  asked: Observation,
  settings: VisibilitiesSettings,
): Promise<VisibilitiesOutcome> {
  const observation = into(asked, settings.into);
  if (!settings.onItem) refuseUnwritten(observation);
  return withVisibilities(observation, (plan, source) => make(plan, source, settings));
}

/** The same for an open source; its caller closes it. */
export const runOpened = (
  observation: Observation,
  source: OpenedSource,
  settings: VisibilitiesSettings,
): Promise<VisibilitiesOutcome> => withOpened(observation, source, (plan) => make(plan, source, settings));

async function make(
  plan: VisibilitiesPlan,
  { paths: read }: OpenedSource,
  settings: VisibilitiesSettings,
): Promise<VisibilitiesOutcome> {
  const { from, products: planned } = plan;
  const { onItem } = settings;
  const { observation, opened } = from;
  const flagsOut = observation.flags?.out;
  if (settings.into !== undefined) await mkdir(settings.into, { recursive: true });
  await checkPlannedVisibilities(plan, read);
  await settings.onPlan?.(plan);
  const reads = await readsOf(observation, read);
  const historyFor = (product: number): readonly string[] => [
    ...opened.header.history,
    ...historyOf(settings.version, observation, product, reads(product)),
  ];
  const products: MadeFromVisibilities[] = [];
  for (const [k, product] of planned.entries()) {
    const { name } = product;
    try {
      const facts = await product.make({
        history: historyFor(k),
        stage: settings.stage,
        emit: onItem && ((item) => onItem({ ...item, product: k })),
      });
      products.push({ name, paths: product.paths, facts, flags: accountOf(from) });
    } catch (error) {
      // With several products the others are still made.
      if (planned.length === 1 || error instanceof InterruptedError) throw error;
      products.push({ name, paths: product.paths, facts: {}, failure: error as Error });
    }
  }
  const [{ failure }] = products;
  if (failure && products.every((one) => one.failure)) throw failure;
  if (flagsOut !== undefined && from.flagged) {
    const masks = from.flagged.masks.filter(({ mask }) => mask.includes(1));
    await writeFlagFile(flagsOut, masks, opened.header, historyFor(0));
  }
  return { plan, products, orbits: orbitMessages(takeOrbitReport()) };
}
