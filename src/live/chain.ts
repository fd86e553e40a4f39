/**
 * Runs one stream epoch through the chain: spectra are made or received, correlated once, and every product made of them
 * by the stages of the batch commands, so the results have the same bits.
 */
import type { Source } from '../core/sources.js';
import { observe, spectraOfFront } from '../compose/index.js';
import type { Account, RunOptions, SpectrumGrid } from '../stages/index.js';
import { planClocks } from './clocks.js';
import type { RunContext } from './context.js';
import { frontOf } from './front.js';
import { LiveProducts } from './products.js';
import type { Clocks } from './steering.js';

/** The clocks of a stream epoch, steered if steering is enabled. */
function epochClocks(source: Source, grid: SpectrumGrid, { plan, steering }: RunContext): Clocks {
  const clocksFor = planClocks(plan, grid);
  if (!steering) return clocksFor(plan.integrationS);
  const clocks = clocksFor(steering.integration.latest);
  return steering.follow(source, grid, clocks, (integrationS) => clocksFor(integrationS).files);
}

export async function runStreamEpoch(
  source: Source,
  products: LiveProducts,
  options: RunOptions = {},
): Promise<Account> {
  const { context } = products;
  const { backend, look, plan, steering } = context;
  const front = frontOf(source, plan.frontSettings);
  const clocks = epochClocks(source, spectraOfFront(front).grid, context);
  const epoch = await products.begin(front, source, clocks);
  try {
    const account = await observe(
      {
        front,
        products: epoch.composed,
        flaggedInputs: plan.observed.flaggedInputs,
        look,
        flagsAt: steering && ((start) => steering.flags.at(start)),
      },
      ...([[backend], options] as const),
    );
    await epoch.finish();
    return account;
  } catch (error) {
    await epoch.keep();
    throw error;
  }
}

/**
 * Runs the observation once on zeros before listening: kernels are compiled, memory is touched, and what cannot work is
 * refused before data can be lost. Nothing is written.
 */
export async function rehearse(
  silence: Source,
  { backend, plan, imagers }: Pick<RunContext, 'backend' | 'plan' | 'imagers'>,
): Promise<void> {
  const { observation, shown } = plan;
  const { visibilities, images } = shown;
  const products = observation.products.filter((_, k) => k === visibilities || k === images);
  const indexOf = (number: number): number =>
    number < 0 ? -1 : products.indexOf(observation.products[number]);
  const rehearsed = new LiveProducts({
    backend,
    imagers,
    plan: {
      ...plan,
      observation: { ...observation, products },
      shown: { visibilities: indexOf(visibilities), images: indexOf(images) },
      inForce: undefined,
    },
  });
  await runStreamEpoch(silence, rehearsed);
  for (const { failure } of rehearsed.made) if (failure) throw failure;
}
