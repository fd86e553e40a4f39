/**
 * A simulated sky as the input of a live run, in this process, without packets or sockets. Boards of a few stations
 * each lose samples on request, as with lost packets, and the account is that of packets.
 */
import { elementsPerVoltage } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { VoltageGap } from '../core/gaps.js';
import { addSamples, addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import type { VoltageSource } from '../core/sources.js';
import {
  senderOutcomes,
  outcomes,
  type SenderOutcome,
  type Outcome,
  type ReceiveAccount,
} from '../receive/index.js';
import type { Telescope } from '../telescope/telescope.js';
import type { LossControl, Losses, OpenedInput, Say } from './opened-input.js';

interface SimulatedSettings {
  readonly telescope: Telescope;
  /** The sky from an instant on; called when the first samples are needed. */
  readonly from: (start: Instant) => VoltageSource;
  readonly now: () => Instant;
  /** Resolves after this time. */
  readonly wait: (seconds: number) => Promise<void>;
  readonly losses: Losses;
  readonly seed: number;
  readonly say: Say;
}

const STATIONS_PER_BOARD = 8;
/** Length of a block of samples; it is emitted this long after its first sample. */
const BLOCK_S = 0.1;
/** Parts of a block that are lost independently, like packets. */
const SLOTS = 10;
/** A simulation further behind than this is reported. */
const BEHIND_S = 3;

interface Board {
  readonly name: string;
  readonly firstInput: number;
  readonly endInput: number;
  placed: number;
  missing: number;
}

/** Boards of neighbouring stations. */
export function boardsOf({ stations, polarisations }: Telescope): Board[] {
  const inputs = stations.length * polarisations;
  const each = STATIONS_PER_BOARD * polarisations;
  return Array.from({ length: Math.ceil(inputs / each) }, (_, n) => ({
    name: `board ${n + 1}`,
    firstInput: n * each,
    endInput: Math.min(inputs, (n + 1) * each),
    placed: 0,
    missing: 0,
  }));
}

/** The lost samples of a block, by board and slot; they are counted and set to zero. */
export function loseSamples(
  block: Pick<VoltageBlock, 'type' | 'inputs' | 'samples' | 'voltages'>,
  boards: readonly Board[],
  { percent, silent }: Losses,
  uniform: () => number,
): VoltageGap[] {
  const { type, samples, voltages } = block;
  const gaps: VoltageGap[] = [];
  const perSample = elementsPerVoltage(type);
  for (const board of boards) {
    for (let slot = 0; slot < SLOTS; slot++) {
      // Drawn for every slot: losses of one board do not change those of another.
      const isLost = 100 * uniform() < percent || silent.includes(board.name);
      if (!isLost) {
        board.placed++;
        continue;
      }
      board.missing++;
      const { firstInput, endInput } = board;
      const [firstSample, endSample] = [slot, slot + 1].map((n) => Math.round((n * samples) / SLOTS));
      gaps.push({ firstInput, endInput, firstSample, endSample });
      for (let a = firstInput; a < endInput; a++)
        voltages.fill(0, (a * samples + firstSample) * perSample, (a * samples + endSample) * perSample);
    }
  }
  return gaps;
}

/** A live input, and control of its losses. */
export function openSimulated(settings: SimulatedSettings): OpenedInput & { readonly losses: LossControl } {
  const { telescope, now, wait, say } = settings;
  const boards = boardsOf(telescope);
  const random = randomStream(settings.seed, 'simulated losses');
  let { losses } = settings;
  let [isOver, blocks, bytes, isBehind] = [false, 0, 0, false];
  check(losses, boards);

  async function* paced(source: VoltageSource): AsyncGenerator<VoltageBlock> {
    const { sampleRateHz, start } = source;
    const blockSamples = Math.max(SLOTS, Math.round(sampleRateHz * BLOCK_S));
    let done = 0;
    for await (const block of source.blocks(blockSamples)) {
      const aheadS = secondsBetween(now(), addSeconds(start, (done + block.samples) / sampleRateHz));
      if (aheadS > 0) await wait(aheadS);
      else if (aheadS < -BEHIND_S && !isBehind) {
        isBehind = true;
        say(
          `warning: the simulation is ${(-aheadS).toFixed(0)} s behind the clock: this machine is too slow for it; choose fewer stations or a lower sample rate`,
        );
      }
      if (isOver) return;
      const gaps = loseSamples(block, boards, losses, () => random.uniform());
      blocks++;
      bytes += block.voltages.byteLength;
      yield { ...block, start: addSamples(start, done, sampleRateHz), gaps };
      done += block.samples;
    }
  }

  return {
    description: `a simulated sky over ${telescope.title}, ${telescope.stations.length} stations`,
    telescope,
    isLive: true,
    *sessions() {
      // A second to prepare with the first samples.
      const source = settings.from(addSeconds(now(), 1));
      yield { ...source, blocks: () => paced(source) };
    },
    stop: () => {
      isOver = true;
    },
    packets: () => accountOf(boards, { blocks, bytes }),
    losses: {
      boards: boards.map(({ name }) => name),
      now: () => losses,
      set: (wanted) => {
        check(wanted, boards);
        losses = wanted;
      },
    },
    close: nothingToClose,
  };
}

function check({ percent, silent }: Losses, boards: readonly Board[]): void {
  if (!(percent >= 0 && percent <= 100))
    refuse('losses.percent', `is ${percent}`, 'give a number from 0 to 100');
  const unknown = silent.find((name) => !boards.some((board) => board.name === name));
  if (unknown !== undefined)
    refuse(
      'losses.silent',
      `'${unknown}' is not a board`,
      `choose from ${boards.map(({ name }) => name).join(', ')}`,
    );
}

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;

/** As for packets: each slot of a board counts as one. */
function accountOf(
  boards: readonly Board[],
  { blocks, bytes }: { readonly blocks: number; readonly bytes: number },
): ReceiveAccount {
  const placed = boards.reduce((sum, board) => sum + board.placed, 0);
  return {
    packets: placed,
    bytes,
    outcomes: { ...zeros<Outcome>(outcomes), placed },
    blocks,
    skippedBlocks: 0,
    missingCells: boards.reduce((sum, { missing }) => sum + missing, 0),
    resyncs: 0,
    refusedResyncs: 0,
    edgeCells: 0,
    untimedBlocks: 0,
    senders: boards.map((board, source) => ({
      source,
      name: board.name,
      outcomes: { ...zeros<SenderOutcome>(senderOutcomes), placed: board.placed },
      missingCells: board.missing,
      newestTick: undefined,
      duplicateIdPackets: 0,
    })),
  };
}
