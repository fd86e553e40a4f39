/**
 * Arriving blocks as sources: one per stream epoch, so that all samples of a source are on one time grid. When the
 * senders' clocks are reset, the source ends and the next one begins.
 */
import { spectraCAT, voltagesAT } from '../core/axes.js';
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import { instantOfTick, type TickClock } from '../core/clock/tick-clock.js';
import { numberOf } from '../core/clock/rational.js';
import { gapsOfPresence, type CellLayout, type Presence, emptyPresence } from '../core/presence/presence.js';
import type { SpectraSource, VoltageSource } from '../core/sources.js';
import type { SpectraType, VoltageType } from '../core/axes.js';
import type { Band } from './band.js';
import type { KnownEpoch } from './epoch.js';
import { samplesPerBlock, type RingPlan } from './plan.js';
import type { ArrivedBlock } from './ring.js';
import { allocateTurned, type CornerTurn, type Turned } from './turn.js';

/** Information in a block of packets besides its samples. */
interface ArrivalFacts {
  readonly startTick: bigint;
  /** Which packets arrived, by sender. */
  readonly presence: Presence;
  /** Arrival time of its first packet. */
  readonly arrivedUnixNs: bigint;
}
interface LiveSpectra extends CanonicalSpectra, ArrivalFacts {
  release(): void;
}
interface LiveVoltages extends VoltageBlock, ArrivalFacts {
  release(): void;
}

/** A whole block of the ring, untouched, for a corner turn elsewhere (GPU). */
export interface LiveCells extends ArrivalFacts, Pick<ArrivedBlock, 'cells' | 'address'> {
  readonly samples: number;
  readonly start: Instant;
  release(): void;
}

interface EpochFacts {
  /** From 0; incremented whenever the senders' clocks are reset. */
  readonly session: number;
  readonly startTick: bigint;
  /** Ticks to UTC, and where that comes from. */
  readonly clock: TickClock;
  readonly epochFrom: KnownEpoch['from'];
  /** The position of each source in the presence bits. */
  readonly layout: CellLayout;
  readonly ring: RingPlan;
}
export interface LiveSpectraSource extends SpectraSource, EpochFacts {
  blocks(blockSamples: number): AsyncIterable<LiveSpectra>;
  /** Used instead of blocks. */
  cells(): AsyncIterable<LiveCells>;
}
interface LiveVoltageSource extends VoltageSource, EpochFacts {
  blocks(blockSamples: number): AsyncIterable<LiveVoltages>;
}
export type LiveSource = LiveSpectraSource | LiveVoltageSource;

interface EpochParts {
  readonly plan: RingPlan;
  readonly band: Band;
  readonly polarisations: 1 | 2;
  readonly turn: CornerTurn;
  readonly first: ArrivedBlock;
  readonly epoch: KnownEpoch;
  readonly clock: TickClock;
  /** The next block of this stream epoch; undefined at its end. */
  readonly next: () => Promise<ArrivedBlock | undefined>;
}

export function liveSource(parts: EpochParts): LiveSource {
  const { plan, band, polarisations, first, epoch, clock } = parts;
  const { stream } = plan;
  const rateHz = (numberOf(clock.tickRateHz) * stream.samplesPerSlot) / stream.ticksPerSlot;
  const facts = {
    inputs: stream.inputs,
    polarisations,
    bits: stream.cell.bits,
    start: instantOfTick(clock, first.startTick),
    session: first.session,
    startTick: first.startTick,
    clock,
    epochFrom: epoch.from,
    layout: stream,
    ring: plan,
    close: nothingToClose,
  };
  if ('frequenciesHz' in band) {
    const type = stream.type as SpectraType;
    return {
      ...facts,
      kind: 'spectra',
      type,
      channels: stream.channels,
      spectrumRateHz: rateHz,
      ...band,
      cells: () => wholeBlocks(parts),
      blocks: (blockSamples) =>
        pieces(parts, blockSamples, (turned, samples, presence) => ({
          spectra: spectraCAT(turned as Uint8Array, type, stream.channels, stream.inputs, samples),
          gaps: gapsOfPresence(presence, stream),
        })),
    };
  }
  const type = stream.type as VoltageType;
  return {
    ...facts,
    kind: 'voltages',
    type,
    sampleRateHz: rateHz,
    ...band,
    blocks: (blockSamples) =>
      pieces(parts, blockSamples, (turned, samples, presence) => ({
        type,
        inputs: stream.inputs,
        voltages: voltagesAT(turned as Int8Array, type, stream.inputs, samples),
        gaps: gapsOfPresence(presence, stream).map(({ firstInput, endInput, firstSample, endSample }) => ({
          firstInput,
          endInput,
          firstSample,
          endSample,
        })),
      })),
  };
}

