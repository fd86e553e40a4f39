/** A plan put to the test on a card: the resident chain on simulated sky, flat out, beside what was predicted for it. */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { imageCPML, type ImageCPML, type ImageF32CPML } from '../core/axes.js';
import { closingAfter } from '../core/closing.js';
import { averageChannels, measureSource, placeOf, stokesI, type ImagePlan } from '../image/index.js';
import type { SourceUp } from '../sky/above.js';
import { modelComponents } from '../stages/index.js';
import { BRIGHT_FRACTION, SEARCH_PIXELS } from '../demo/index.js';
import type { Plan } from './planner.js';
import { prepareResidentChain, type HostBlock, type ResidentTimes } from './resident/chain.js';
import { simulateSky, type SkyOptions } from './simulated-sky.js';
import { imagesBetweenSolutions, planWorkloadChain } from './workload-chain.js';
import type { KernelName, RoadName } from './resident/road-names.js';

/** Seconds for one image. */
export interface Compared {
  readonly predictedS: number;
  readonly measuredS: number;
}

export interface ResidentRun extends Compared {
  readonly road: RoadName;
  readonly channels: number;
  readonly spectra: number;
  /** Measured over predicted. */
  readonly ratio: number;
  readonly images: number;
  /** Seconds of sky that went through, and how long that took. */
  readonly skyS: number;
  readonly elapsedS: number;
  /** Each kernel's share of an image's seconds; those that run now and then by their mean. */
  readonly kernels: readonly (Compared & { readonly kernel: KernelName })[];
  readonly bus: { readonly up: Compared; readonly down: Compared };
  readonly memory: { readonly predictedBytes: number; readonly measuredBytes: number };
  /** Bright sources, and how far from its place each was found in the last image. */
  readonly sources: readonly { readonly name: string; readonly errorPixels: number }[];
  readonly description: string;
}

export interface ResidentRunOptions extends SkyOptions {
  /** Seconds of sky. */
  readonly skyS: number;
}

const WARM_UP_IMAGES = 5;

export function runResident(
  road: RoadName,
  backend: CudaBackend,
  predicted: Plan,
  options: ResidentRunOptions,
): Promise<ResidentRun> {
  const { workload } = predicted;
  const { telescope, frame } = options;
  const { channels, cadenceS } = workload;
  const chain = planWorkloadChain(telescope, frame, workload, {
    road,
    channels,
    everyImages: imagesBetweenSolutions(workload),
  });
  const { plan } = chain;
  return closingAfter(async (closers) => {
    const sky = closers.keep(await simulateSky(chain, backend, options));
    const freeBytes = backend.session.freeMemoryBytes();
    const running = closers.keep(await prepareResidentChain(plan, backend));
    const measuredBytes = freeBytes - backend.session.freeMemoryBytes();
    await running.setSky(modelComponents(telescope, plan.image.frequenciesHz, sky.up, frame));
    let image: ImageF32CPML | ImageCPML | undefined;
    const run = async (images: number): Promise<void> => {
      const last = images - 1;
      let n = 0;
      for await (const made of running.images(over(sky.blocks, images * plan.blocksPerImage))) {
        if (n++ === last) image = made.image;
      }
    };
    await run(WARM_UP_IMAGES);
    running.resetTimes();
    const images = Math.max(1, Math.round(options.skyS / cadenceS));
    const started = performance.now();
    await run(images);
    const elapsedS = (performance.now() - started) / 1000;
    const { load, bus, memoryBytes } = predicted.roads[road];
    const predictedS = cadenceS * Math.max(load, bus.load);
    return {
      road,
      channels,
      spectra: plan.spectra.capacity * plan.blocksPerImage,
      predictedS,
      measuredS: elapsedS / images,
      ratio: elapsedS / images / predictedS,
      images,
      skyS: images * cadenceS,
      elapsedS,
      ...compareSteps(road, predicted, running.times),
      memory: { predictedBytes: memoryBytes, measuredBytes },
      sources: image ? findSources(image, plan.image, sky.up) : [],
      description: running.description,
    };
  });
}

function* over(blocks: readonly HostBlock[], count: number): Generator<HostBlock> {
  for (let n = 0; n < count; n++) yield blocks[n % blocks.length];
}

function compareSteps(road: RoadName, { roads, workload, machine }: Plan, times: ResidentTimes) {
  const { kernels, bus } = roads[road];
  const { cadenceS } = workload;
  const perImage = (seconds: number | undefined): number => (seconds ?? 0) / times.images;
  const across = (bytesPerS: number, busBytesPerS = NaN): number => (cadenceS * bytesPerS) / busBytesPerS;
  return {
    kernels: kernels.map(({ kernel, load }) => ({
      kernel,
      predictedS: cadenceS * load,
      measuredS: perImage(times.seconds[kernel]),
    })),
    bus: {
      up: {
        predictedS: across(bus.upBytesPerS, machine.bus?.upBytesPerS),
        measuredS: perImage(times.seconds.upload),
      },
      down: {
        predictedS: across(bus.downBytesPerS, machine.bus?.downBytesPerS),
        measuredS: perImage(times.seconds.download),
      },
    },
  };
}

/** The bright sources looked for where they should be, in Stokes I over all channels. */
export function findSources(
  image: ImageF32CPML | ImageCPML,
  plan: ImagePlan,
  up: readonly SourceUp[],
): ResidentRun['sources'] {
  const { channels, products, pixels } = plan;
  const wide = imageCPML(Float64Array.from(image), channels, products, pixels);
  const plane = stokesI(averageChannels(wide, plan), plan, 0);
  const brightest = up.at(0)?.apparentFluxJy ?? 0;
  return up
    .filter(({ apparentFluxJy }) => apparentFluxJy >= BRIGHT_FRACTION * brightest)
    .flatMap(({ source, directionEnu }) => {
      const place = placeOf(plan, directionEnu);
      if (!place) return [];
      return [
        { name: source.name, errorPixels: measureSource(plane, plan, place, SEARCH_PIXELS).errorPixels },
      ];
    });
}
