/** A small array's packets as a source, without sockets: as packet slots of the ring, and turned by the reference. */
import { instant, addSamples } from '../../core/instant.js';
import type { SpectraSource } from '../../core/sources.js';
import { emptyPresence, gapsOfPresence, markSlots } from '../../core/presence/presence.js';
import { randomStream } from '../../core/random.js';
import { spectraCAT, type SpectraType } from '../../core/axes.js';
import { chips } from '../../packets/chips.js';
import { speadFeng } from '../../packets/spead/feng.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import type { LiveCells, LiveSpectraSource } from '../live-source.js';
import { planRing, type RingPlan } from '../plan.js';
import { allocateTurned, turnCells } from '../turn.js';

/** Two boards of 32 inputs; 4-bit samples. */
export const twoBoards: StreamPlan = chips.plan({ boards: [1, 2], channels: 3, firstChannel: 2000 });
/** Dual-polarisation antennas, eight bits, heaps of 16 spectra in two parts of the band. */
export const fourAntennas: StreamPlan = speadFeng.plan({
  antennas: [0, 1, 2, 3],
  firstChannel: 0,
  channelsPerHeap: 4,
  spectraPerHeap: 16,
  ticksPerSpectrum: 8,
  packetBytes: 128,
});

export interface Trial {
  readonly stream: StreamPlan;
  readonly slotsPerBlock: number;
  readonly blocks: number;
  readonly spectrumRateHz: number;
  /** Blocks that never arrive. */
  readonly skipped?: readonly number[];
  /** Percentage of packets. */
  readonly missingPercent: number;
}

/** Held in memory; random bytes in every packet slot, including the missing ones. */
export function trialSource(trial: Trial): LiveSpectraSource {
  const { stream, slotsPerBlock, spectrumRateHz } = trial;
  const ring: RingPlan = planRing(stream, { slotsPerBlock, blocks: 8, skipTicks: 1_000_000, flushMs: 1000 });
  const start = instant(Date.UTC(2026, 5, 21, 4) / 1000, 0.1234);
  const samples = slotsPerBlock * stream.samplesPerSlot;
  const random = randomStream(7, 'trial', stream.format);
  const all: LiveCells[] = [];
  for (let n = 0; n < trial.blocks; n++) {
    const presence = emptyPresence(stream.senders.length, stream.fragments, slotsPerBlock);
    for (let row = 0; row < stream.senders.length * stream.fragments; row++)
      for (let slot = 0; slot < slotsPerBlock; slot++)
        if (random.below(100) >= trial.missingPercent) markSlots(presence, row, slot, slot + 1, 'present');
    const bytes = stream.senders.length * stream.fragments * slotsPerBlock * stream.cellBytes;
    const cells = Uint8Array.from({ length: bytes }, () => random.below(256));
    if (trial.skipped?.includes(n) === true) continue;
    all.push({
      cells,
      presence,
      samples,
      startTick: BigInt(n * slotsPerBlock * stream.ticksPerSlot),
      start: addSamples(start, n * samples, spectrumRateHz),
      arrivedUnixNs: 0n,
      release: () => undefined,
    });
  }
  const type = stream.type as SpectraType;
  const turn = turnCells(ring);
  const whole = { first: 0, end: slotsPerBlock };
  const facts: SpectraSource = {
    kind: 'spectra',
    type,
    start,
    spectrumRateHz,
    channels: stream.channels,
    inputs: stream.inputs,
    polarisations: 2,
    frequenciesHz: Float64Array.from({ length: stream.channels }, (_, c) => 50e6 + 25e3 * c),
    channelWidthHz: 25e3,
    blocks: async function* (most: number) {
      // The stage that takes spectra never requests this.
      if (most < samples) throw new Error(`blocks of ${samples} spectra where ${most} are asked for`);
      for (const one of all) {
        const turned = allocateTurned(stream, samples);
        await turn({ ...one, session: 0, epoch: 0n, skippedBlocks: 0, missingCells: 0 }, whole, turned);
        yield {
          spectra: spectraCAT(turned as Uint8Array, type, stream.channels, stream.inputs, samples),
          samples,
          start: one.start,
          gaps: gapsOfPresence(one.presence, stream),
        };
      }
    },
    close: () => Promise.resolve(),
  };
  return {
    ...facts,
    session: 0,
    startTick: 0n,
    epochFrom: 'operator',
    layout: stream,
    ring,
    clock: { epoch: start, tickRateHz: { numerator: 1n, denominator: 1n } },
    cells: async function* () {
      await Promise.resolve();
      yield* all;
    },
  } as LiveSpectraSource;
}
