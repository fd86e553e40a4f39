/** Simulates a sky over a telescope as a stream of recorded voltages. The same plan always gives the same bytes. */
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { allocateVoltages, elementsPerVoltage, voltagesAT, type VoltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { wholeNumber } from '../core/errors.js';
import type { VoltageGap } from '../core/gaps.js';
import { addSamples } from '../core/instant.js';
import { prepareChunks, type ChunkMaker } from './chunks/chunk.js';
import { fullScale } from './quantise.js';
import type { SimulationPlan } from './simulation-plan.js';
import { randomStream } from '../core/random.js';

/** Blocks in order, each valid until the next is requested: the memory is reused. */
interface Simulation extends AsyncIterable<VoltageBlock> {
  /** Numbers (re and im count separately) at the rails so far in the latest pass, clipped or exactly at the rail. */
  readonly clippedNumbers: number;
}

interface SimulateOptions {
  /** One per core by default, or a single one for little work. */
  readonly threads?: number;
}

/** Numbers that one thread makes in about a third of a second: for fewer, starting others takes as long. */
const LITTLE = 2 ** 22;

/** Successive blocks of at most `blockSamples` samples; block size and number of threads do not change any sample. */
export function simulate(
  plan: SimulationPlan,
  blockSamples: number,
  options: SimulateOptions = {},
): Simulation {
  wholeNumber('simulate', 'blockSamples', blockSamples, 1, Number.MAX_SAFE_INTEGER);
  const defaultThreads = plan.inputs * plan.samples < LITTLE ? 1 : availableParallelism();
  const threads = wholeNumber('simulate', 'threads', options.threads ?? defaultThreads, 1, 4096);
  let clippedNumbers = 0;
  async function* blocks(): AsyncGenerator<VoltageBlock> {
    clippedNumbers = 0;
    const chunks = prepareChunks(plan, Math.min(threads, plan.telescope.stations.length));
    try {
      yield* cutInto(chunks);
    } finally {
      await chunks.close();
    }
  }
  async function* cutInto(chunks: ChunkMaker): AsyncGenerator<VoltageBlock> {
    const { type, inputs, samples, grid, sampleRateHz } = plan;
    const perSample = elementsPerVoltage(type);
    const storage = allocateVoltages(type, inputs, Math.min(blockSamples, samples));
    const drops = { ...plan, stations: plan.telescope.stations.length };
    let inHand = -1;
    for (let first = 0; first < samples; first += blockSamples) {
      const count = Math.min(blockSamples, samples - first);
      const voltages = voltagesAT(storage.subarray(0, inputs * count * perSample), type, inputs, count);
      for (let done = 0; done < count;) {
        const chunk = Math.floor((first + done) / grid.chunkSamples);
        if (chunk !== inHand) {
          // Making a chunk takes a while: let timers, writes and signals run between two chunks.
          await setImmediate();
          const clipped = await chunks.make(chunk);
          clippedNumbers += clipped;
          inHand = chunk;
        }
        const offset = first + done - chunk * grid.chunkSamples;
        const length = Math.min(grid.chunkSamples - offset, count - done);
        for (let a = 0; a < inputs; a++) {
          const from = (a * grid.chunkSamples + offset) * perSample;
          const run = chunks.voltages.subarray(from, from + length * perSample);
          voltages.set(run, (a * count + done) * perSample);
        }
        done += length;
      }
      const gaps = droppedGaps(drops, first, count);
      clippedNumbers -= silence(voltages, gaps, count * perSample, { perSample, rail: fullScale[type] });
      yield {
        type,
        inputs,
        samples: count,
        voltages,
        gaps,
        start: addSamples(plan.start, first, sampleRateHz),
      };
    }
  }
  return {
    [Symbol.asyncIterator]: blocks,
    get clippedNumbers() {
      return clippedNumbers;
    },
  };
}

/** Zeros lost samples; returns how many numbers at the rails were among them. */
function silence(
  voltages: VoltagesAT,
  gaps: readonly VoltageGap[],
  rowElements: number,
  { perSample, rail }: { readonly perSample: number; readonly rail: number },
): number {
  let clipped = 0;
  for (const gap of gaps) {
    for (let a = gap.firstInput; a < gap.endInput; a++) {
      const row = a * rowElements;
      const lost = voltages.subarray(row + gap.firstSample * perSample, row + gap.endSample * perSample);
      for (const value of lost) if (Math.abs(value) >= rail) clipped++;
      lost.fill(0);
    }
  }
  return clipped;
}

/** Samples of one station, all its polarisations, that are sent in one packet. */
const PACKET_SAMPLES = 512;

interface Drops {
  readonly seed: number;
  /** The probability that a packet is lost. */
  readonly dropFraction: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
}

/**
 * Gaps among `samples` samples from `firstSample` of the recording, in samples of the recording; neighbours are joined.
 */
export function droppedGaps(drops: Drops, firstSample: number, samples: number): VoltageGap[] {
  if (drops.dropFraction === 0) return [];
  const gaps: VoltageGap[] = [];
  const openSince = new Array<number>(drops.stations).fill(-1);
  const close = (station: number, endSample: number): void => {
    if (openSince[station] < 0) return;
    gaps.push({
      firstInput: station * drops.polarisations,
      endInput: (station + 1) * drops.polarisations,
      firstSample: openSince[station],
      endSample,
    });
    openSince[station] = -1;
  };
  const end = firstSample + samples;
  for (let packet = Math.floor(firstSample / PACKET_SAMPLES); packet * PACKET_SAMPLES < end; packet++) {
    const here = Math.max(0, packet * PACKET_SAMPLES - firstSample);
    const stream = randomStream(drops.seed, 'drop', packet);
    for (let station = 0; station < drops.stations; station++) {
      if (stream.uniform() >= drops.dropFraction) close(station, here);
      else if (openSince[station] < 0) openSince[station] = here;
    }
  }
  for (let station = 0; station < drops.stations; station++) close(station, samples);
  return gaps;
}
