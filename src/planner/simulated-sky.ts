/** A simulated sky in pinned memory: a few different blocks, to be fed to a resident chain over and over. */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { prepareCudaChanneliser } from '../channelise/on-card.js';
import { planChannelise } from '../channelise/index.js';
import { voltagesAT, type VoltagesAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { closingAfter, preparing, type Closable, type Closers } from '../core/closing.js';
import type { Instant } from '../core/instant.js';
import { sourcesUp, type SourceUp } from '../sky/above.js';
import type { SkyFrame } from '../sky/frame.js';
import { simulate } from '../sky/simulate.js';
import { planSimulation } from '../sky/simulation-plan.js';
import type { Source } from '../sky/source.js';
import type { Telescope } from '../telescope/telescope.js';
import type { HostBlock } from './resident/front.js';
import type { WorkloadChain } from './workload-chain.js';

export interface SimulatedSky extends Closable {
  /** In page-locked memory, each another stretch of the same sky. */
  readonly blocks: readonly HostBlock[];
  /** What shines in it, the apparently brightest first. */
  readonly up: readonly SourceUp[];
}

export interface SkyOptions {
  readonly telescope: Telescope;
  readonly frame: SkyFrame;
  readonly start: Instant;
  readonly sources: readonly Source[];
  readonly seed: number;
  /** How many different blocks. */
  readonly blocks: number;
  readonly onProgress?: (fraction: number) => void;
}

/** Receiver noise of each input, as first light has it. */
const SYSTEM_FLUX_JY = 10_000;
/** Each block holds so much of the sky, over and over: the simulator takes far longer than a card. */
const LEAST_SAMPLES = 16_384;
const BYTES_PER_SAMPLE = 2;

export function simulateSky(
  chain: WorkloadChain,
  backend: CudaBackend,
  options: SkyOptions,
): Promise<SimulatedSky> {
  const { telescope, frame, sources, start, seed } = options;
  const { channelise, centreFrequencyHz, sampleRateHz, plan } = chain;
  const band = { telescope, start, sampleRateHz, centreFrequencyHz, type: 'ci8', sources } as const;
  const perChunk = planSimulation({ ...band, samples: 1, systemFluxJy: SYSTEM_FLUX_JY, seed }).grid
    .chunkSamples;
  // Whole chunks, which repeat without a seam.
  const once = Math.ceil(Math.min(LEAST_SAMPLES, channelise.blockSamples) / perChunk) * perChunk;
  const simulation = planSimulation({
    ...band,
    samples: once * options.blocks,
    systemFluxJy: SYSTEM_FLUX_JY,
    seed,
  });
  return preparing(async (closers) => {
    const blocks: HostBlock[] = [];
    await closingAfter(async (meanwhile) => {
      const toHost = await (plan.input.kind === 'voltages' ? asVoltages : asSpectra)(chain, backend, {
        closers,
        meanwhile,
      });
      for await (const block of simulate(simulation, once)) {
        blocks.push(await toHost(block));
        options.onProgress?.(blocks.length / options.blocks);
      }
    });
    const frequencyHz = centreFrequencyHz;
    const up = sourcesUp(sources, frame, 1, { telescope, frequencyHz });
    return { blocks, up, close: () => closers.close() };
  });
}

/** The block in pinned memory, as the chain wants it, made of a shorter stretch over and over. */
type ToHost = (stretch: VoltageBlock) => Promise<HostBlock>;

interface Owners {
  /** Of the blocks. */
  readonly closers: Closers;
  /** Of what makes them. */
  readonly meanwhile: Closers;
}

function asVoltages(
  { channelise }: WorkloadChain,
  { session }: CudaBackend,
  { closers }: Owners,
): Promise<ToHost> {
  const { blockSamples: samples, inputs } = channelise;
  const sizeBytes = inputs * samples * BYTES_PER_SAMPLE;
  return Promise.resolve((stretch) => {
    const { buffer } = closers.keep(session.allocatePinned('voltages', sizeBytes));
    const voltages = repeated(stretch, samples, new Int8Array(buffer, 0, sizeBytes));
    return Promise.resolve({ ...stretch, samples, voltages });
  });
}

/** Channelised on the card, and brought back to where an F-engine elsewhere would have put it. */
async function asSpectra(
  { channelise, plan }: WorkloadChain,
  backend: CudaBackend,
  { closers, meanwhile }: Owners,
): Promise<ToHost> {
  const { inputs, channels, taps } = channelise;
  const { spectra: shape } = plan;
  // Longer by the filter's window, so that every block is full.
  const samples = channels * (shape.capacity + taps - 1);
  const longer = planChannelise({ ...channelise, blockSamples: samples });
  const channeliser = meanwhile.keep(await prepareCudaChanneliser(longer, backend));
  const onCard = meanwhile.keep(backend.allocateSpectra(shape));
  return async (stretch) => {
    const bytes = new Int8Array(inputs * samples * BYTES_PER_SAMPLE);
    channeliser.reset();
    await channeliser.run({ ...stretch, samples, voltages: repeated(stretch, samples, bytes) }, onCard);
    const { spectra } = closers.keep(backend.allocatePinned(shape));
    spectra.set(await onCard.read());
    return { spectra, samples: shape.capacity, gaps: [] };
  };
}

/** voltages : [a][t] with the stretch's samples over and over along t. */
function repeated(stretch: VoltageBlock, samples: number, into: Int8Array): VoltagesAT {
  for (let a = 0; a < stretch.inputs; a++) {
    const row = stretch.voltages.subarray(
      a * stretch.samples * BYTES_PER_SAMPLE,
      (a + 1) * stretch.samples * BYTES_PER_SAMPLE,
    );
    for (let t = 0; t < samples; t += stretch.samples) {
      const count = Math.min(stretch.samples, samples - t);
      into.set(row.subarray(0, count * BYTES_PER_SAMPLE), (a * samples + t) * BYTES_PER_SAMPLE);
    }
  }
  return voltagesAT(into, 'ci8', stretch.inputs, samples);
}
