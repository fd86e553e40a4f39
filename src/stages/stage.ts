/**
 * A link of the chain. It is prepared once from pure settings and then runs as long as data come: `push` receives items
 * from the stage before it, and hands on what they complete; `flush` hands on what is unfinished when the data end. A
 * stage does not know its neighbours: `chain` joins them, and `stages/run.ts` runs the whole.
 */
import { Closers, nothingToClose, type Closable } from '../core/closing.js';

/** Receives what a stage makes. An item stays valid until this has resolved, unless its type allows more. */
export type Emit<Item> = (item: Item) => Promise<void>;

/** Counts of the data, each made where it happens. */
export interface Account {
  /** Samples of each input that went in, missing ones included. */
  samplesIn: number;
  /** Samples that were missing, over all inputs; of channelised data each channel's count. */
  missingSamples: number;
  /** Spectra that were made or received, missing ones included. */
  spectra: number;
  /** Real and imaginary parts that saturated on requantising. */
  saturated: number;
  integrations: number;
  images: number;
}

export const emptyAccount = (): Account => ({
  samplesIn: 0,
  missingSamples: 0,
  spectra: 0,
  saturated: 0,
  integrations: 0,
  images: 0,
});

export interface Stage<In, Out> extends Closable {
  /** One at a time: a caller waits for a push before the next. */
  push(item: In, emit: Emit<Out>): Promise<void>;
  flush(emit: Emit<Out>): Promise<void>;
  /** What this stage counted since it was prepared. */
  account(): Partial<Account>;
}

/** Joins stages: each receives what the one before hands on. */
export function chain<A, B, C>(first: Stage<A, B>, second: Stage<B, C>): Stage<A, C>;
export function chain<A, B, C, D>(first: Stage<A, B>, second: Stage<B, C>, third: Stage<C, D>): Stage<A, D>;
export function chain<A, B, C, D, E>(
  first: Stage<A, B>,
  second: Stage<B, C>,
  third: Stage<C, D>,
  fourth: Stage<D, E>,
): Stage<A, E>;
export function chain(
  first: Stage<unknown, unknown>,
  ...others: readonly Stage<unknown, unknown>[]
): Stage<unknown, unknown> {
  return others.reduce(join, first);
}

function join<In, Between, Out>(first: Stage<In, Between>, second: Stage<Between, Out>): Stage<In, Out> {
  const closers = new Closers();
  for (const stage of [first, second]) closers.keep(stage);
  return {
    push: (item, emit) => first.push(item, (between) => second.push(between, emit)),
    flush: async (emit) => {
      await first.flush((between) => second.push(between, emit));
      await second.flush(emit);
    },
    account: () => addAccounts(first.account(), second.account()),
    close: () => closers.close(),
  };
}

/** Both stages receive everything; the results of both are handed on, the first one's first. */
export function both<In, Out>(first: Stage<In, Out>, second: Stage<In, Out>): Stage<In, Out> {
  const closers = new Closers();
  for (const stage of [first, second]) closers.keep(stage);
  return {
    push: async (item, emit) => {
      await first.push(item, emit);
      await second.push(item, emit);
    },
    flush: async (emit) => {
      await first.flush(emit);
      await second.flush(emit);
    },
    account: () => addAccounts(first.account(), second.account()),
    close: () => closers.close(),
  };
}

/** Of a stage without items of its own: nothing is unfinished at the end, counted or open. */
export const keepsNothing = {
  flush: () => Promise.resolve(),
  account: () => ({}),
  close: nothingToClose,
} as const;

/** Hands on what `change` makes of each item. */
export const changing = <In, Out>(change: (item: In) => Out | Promise<Out>): Stage<In, Out> => ({
  push: async (item, emit) => emit(await change(item)),
  ...keepsNothing,
});

/** Hands everything on unchanged, and passes it to `look` first: a writer, a page. */
export const passing = <Item>(look: Emit<Item>): Stage<Item, Item> =>
  changing(async (item) => {
    await look(item);
    return item;
  });

export function addAccounts(x: Partial<Account>, y: Partial<Account>): Account {
  const sum = emptyAccount();
  for (const key of Object.keys(sum) as (keyof Account)[]) sum[key] = (x[key] ?? 0) + (y[key] ?? 0);
  return sum;
}
