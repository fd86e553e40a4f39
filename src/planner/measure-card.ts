/**
 * What each kernel's unit of work costs on a card, and how fast its bus is: the resident chain itself, by both roads, on
 * part of the channels and for a few blocks of noise, timed step by step.
 */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { voltagesAT } from '../core/axes.js';
import { closingAfter, type Closers } from '../core/closing.js';
import { instant } from '../core/instant.js';
import type { SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { fillSpectra, fillWithNoise } from './blocks.js';
import type { Cost, KernelCosts, Machine } from './planner.js';
import {
  prepareResidentChain,
  type HostBlock,
  type ResidentChain,
  type ResidentTimes,
} from './resident/chain.js';
import { planWorkloadChain, type WorkloadChain } from './workload-chain.js';
import { roadNames, type KernelName, type RoadName } from './resident/road-names.js';
import type { Workload } from './workload.js';

export interface CardMeasurement {
  readonly costs: KernelCosts;
  readonly machine: Machine;
}

/** As many as fill the card with tiles of a 128² image, two to a channel. */
const MOST_CHANNELS = 66;
const LEAST_IMAGES = 6;
const LEAST_S = 0.1;

export interface Sky {
  readonly telescope: Telescope;
  readonly frame: SkyFrame;
}

export async function measureCard(
  backend: CudaBackend,
  { telescope, frame }: Sky,
  workload: Workload,
): Promise<CardMeasurement> {
  const channels = Math.min(MOST_CHANNELS, workload.channels);
  const measured = new Map<RoadName, { readonly times: ResidentTimes; readonly chain: WorkloadChain }>();
  for (const road of roadNames) {
    const chain = planWorkloadChain(telescope, frame, workload, { road, channels, everyImages: 1 });
    measured.set(road, { chain, times: await timeChain(chain, backend) });
  }
  const of = (road: RoadName, kernel: KernelName): Cost => {
    const { times, chain } = measured.get(road) ?? neverMeasured(road);
    const seconds = times.seconds[kernel];
    // A kernel that the workload does without costs it nothing.
    if (seconds === undefined) return { secondsPerUnit: 0, basis: 'estimated' };
    return { secondsPerUnit: seconds / unitsOf(chain, times)[kernel], basis: 'measured' };
  };
  const { times } = measured.get('visibilities') ?? neverMeasured('visibilities');
  return {
    costs: {
      channelise: of('visibilities', 'channelise'),
      correlate: of('visibilities', 'correlate'),
      calibrate: of('visibilities', 'calibrate'),
      image: of('visibilities', 'image'),
      'direct image': of('direct', 'direct image'),
      finish: of('direct', 'finish'),
    },
    machine: {
      title: backend.description,
      countedAs: 'card',
      memoryBytes: backend.session.device.memoryBytes,
      bus: {
        // The quickest of them: a copy that waited for the host is no fault of the bus.
        upBytesPerS: times.uploadedBytes / times.blocks / (times.leastSeconds.upload ?? NaN),
        downBytesPerS: times.downloadedBytes / times.images / (times.leastSeconds.download ?? NaN),
      },
    },
  };
}

const neverMeasured = (road: RoadName): never => {
  throw new Error(`${road} was not measured`);
};

/** Units of work (planner.ts) that a run of the chain did. */
function unitsOf({ plan }: WorkloadChain, { blocks, images }: ResidentTimes): Record<KernelName, number> {
  const { channels, inputs, capacity } = plan.spectra;
  const spectra = blocks * channels * capacity;
  return {
    channelise: spectra * inputs,
    correlate: spectra,
    calibrate: images * channels * plan.image.polarisations,
    image: images * channels,
    'direct image': spectra,
    finish: images * channels,
  };
}

const timeChain = (chain: WorkloadChain, backend: CudaBackend): Promise<ResidentTimes> =>
  closingAfter(async (closers) => {
    const running = closers.keep(await prepareResidentChain(chain.plan, backend));
    const noise = pinnedNoise(chain, backend, closers);
    const { frequenciesHz } = chain.plan.image;
    await running.setSky([
      { directionEnu: { x: 0, y: 0, z: 1 }, fluxJy: new Float64Array(frequenciesHz.length).fill(1) },
    ]);
    await runFor(running, noise, 2, 0); // the first ones warm up
    running.resetTimes();
    await runFor(running, noise, LEAST_IMAGES, LEAST_S);
    return running.times;
  });

async function runFor(
  chain: ResidentChain,
  block: HostBlock,
  leastImages: number,
  leastS: number,
): Promise<void> {
  const { blocksPerImage } = chain.plan;
  const started = performance.now();
  let fed = 0;
  function* blocks(): Generator<HostBlock> {
    while (fed < leastImages * blocksPerImage || performance.now() - started < 1000 * leastS) {
      for (let n = 0; n < blocksPerImage; n++, fed++) yield block;
    }
  }
  const images = chain.images(blocks());
  while ((await images.next()).done !== true);
}

function pinnedNoise({ plan, channelise }: WorkloadChain, backend: CudaBackend, closers: Closers): HostBlock {
  if (plan.input.kind === 'spectra') {
    const { spectra } = closers.keep(backend.allocatePinned(plan.spectra));
    fillSpectra(spectra);
    return { spectra, samples: plan.spectra.capacity, gaps: [] };
  }
  const { inputs, blockSamples: samples } = channelise;
  const memory = closers.keep(backend.session.allocatePinned('voltages', 2 * inputs * samples));
  const { buffer, sizeBytes } = memory;
  const bytes = new Int8Array(buffer, 0, sizeBytes);
  fillWithNoise(bytes, 60);
  const voltages = voltagesAT(bytes, 'ci8', inputs, samples);
  return { type: 'ci8', inputs, samples, voltages, gaps: [], start: instant(0) };
}
