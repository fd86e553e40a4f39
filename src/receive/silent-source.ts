/** An all-zero source with the shape of a packet source: for preparation before the first packet. */
import { allocateSpectra, allocateVoltages, type SpectraType, type VoltageType } from '../core/axes.js';
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { numberOf } from '../core/clock/rational.js';
import { refuse } from '../core/errors.js';
import { addSamples, instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import { emptyPresence, markSlots } from '../core/presence/presence.js';
import type { LiveCells } from './live-source.js';
import { blockBytesOf, samplesPerBlock } from './plan.js';
import type { ReadyToListen } from './receive.js';

const BLOCKS = 2;
/** Spectra per block: enough to process, few enough to be quick. */
const MOST_SPECTRA = 64;

export function silentSource({ ring, band, polarisations }: Omit<ReadyToListen, 'memory'>): Source {
  const { stream } = ring;
  const { inputs, channels, samplesPerSlot, ticksPerSlot, tickRateHz } = stream;
  const rateHz = tickRateHz
    ? (numberOf(tickRateHz) * samplesPerSlot) / ticksPerSlot
    : refuse(stream.format, 'the packets do not carry their rate', 'give it with source.rate');
  const start = instant(Math.floor(Date.now() / 1000));
  const common = { inputs, polarisations, bits: stream.cell.bits, start, close: nothingToClose };
  if ('frequenciesHz' in band) {
    const type = stream.type as SpectraType;
    async function* blocks(blockSamples: number): AsyncGenerator<CanonicalSpectra> {
      const samples = Math.min(blockSamples, samplesPerBlock(ring), MOST_SPECTRA);
      const spectra = allocateSpectra(type, channels, inputs, samples);
      for (let n = 0; n < BLOCKS; n++) {
        yield await Promise.resolve({
          spectra,
          samples,
          gaps: [],
          start: addSamples(start, n * samples, rateHz),
        });
      }
    }
    /** For a GPU, which takes blocks as the ring holds them. */
    async function* cells(): AsyncGenerator<LiveCells> {
      const rows = stream.senders.length * stream.fragments;
      const presence = emptyPresence(stream.senders.length, stream.fragments, ring.slotsPerBlock);
      for (let row = 0; row < rows; row++) markSlots(presence, row, 0, ring.slotsPerBlock, 'present');
      yield await Promise.resolve({
        cells: new Uint8Array(blockBytesOf(ring)),
        presence,
        samples: samplesPerBlock(ring),
        start,
        startTick: 0n,
        arrivedUnixNs: 0n,
        release: () => undefined,
      });
    }
    const spectra = { kind: 'spectra', type, channels, spectrumRateHz: rateHz, ...band, blocks } as const;
    // Has more than a Source: what live chains on a card look for.
    const live = { ...common, ...spectra, ring, cells };
    return live;
  }
  const type = stream.type as VoltageType;
  async function* blocks(blockSamples: number): AsyncGenerator<VoltageBlock> {
    const samples = Math.min(blockSamples, samplesPerBlock(ring));
    const voltages = allocateVoltages(type, inputs, samples);
    for (let n = 0; n < BLOCKS; n++) {
      yield await Promise.resolve({
        type,
        inputs,
        voltages,
        samples,
        gaps: [],
        start: addSamples(start, n * samples, rateHz),
      });
    }
  }
  return { ...common, kind: 'voltages', type, sampleRateHz: rateHz, ...band, blocks };
}
