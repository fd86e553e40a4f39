/** Removes interference from spectra before anything is made of them. Flagged samples count as missing. */
import { setImmediate } from 'node:timers/promises';
import type { Backend } from '../backend/backend.js';
import type { SpectraBlock, SpectraShape } from '../core/blocks.js';
import { preparing } from '../core/closing.js';
import type { GapsCover } from '../core/gaps.js';
import {
  KurtosisTally,
  planKurtosis,
  prepareFlagger,
  USUAL_SPECTRA,
  type Flagger,
  type Decision,
  type KurtosisOptions,
  type KurtosisPlan,
} from '../kurtosis/index.js';
import { BLOCK_BYTES } from './channels.js';
import type { TimedSpectra } from './spectra.js';
import type { Emit, Stage } from './stage.js';

export interface RequestedKurtosis extends Pick<
  KurtosisOptions,
  'sigmas' | 'spectraPerWindow' | 'over' | 'bursts'
> {
  /** What a flagged input invalidates: itself only, or its station, as in the card's own chain. */
  readonly takes?: GapsCover;
  /** Called with the plan and the tally, for a later report. */
  readonly onPlan?: (plan: KurtosisPlan, tally: KurtosisTally) => void;
}

type Spectra = Pick<SpectraShape, 'type' | 'channels' | 'inputs'> & {
  readonly polarisations: 1 | 2;
  /** So many channels, from the first on, hold real numbers. */
  readonly realChannels?: number;
};

/** Most samples in a block that windows may ask for: a quarter of a gigabyte of 8-bit voltages. */
const MOST_SAMPLES = 2 ** 28;
const SHORTEST_WINDOW = 32;

/** Spectra of a window: as set, else 256, or fewer where a block of so many would be too large. */
const windowOf = (
  { spectraPerWindow }: RequestedKurtosis,
  { channels, inputs }: Pick<Spectra, 'channels' | 'inputs'>,
): number =>
  spectraPerWindow ??
  Math.max(SHORTEST_WINDOW, Math.min(USUAL_SPECTRA, Math.floor(MOST_SAMPLES / (channels * inputs))));

/** Most windows in a block: means over fewer miss a radar of 3 dB, and the latency of an image includes a block. */
const MOST_WINDOWS = 64;

/**
 * Spectra of the blocks that are tested: whole windows, as many as fit a block of a few megabytes. It depends on the
 * spectra alone, so that a recording, a range of it and a live stream have the same blocks.
 */
export function flaggedBlockOf(
  asked: RequestedKurtosis,
  spectra: Pick<Spectra, 'channels' | 'inputs'>,
): number {
  const window = windowOf(asked, spectra);
  const windows = Math.floor(BLOCK_BYTES / (4 * spectra.channels * spectra.inputs * window));
  return window * Math.max(1, Math.min(MOST_WINDOWS, windows));
}

/** The least number of spectra in blocks that are tested. */
export const leastSpectraOf = (
  asked: RequestedKurtosis | undefined,
  spectra: Pick<Spectra, 'channels' | 'inputs'>,
): { readonly leastSpectra?: number } => (asked ? { leastSpectra: flaggedBlockOf(asked, spectra) } : {});

/** For channelisers before a flagger, which sum powers for its windows (core/blocks.ts). */
export const powersFor = (
  asked: RequestedKurtosis | undefined,
  spectra: Pick<Spectra, 'channels' | 'inputs'>,
): Pick<SpectraShape, 'powers'> => (asked ? { powers: windowOf(asked, spectra) } : {});

/** The flagger's plan for these spectra. */
const planOf = (
  asked: RequestedKurtosis,
  { type, channels, inputs, polarisations, realChannels = 0 }: Spectra,
  flaggedInputs: Uint8Array | undefined,
): KurtosisPlan =>
  planKurtosis({
    ...asked,
    type,
    channels,
    inputs,
    polarisations,
    flaggedInputs,
    spectraPerWindow: windowOf(asked, { channels, inputs }),
    realChannels,
  });

interface FlaggingSettings {
  readonly backend: Backend;
  readonly kurtosis: RequestedKurtosis;
  readonly flaggedInputs?: Uint8Array;
}

export const prepareKurtosis = (
  spectra: Spectra,
  { backend, kurtosis, flaggedInputs }: FlaggingSettings,
): Promise<Stage<TimedSpectra, TimedSpectra>> =>
  preparing(async (closers) => {
    const plan = planOf(kurtosis, spectra, flaggedInputs);
    const flagger = closers.keep(await prepareFlagger(plan, backend));
    const tally = new KurtosisTally(plan);
    kurtosis.onPlan?.(plan, tally);
    /** The last block begun; and those not handed on yet, in their order. */
    let latest: Begun | undefined;
    const held: Begun[] = [];
    /** Hands on all but so many. */
    const handOnBut = async (most: number, emit: Emit<TimedSpectra>): Promise<void> => {
      while (held.length > most) {
        const [{ timed, decision }] = held.splice(0, 1);
        tally.add(await decision, timed.index);
        await emit(timed);
      }
    };
    const begin = (block: SpectraBlock): void => {
      if (backend.kind !== 'cuda') flagger.begin(block);
      else
        backend.meter.around('flag', backend.session.streams.compute, () => {
          flagger.begin(block);
        });
    };
    return {
      push: async (timed, emit) => {
        begin(timed.block);
        latest = { timed, decision: decideAfter(latest, flagger) };
        held.push(latest);
        await handOnBut(mostHeld(timed, flagger), emit);
      },
      flush: (emit) => handOnBut(0, emit),
      account: () => ({}),
      close: async () => {
        await latest?.decision.catch(() => undefined);
        await closers.close();
      },
    };
  });

/** A block whose sums are being computed. */
interface Begun {
  readonly timed: TimedSpectra;
  readonly decision: Promise<Decision>;
}

/**
 * Blocks that are held while the next one is made, so that threads filter that one while these are tested; the flagger
 * begins one more. The end of an integration or an image is not held, since that would add latency.
 */
const mostHeld = ({ block, index, cutAt, stays = 0 }: TimedSpectra, { mostBegun }: Flagger): number =>
  index + block.samples < cutAt ? Math.min(stays, mostBegun - 1) : 0;

/** One after the other, and only when threads work on the next block: testing occupies the event loop. */
function decideAfter(before: Begun | undefined, flagger: Flagger): Promise<Decision> {
  const decide = async (): Promise<Decision> => {
    await before?.decision;
    await flagger.summed();
    await setImmediate();
    return flagger.finish();
  };
  const decision = decide();
  // The error is reported where the block is handed on; for a block that is dropped it is no failure.
  decision.catch(() => undefined);
  return decision;
}