async function* wholeBlocks({ plan, first, clock, next }: EpochParts): AsyncGenerator<LiveCells> {
  for (let block: ArrivedBlock | undefined = first; block; block = await next()) {
    const arrived = block;
    try {
      yield {
        cells: arrived.cells,
        address: arrived.address,
        samples: samplesPerBlock(plan),
        startTick: arrived.startTick,
        start: instantOfTick(clock, arrived.startTick),
        presence: arrived.presence,
        arrivedUnixNs: arrived.arrivedUnixNs,
        release: () => {
          arrived.release();
        },
      };
    } finally {
      arrived.release();
    }
  }
}

interface Piece extends ArrivalFacts {
  readonly samples: number;
  readonly start: ReturnType<typeof instantOfTick>;
  release(): void;
}

/** Whole blocks of the ring if they are no longer than requested, otherwise equal parts (the last may be shorter). */
async function* pieces<Rest>(
  { plan, turn, first, clock, next }: EpochParts,
  blockSamples: number,
  rest: (turned: Turned, samples: number, presence: Presence) => Rest,
): AsyncGenerator<Piece & Rest> {
  const { stream, slotsPerBlock } = plan;
  const most = Math.min(slotsPerBlock, Math.floor(blockSamples / stream.samplesPerSlot));
  if (most < 1) {
    refuse(
      'receive',
      `blocks of ${blockSamples} samples, where a packet holds ${stream.samplesPerSlot}`,
      `ask for ${stream.samplesPerSlot} at least`,
    );
  }
  const parts = Math.ceil(slotsPerBlock / most);
  const each = Math.ceil(slotsPerBlock / parts);
  /** Free memory by length in slots; released memory is reused. */
  const spare = new Map<number, Turned[]>();
  const borrow = (slots: number): Turned =>
    spare.get(slots)?.pop() ?? allocateTurned(stream, slots * stream.samplesPerSlot);
  for (let block: ArrivedBlock | undefined = first; block; block = await next()) {
    try {
      for (let from = 0; from < slotsPerBlock; from += each) {
        const slots = Math.min(each, slotsPerBlock - from);
        const turned = borrow(slots);
        await turn(block, { first: from, end: from + slots }, turned);
        const startTick: bigint = block.startTick + BigInt(from * stream.ticksPerSlot);
        const presence = presenceBetween(block.presence, from, from + slots);
        let released = false;
        // The block is released as soon as its last part is turned, so that later stages do not hold up the ring.
        if (from + slots === slotsPerBlock) block.release();
        yield {
          samples: slots * stream.samplesPerSlot,
          startTick,
          start: instantOfTick(clock, startTick),
          presence,
          arrivedUnixNs: block.arrivedUnixNs,
          release: () => {
            if (!released) spare.set(slots, [...(spare.get(slots) ?? []), turned]);
            released = true;
          },
          ...rest(turned, slots * stream.samplesPerSlot, presence),
        };
      }
    } finally {
      block.release();
    }
  }
}

/** A copy of the slots from `first` up to, not including, `end`. */
function presenceBetween(presence: Presence, first: number, end: number): Presence {
  const { senders, fragments, rowWords, bits } = presence;
  const part = emptyPresence(senders, fragments, end - first);
  const shift = first & 31;
  for (let row = 0; row < senders * fragments; row++) {
    for (let word = 0; word * 32 < end - first; word++) {
      const at = row * rowWords + (first >>> 5) + word;
      const next = (first >>> 5) + word + 1 < rowWords ? bits[at + 1] : 0;
      const both = shift === 0 ? bits[at] : (bits[at] >>> shift) | (next << (32 - shift));
      const left = end - first - word * 32;
      part.bits[row * part.rowWords + word] = left >= 32 ? both : both & ((1 << left) - 1);
    }
  }
  return part;
}
