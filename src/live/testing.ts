/** In tests: a run of one stream epoch, planned from an observation. */
import type { Backend } from '../backend/backend.js';
import type { Source } from '../core/sources.js';
import { checkObservation, type ObservationInput } from '../observation/index.js';
import type { Account, Calibrated, CalibratedAt, RunOptions } from '../stages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { runStreamEpoch } from './chain.js';
import type { Listener, RunContext } from './context.js';
import { planLive } from './plan.js';
import { LiveProducts } from './products.js';
import { resolveLive } from './resolve.js';

interface TestRun extends Pick<ObservationInput, 'front' | 'flags'> {
  readonly products: readonly object[];
  readonly backend: Backend;
  readonly telescope: Telescope;
  readonly calibrated?: Calibrated | CalibratedAt;
  /** How images from visibilities are gridded. */
  readonly method?: 'flat';
}

/** The context of a run of a source that waits to be read. */
export async function contextOf(
  source: Source,
  { backend, telescope, calibrated, method, ...asked }: TestRun,
): Promise<RunContext> {
  const observation = resolveLive(
    checkObservation({ corella: 1, source: { capture: 'packets.pcap' }, telescope: 'lwasv', ...asked }),
  );
  const plan = await planLive(observation, source, telescope, {
    backend,
    description: 'a test',
    data: 'wait',
  });
  const methods = Array.from(
    plan.methods,
    ([product, one]) => [product, method ? { ...one, method } : one] as const,
  );
  return {
    backend,
    plan: {
      ...plan,
      methods: new Map(methods),
      observed: { ...plan.observed, calibrated: calibrated ?? plan.observed.calibrated },
    },
  };
}

export async function runOn(
  source: Source,
  context: RunContext,
  listener: Listener,
  options?: RunOptions,
): Promise<Account> {
  const products = new LiveProducts(context);
  products.listener = listener;
  const account = await runStreamEpoch(source, products, options);
  for (const { failure } of products.made) if (failure) throw failure;
  return account;
}
