/** The definition of a kernel benchmark, and how its cases become rows. */
import type { Backend } from '../backend/backend.js';
import { closingAfter, type Closers } from '../core/closing.js';
import { measure, medianRatio, spreadOf, type Contestant, type MeasureOptions } from './measure.js';
import type { Peers } from './peers.js';

export type Parameters = Readonly<Record<string, number | string>>;

/** One line of the table. Rates are per second, in `unit`. */
export interface BenchRow {
  readonly kernel: string;
  readonly backend: Backend['kind'];
  /** Instruction-set level, or the kernel variant on a GPU; null if the backend has none. */
  readonly isa: string | null;
  readonly threads: number;
  readonly parameters: Parameters;
  readonly median: number;
  /** The interquartile range over the median. */
  readonly spread: number;
  readonly unit: string;
  /** This machine's own limit, measured alternately with the kernel, in the same unit. */
  readonly ceiling: number;
  readonly ceilingName: string;
  readonly fraction: number;
  /** The peer's rate, and our rate over it, from the same rounds. */
  readonly peer?: number;
  readonly peerName?: string;
  readonly ratio?: number;
}

export interface PreparedCase {
  readonly ours: Contestant;
  readonly ceiling: Contestant & { readonly title: string };
  readonly peer?: Contestant & { readonly name: string };
}

export interface BenchCase {
  readonly parameters: Parameters;
  readonly unit: string;
  /** A round number of units by which rates are divided. */
  readonly scale: number;
  /** Longer turns than requested, where shorter ones would mislead. */
  readonly secondsPerTurn?: number;
  /** Objects to be closed after the measurement are kept in `closers`. */
  prepare(closers: Closers, peers: Peers | undefined): Promise<PreparedCase>;
}

export interface KernelBench {
  readonly kernel: string;
  readonly cases: (backend: Backend) => readonly BenchCase[];
}

/** Shorter turns would measure the GPU before its power limit takes effect. */
export const CARD_SECONDS_PER_TURN = 0.25;

export function runCase(
  kernel: string,
  backend: Backend,
  bench: BenchCase,
  peers: Peers | undefined,
  options: MeasureOptions,
): Promise<BenchRow> {
  return closingAfter(async (closers) => {
    const prepared = await bench.prepare(closers, peers);
    const contestants = [prepared.ours, prepared.ceiling, ...(prepared.peer ? [prepared.peer] : [])];
    const [ours, ceiling, peer] = await measure(contestants, {
      ...options,
      secondsPerTurn:
        bench.secondsPerTurn ?? (backend.kind === 'cuda' ? CARD_SECONDS_PER_TURN : options.secondsPerTurn),
    });
    const { median, spread } = spreadOf(ours);
    const row: BenchRow = {
      kernel,
      backend: backend.kind,
      isa: isaOf(backend),
      threads: threadsOf(backend),
      parameters: bench.parameters,
      median: median / bench.scale,
      spread,
      unit: bench.unit,
      ceiling: spreadOf(ceiling).median / bench.scale,
      ceilingName: prepared.ceiling.title,
      fraction: medianRatio(ours, ceiling),
    };
    if (!prepared.peer) return row;
    return {
      ...row,
      peer: spreadOf(peer).median / bench.scale,
      peerName: prepared.peer.name,
      ratio: medianRatio(ours, peer),
    };
  });
}

/** The work of a call grows with the threads, so that each has a few milliseconds of work. */
export const threadsOf = (backend: Backend): number => (backend.kind === 'cpu' ? backend.threads : 1);

function isaOf(backend: Backend): string | null {
  switch (backend.kind) {
    case 'reference':
      return null;
    case 'cpu':
      return backend.isa;
    case 'cuda':
      return backend.path;
  }
}
