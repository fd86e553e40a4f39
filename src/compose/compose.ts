/**
 * The order of the stages, in one place: source → front → correlate → per product: sum, van Vleck, unphase, gain, flags →
 * sink; and beside the correlator whatever starts from spectra. A recording, a range of one and a live stream are only
 * sources; a backend or several cards are only machines.
 */
import { present } from '../core/present.js';
import type { Backend } from '../backend/backend.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { Integration } from '../core/blocks.js';
import { preparing, type Closable } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import {
  channelRanges,
  JointParts,
  lengthOf,
  type RunOptions,
  onHost,
  prepareCardCorrelate,
  prepareCardSum,
  type CardIntegration,
  type IntegrationClock,
  prepareCorrelate,
  type FlagRulesSettings,
  type ChannelRange,
  type TimedSpectra,
  addAccounts,
  both,
  chain,
  changing,
  passing,
  type Account,
  type Emit,
  type Stage,
  type RequestedVanVleck,
  joinChannels,
} from '../stages/index.js';
import { leavesAsIs, prepareFinish, type Finishing } from './finish.js';
import {
  gainOfFront,
  prepareFront,
  spectraOfFront,
  spectraOfSource,
  type Front,
  type FrontSpectra,
} from './front.js';
import type { SpectraRange } from './range.js';

/** What is made of integrations: files of visibilities, images, gains. */
export interface FromIntegrations {
  readonly from: 'integrations';
  /** Where its integrations end. */
  readonly clock: IntegrationClock;
  /** The correction for rounding to few bits. */
  readonly vanVleck?: RequestedVanVleck;
  /** Means in the nominal unit, unphased; or sums unchanged. */
  readonly values?: 'means' | 'sums';
  /** Called with integrations before the gain is divided out. */
  readonly look?: (integration: Integration) => void;
  /** Flags by channel, time and pair, and the channels that are kept. */
  readonly flags?: FlagRulesSettings;
  readonly stage: Stage<Integration, unknown>;
  /** The same stage, where it takes integrations that are on a card too. */
  readonly onCard?: Stage<CardIntegration, unknown>;
}

/** What is made of spectra: direct images, channelised data, beams. */
export interface FromSpectra {
  readonly from: 'spectra';
  readonly clock: IntegrationClock;
  readonly stage: Stage<TimedSpectra, unknown>;
}

export type ComposedProduct = FromIntegrations | FromSpectra;

export interface Observing {
  readonly front: Front;
  readonly products: readonly ComposedProduct[];
  /** [a], 1 where an input is left out of all integrations. */
  readonly flaggedInputs?: Uint8Array;
  /** Called with spectra on their way to the products. */
  readonly look?: Emit<TimedSpectra>;
  /** Inputs that are flagged when an integration begins, for all products, where the operator sets them. */
  readonly flagsAt?: (start: Instant) => Uint8Array;
}

/** A cut wherever one of the clocks has one. */
export const unionOf = (clocks: readonly IntegrationClock[]): IntegrationClock =>
  clocks.find((finest) => clocks.every((clock) => clock === finest || clock.within === finest)) ?? {
    cutAfter: (index) => clocks.reduce((next, clock) => Math.min(next, clock.cutAfter(index)), Infinity),
  };

/** Prepared once; runs over the source, then closes. */
interface Composition extends Closable {
  run(options?: RunOptions): Promise<Account>;
}

/** One backend does all of it; several share the channels of the correlation. */
function compose(observing: Observing, machine: readonly Backend[]): Promise<Composition> {
  const { products } = observing;
  const [backend] = machine;
  if (products.length === 0) refuse('products', 'no product is asked for', 'name a product');
  const cuts = unionOf(products.map(({ clock }) => clock));
  return machine.length > 1
    ? onCards(observing, machine, cuts)
    : preparing(async (closers) => {
        const [front, behind] = await closers.keepAll([
          prepareFront(observing.front, { backend, clock: cuts }),
          behindFront(observing, backend, cuts),
        ]);
        return {
          run: (options) => front.run(behind, { ...lengthOf(observing.front.source), ...options }),
          close: () => closers.close(),
        };
      });
}

