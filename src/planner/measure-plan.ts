/** A plan put to the test on a processor: each road run for real on a piece of the workload, beside what was predicted for it. */
import type { HostBackend } from '../backend/backend.js';
import { prepareChanneliser } from '../channelise/index.js';
import type { SpectraBlock } from '../core/blocks.js';
import { closingAfter, type Closers } from '../core/closing.js';
import { instant } from '../core/instant.js';
import { planCorrelation, prepareCorrelator } from '../correlate/index.js';
import { prepareDirectImager, prepareVisibilityImager } from '../image/index.js';
import { noiseSpectra, noiseVoltages, spectraType } from './blocks.js';
import { channelisePlanOf, imagePlanOf } from './measure-costs.js';
import type { KernelCosts, RoadName } from './planner.js';
import type { Workload } from './workload.js';

export interface RoadRun {
  readonly road: RoadName;
  readonly channels: number;
  /** Spectra of each channel in the image. */
  readonly spectra: number;
  readonly predictedS: number;
  readonly measuredS: number;
  /** Measured over predicted. */
  readonly ratio: number;
}

/** A road runs on so much of the workload that it should take about this long. */
const AIM_S = 2;
const LEAST_SPECTRA = 8;

/** Kernels of one image by each road, without the calibration, which happens between images. */
function predict(road: RoadName, workload: Workload, costs: KernelCosts, piece: Piece): number {
  const { channels, spectra } = piece;
  const inputs = workload.imagedM.length * workload.polarisations;
  const front =
    workload.input === 'voltages' ? costs.channelise.secondsPerUnit * inputs * channels * spectra : 0;
  const back = {
    visibilities: channels * (spectra * costs.correlate.secondsPerUnit + costs.image.secondsPerUnit),
    direct: channels * (spectra * costs['direct image'].secondsPerUnit + costs.finish.secondsPerUnit),
  } satisfies Record<RoadName, number>;
  return front + back[road];
}

interface Piece {
  readonly channels: number;
  readonly spectra: number;
}

/** As many channels as the aim allows at the full number of spectra; fewer spectra where not even two fit. */
export function choosePiece(road: RoadName, workload: Workload, costs: KernelCosts): Piece {
  const spectra = Math.max(1, Math.round(workload.cadenceS * workload.channelWidthHz));
  const least = Math.min(2, workload.channels);
  const perChannel = predict(road, workload, costs, { channels: 1, spectra });
  const channels = Math.min(workload.channels, Math.max(least, Math.floor(AIM_S / perChannel)));
  const share = AIM_S / (perChannel * channels);
  return { channels, spectra: share >= 1 ? spectra : Math.max(LEAST_SPECTRA, Math.floor(spectra * share)) };
}

export function runRoad(
  road: RoadName,
  backend: HostBackend,
  workload: Workload,
  costs: KernelCosts,
): Promise<RoadRun> {
  const piece = choosePiece(road, workload, costs);
  return closingAfter(async (closers) => {
    const narrow = { ...workload, channels: piece.channels };
    const nextBlock = await openSource(backend, narrow, piece.spectra, closers);
    const image = await (road === 'direct' ? directEnd : visibilityEnd)(backend, workload, piece, closers);
    const timed = async (): Promise<number> => {
      const started = performance.now();
      await image(await nextBlock());
      return (performance.now() - started) / 1000;
    };
    await timed(); // the first one compiles, allocates and warms up
    const times = [await timed(), await timed(), await timed()].sort((a, b) => a - b);
    const predictedS = predict(road, workload, costs, piece);
    return { road, ...piece, predictedS, measuredS: times[1], ratio: times[1] / predictedS };
  });
}

/** The next block of noise, channelised where the workload is. */
async function openSource(
  backend: HostBackend,
  workload: Workload,
  spectra: number,
  closers: Closers,
): Promise<() => Promise<SpectraBlock>> {
  const inputs = workload.imagedM.length * workload.polarisations;
  if (workload.input === 'spectra') {
    const shape = { channels: workload.channels, inputs, samples: spectra };
    const block = closers.keep(await noiseSpectra(backend, shape, workload.bits));
    return () => Promise.resolve(block);
  }
  const plan = channelisePlanOf(workload, inputs, spectra);
  const channeliser = closers.keep(await prepareChanneliser(plan, backend));
  const block = closers.keep(backend.allocateSpectra(plan.output));
  const voltages = noiseVoltages(inputs, plan.blockSamples);
  return async () => {
    await channeliser.run(voltages, block);
    return block;
  };
}

/** Makes an image of a block. */
type RoadEnd = (block: SpectraBlock) => Promise<void>;

async function directEnd(
  backend: HostBackend,
  workload: Workload,
  { channels }: Piece,
  closers: Closers,
): Promise<RoadEnd> {
  const imager = closers.keep(await prepareDirectImager(imagePlanOf(workload, channels), backend));
  return async (block) => {
    await imager.accumulate(block);
    await imager.finish();
  };
}

async function visibilityEnd(
  backend: HostBackend,
  workload: Workload,
  { channels }: Piece,
  closers: Closers,
): Promise<RoadEnd> {
  const plan = imagePlanOf(workload, channels);
  const { stations, polarisations } = plan;
  const type = spectraType(workload.bits);
  const correlation = planCorrelation({ stations, polarisations, channels, type });
  const correlator = closers.keep(await prepareCorrelator(correlation, backend));
  const imager = closers.keep(await prepareVisibilityImager(plan, backend));
  return async (block) => {
    await correlator.accumulate(block);
    const { visibilities, counts } = await correlator.finish();
    const { flaggedInputs } = correlation;
    const about = { start: instant(0), durationS: workload.cadenceS, channels, stations, polarisations };
    await imager.image([{ ...about, visibilities, counts, flaggedInputs }]);
  };
}
