/** Interference out of spectra before anything is made of them. What is taken counts like what never came. */
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
  type Judgement,
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
  /** What a flagged input takes with it: nothing, or its station, as a card's own chain has it. */
  readonly takes?: GapsCover;
  /** Whoever wants to know afterwards what was taken. */
  readonly onPlan?: (plan: KurtosisPlan, tally: KurtosisTally) => void;
}

type Spectra = Pick<SpectraShape, 'type' | 'channels' | 'inputs'> & {
  readonly polarisations: 1 | 2;
  /** Of the voltages: real ones leave real numbers in channel 0. */
  readonly sampling?: 'real' | 'complex';
  /** The same of spectra that came. */
  readonly realChannels?: number;
  /** What an input that is taken takes with it: nothing, unless given, or its station. */
  readonly gapsCover?: GapsCover;
};

/** Samples in a block at the most for the sake of windows: a quarter of a gigabyte of 8-bit voltages. */
const MOST_SAMPLES = 2 ** 28;
const SHORTEST_WINDOW = 32;

/** Spectra of a window: as told, else 256, or fewer where a block of so many would be too large. */
const windowOf = (
  { spectraPerWindow }: RequestedKurtosis,
  { channels, inputs }: Pick<Spectra, 'channels' | 'inputs'>,
): number =>
  spectraPerWindow ??
  Math.max(SHORTEST_WINDOW, Math.min(USUAL_SPECTRA, Math.floor(MOST_SAMPLES / (channels * inputs))));

/** Windows of a block at the most: means over fewer miss a radar of 3 dB, and whoever waits for an image waits for a block. */
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

/** What blocks must hold for those that are tested. */
export const leastSpectraOf = (
  asked: RequestedKurtosis | undefined,
  spectra: Pick<Spectra, 'channels' | 'inputs'>,
): { readonly leastSpectra?: number } => (asked ? { leastSpectra: flaggedBlockOf(asked, spectra) } : {});

/** For channelisers before a flagger, which sum powers for its windows (core/blocks.ts). */
export const powersFor = (
  asked: RequestedKurtosis | undefined,
  spectra: Pick<Spectra, 'channels' | 'inputs'>,
): Pick<SpectraShape, 'powers'> => (asked ? { powers: windowOf(asked, spectra) } : {});

/** The flagger's plan for the spectra at hand. */
const planOf = (
  asked: RequestedKurtosis,
  { type, channels, inputs, polarisations, sampling, realChannels, gapsCover }: Spectra,
  flaggedInputs: Uint8Array | undefined,
): KurtosisPlan =>
  planKurtosis({
    ...asked,
    ...{ type, channels, inputs, polarisations, flaggedInputs },
    spectraPerWindow: windowOf(asked, { channels, inputs }),
    realChannels: realChannels ?? (sampling === 'real' ? 1 : 0),
    takes: asked.takes ?? gapsCover,
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
    /** The last that was begun; and those that are not handed on yet, in their order. */
    let latest: Begun | undefined;
    const held: Begun[] = [];
    /** All but so many. */
    const handOnBut = async (most: number, emit: Emit<TimedSpectra>): Promise<void> => {
      while (held.length > most) {
        const [{ timed, judged }] = held.splice(0, 1);
        tally.add(await judged, timed.index);
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
        latest = { timed, judged: judgeAfter(latest, flagger) };
        held.push(latest);
        await handOnBut(mostHeld(timed, flagger), emit);
      },
      flush: (emit) => handOnBut(0, emit),
      account: () => ({}),
      close: async () => {
        await latest?.judged.catch(() => undefined);
        await closers.close();
      },
    };
  });

/** A block whose sums are on their way. */
interface Begun {
  readonly timed: TimedSpectra;
  readonly judged: Promise<Judgement>;
}

/**
 * Blocks that are held while the next one is made, so that threads filter that one while these are judged; the flagger begins one
 * more. What an integration or an image ends with is not held: nobody waits longer for them.
 */
const mostHeld = ({ block, index, cutAt, stays = 0 }: TimedSpectra, { mostBegun }: Flagger): number =>
  index + block.samples < cutAt ? Math.min(stays, mostBegun - 1) : 0;

/** One after the other, and only when whoever made the block has set threads to work on the next: judging takes the event loop. */
function judgeAfter(before: Begun | undefined, flagger: Flagger): Promise<Judgement> {
  const judging = async (): Promise<Judgement> => {
    await before?.judged;
    await flagger.summed();
    await setImmediate();
    return flagger.finish();
  };
  const judged = judging();
  // Told to whoever hands the block on; one that nobody hands on any more is no failure.
  judged.catch(() => undefined);
  return judged;
}