/** Prepares, runs and closes. */
export async function observe(
  observing: Observing,
  machine: readonly Backend[],
  options?: RunOptions,
): Promise<Account> {
  return (await compose(observing, machine)).run(options);
}

/** Everything that is made of spectra. */
export const behindFront = (
  observing: Observing,
  backend: Backend,
  cuts: IntegrationClock,
): Promise<Stage<TimedSpectra, unknown>> =>
  preparing(async (closers) => {
    const { front, products, look } = observing;
    const stages: Stage<TimedSpectra, unknown>[] = [];
    const clocks = products.filter(({ from }) => from === 'integrations').map(({ clock }) => clock);
    if (clocks.length > 0) {
      // Products from spectra have cuts of their own.
      const sums = unionOf(clocks);
      const correlated =
        backend.kind === 'cuda'
          ? await correlatedOnCard(observing, backend, sums)
          : chain(
              closers.keep(await prepareCorrelator(spectraOfFront(front), observing, backend)),
              finishing(observing, sums),
            );
      stages.push(recut(closers.keep(correlated), sums, cuts));
    }
    for (const product of products)
      if (product.from === 'spectra') stages.push(recut(product.stage, product.clock, cuts));
    const all = tee(stages);
    return look ? chain(passing(look), all) : all;
  });

const prepareCorrelator = (
  spectra: FrontSpectra,
  { flaggedInputs }: Pick<Observing, 'flaggedInputs'>,
  backend: Backend,
): Promise<Stage<TimedSpectra, Integration>> => {
  const { polarisations, grid } = spectra;
  return prepareCorrelate({ backend, spectra, polarisations, grid, flaggedInputs });
};

/** Every product of integrations, after the correlator or after the merging of its parts. */
export function finishing(observing: Observing, cuts: IntegrationClock): Stage<Integration, unknown> {
  const wanted = observing.products.filter((product) => product.from === 'integrations');
  const shared = wanted.length > 1;
  const all = tee(
    wanted.map((product) => {
      const sumTo = product.clock === cuts ? undefined : product.clock;
      return chain(prepareFinish({ sumTo, ...finishingOf(observing, product) }, { shared }), product.stage);
    }),
  );
  return flaggedAt(observing, all);
}

/** How sums are finished for a product. */
function finishingOf(
  { front }: Observing,
  { vanVleck, values, look, flags }: FromIntegrations,
): Omit<Finishing, 'sumTo'> {
  const whole = { ...front, range: undefined };
  return {
    vanVleck,
    values,
    look,
    flags,
    spectra: spectraOfFront(whole),
    start: front.source.start,
    delays: front.delays,
    gain: gainOfFront(whole),
  };
}

const flaggedAt = <Item extends Pick<Integration, 'start' | 'flaggedInputs'>>(
  { flagsAt }: Observing,
  stage: Stage<Item, unknown>,
): Stage<Item, unknown> =>
  flagsAt
    ? { ...stage, push: (item, emit) => stage.push({ ...item, flaggedInputs: flagsAt(item.start) }, emit) }
    : stage;

/**
 * The same on a card: integrations stay there, are summed there to a product's cadence, and are copied to the host
 * where a product needs them.
 */
const correlatedOnCard = (
  observing: Observing,
  backend: CudaBackend,
  sums: IntegrationClock,
): Promise<Stage<TimedSpectra, unknown>> =>
  preparing(async (closers) => {
    const spectra = spectraOfFront(observing.front);
    const { polarisations, grid } = spectra;
    const { flaggedInputs } = observing;
    const correlate = closers.keep(
      await prepareCardCorrelate({ backend, spectra, polarisations, grid, flaggedInputs }),
    );
    const wanted = observing.products.filter((product) => product.from === 'integrations');
    const stages: Stage<CardIntegration, unknown>[] = [];
    for (const product of wanted) {
      const isSummed = product.clock !== sums;
      const finish = finishingOf(observing, product);
      if (!isSummed && product.onCard && leavesAsIs(finish)) {
        stages.push(closers.keep(product.onCard));
        continue;
      }
      const first = isSummed
        ? await prepareCardSum(product.clock, grid, correlate.plan, backend)
        : changing<CardIntegration, Integration>(onHost);
      // Integrations are copied from a card once for all products.
      const shared = !isSummed && wanted.length > 1;
      stages.push(closers.keep(chain(first, prepareFinish(finish, { shared }), product.stage)));
    }
    return chain(correlate, flaggedAt(observing, tee(stages)));
  });

/** Each card makes all spectra, and correlates its own channels: joined, the integrations are those of one card. */
function onCards(
  observing: Observing,
  machine: readonly Backend[],
  cuts: IntegrationClock,
): Promise<Composition> {
  const { front, products } = observing;
  if (products.some(({ from }) => from === 'spectra'))
    refuse('machine.cards', 'several cards share a correlation alone', 'name one card');
  const spectra = spectraOfFront(front);
  const ranges = channelRanges(spectra.channels, machine.length);
  const { firstSpectrum = 0, endSpectrum = spectraOfSource(front) } = front.range ?? {};
  const rangeOf = ({ first, end }: ChannelRange): SpectraRange => ({
    firstSpectrum,
    endSpectrum,
    firstChannel: first,
    endChannel: end,
  });
  return preparing(async (closers) => {
    const behind = closers.keep(finishing(observing, cuts));
    const joint = new JointParts<Integration>(machine.length, (parts) =>
      behind.push(
        joinChannels(
          parts.map((one) => ({ channels: one.channels, one })),
          parts[0],
        ),
        nothing,
      ),
    );
    const shares = await closers.keepAll(
      machine.map((backend, k) =>
        composeShare(observing, backend, rangeOf(ranges[k]), { sums: { cuts, emit: joint.emit(k) } }),
      ),
    );
    return {
      run: async (options = {}) => {
        const stop = options.stop ? AbortSignal.any([options.stop, joint.signal]) : joint.signal;
        const length = lengthOf(front.source);
        const accounts = await joint.all(
          shares.map((share, k) => share.run({ ...length, ...(k === 0 && options), stop })),
        );
        await behind.flush(nothing);
        await behind.close();
        const [{ samplesIn, spectra: made, integrations }] = accounts;
        const sum = accounts.reduce((all, one) => addAccounts(all, one));
        return { ...sum, samplesIn, spectra: made, integrations };
      },
      close: () => closers.close(),
    };
  });
}

/** What one of several machines makes of a range. */
interface Share {
  /** Sums from the correlator, cut by `cuts`; after merging they are finished like those of a whole run. */
  readonly sums?: { readonly cuts: IntegrationClock; readonly emit: Emit<Integration> };
  /** Products that are made of spectra. */
  readonly products?: readonly FromSpectra[];
}

/** The processing of a range. */
export function composeShare(
  observing: Pick<Observing, 'front' | 'flaggedInputs'>,
  backend: Backend,
  range: SpectraRange,
  { sums, products = [] }: Share,
): Promise<Composition> {
  return preparing(async (closers) => {
    const front = { ...observing.front, range };
    const cuts = unionOf(present(sums?.cuts, ...products.map(({ clock }) => clock)));
    const stages = products.map(({ stage, clock }) => recut(stage, clock, cuts));
    if (sums) {
      const correlate = await prepareCorrelator(spectraOfFront(front), observing, backend);
      closers.keep(correlate);
      stages.unshift(chain(recut(correlate, sums.cuts, cuts), passing(sums.emit)));
    }
    // Images are floats, which depend on blocks.
    const blocks = products.length > 0 ? 'of the whole' : 'as short as the range';
    const prepared = closers.keep(await prepareFront(front, { backend, clock: cuts, blocks }));
    return {
      run: (options) => prepared.run(tee(stages), options),
      close: () => closers.close(),
    };
  });
}

/** Spectra with more cuts than this product needs. */
const recut = <Out>(
  stage: Stage<TimedSpectra, Out>,
  clock: IntegrationClock,
  cuts: IntegrationClock,
): Stage<TimedSpectra, Out> =>
  clock === cuts
    ? stage
    : {
        ...stage,
        push: (spectra, emit) => stage.push({ ...spectra, cutAt: clock.cutAfter(spectra.index) }, emit),
      };

/** All stages receive everything, in their order. */
const tee = <In>(stages: readonly Stage<In, unknown>[]): Stage<In, unknown> =>
  stages.reduce((first, second) => both(first, second));

const nothing = (): Promise<void> => Promise.resolve();
