/** Cost per unit of each kernel's work on this processor, from timing small pieces of it. Cards: measure-card.ts. */
import { totalmem } from 'node:os';
import type { Backend, HostBackend } from '../backend/backend.js';
import { planBeams, prepareBeamformer } from '../beamform/index.js';
import { planCalibration, prepareCalibrator } from '../calibrate/index.js';
import { planChannelise, prepareChanneliser } from '../channelise/index.js';
import { modelCBP } from '../core/axes.js';
import { closingAfter } from '../core/closing.js';
import { planCorrelation, prepareCorrelator } from '../correlate/index.js';
import { planImage, prepareDirectImager, prepareVisibilityImager, type ImagePlan } from '../image/index.js';
import { repeatFor } from '../bench/measure.js';
import { noiseIntegration, noiseSpectra, noiseVoltages, spectraType } from '../bench/noise.js';
import type { Cost, KernelCosts, KernelName, Machine } from './planner.js';
import type { Workload } from './workload.js';

interface MeasureOptions {
  readonly onProgress?: (kernel: KernelName) => void;
  /** Each kernel is timed for at least this long. */
  readonly secondsPerKernel?: number;
}

interface Piece {
  readonly channels: number;
  readonly samples: number;
  /** Inputs that the channeliser is timed with. */
  readonly inputs: number;
}
/**
 * Pieces that take some milliseconds: enough for full kernel speed on every thread, so that the costs are those of all
 * threads together.
 */
function pieceFor(backend: HostBackend): Piece {
  if (backend.kind === 'reference') return { channels: 1, samples: 8, inputs: 4 };
  const { threads } = backend;
  return { channels: Math.max(8, 4 * threads), samples: 128, inputs: Math.max(16, 8 * threads) };
}

export const machineOf = (backend: HostBackend): Machine => ({
  title: backend.description,
  countedAs: 'machine',
  memoryBytes: totalmem(),
});

export async function measureCosts(
  backend: HostBackend,
  workload: Workload,
  { onProgress, secondsPerKernel = 0.2 }: MeasureOptions = {},
): Promise<KernelCosts> {
  const most = pieceFor(backend);
  const piece = { ...most, channels: Math.min(most.channels, workload.channels) };
  const time = (run: () => Promise<void>): Promise<number> => secondsPerRun(run, secondsPerKernel);
  const next = (kernel: KernelName): void => onProgress?.(kernel);
  next('channelise');
  const channelise = await timeChannelise(backend, workload, piece, time);
  next('correlate');
  const correlate = await timeCorrelate(backend, workload, piece, time);
  next('direct image');
  const direct = await timeDirect(backend, workload, piece, time);
  next('image');
  const image = await timeImage(backend, workload, piece, time);
  next('calibrate');
  const calibrate = await timeCalibrate(backend, workload, time);
  if (workload.beams > 0) next('beams');
  const beams = await timeBeams(backend, workload, piece, time);
  const measured = (secondsPerUnit: number): Cost => ({ secondsPerUnit, basis: 'measured' });
  return {
    beams,
    channelise: measured(channelise),
    correlate: measured(correlate),
    calibrate: measured(calibrate),
    image: measured(image),
    'direct image': measured(direct.step),
    finish: measured(direct.finish),
  };
}

/** Channels that a card solves together. */
const MOST_SOLVED = 66;

type Timer = (run: () => Promise<void>) => Promise<number>;

/** After one warm-up run. */
export async function secondsPerRun(run: () => Promise<void>, leastS: number): Promise<number> {
  await run();
  const { work, elapsedS } = await repeatFor(leastS, { run: () => run().then(() => 1) });
  return elapsedS / work;
}

export const channelisePlanOf = (workload: Workload, inputs: number, spectra: number) =>
  planChannelise({
    channels: Math.max(2, workload.channels),
    taps: workload.taps,
    inputs,
    polarisations: workload.polarisations,
    inputType: 'ci8',
    outputType: spectraType(workload.bits),
    blockSamples: Math.max(2, workload.channels) * spectra,
  });

function timeChannelise(
  backend: HostBackend,
  workload: Workload,
  { inputs, samples: spectra }: Piece,
  time: Timer,
): Promise<number> {
  const plan = channelisePlanOf(workload, inputs, spectra);
  return closingAfter(async (closers) => {
    const channeliser = closers.keep(await prepareChanneliser(plan, backend));
    const out = closers.keep(backend.allocateSpectra(plan.output));
    const voltages = noiseVoltages(inputs, plan.blockSamples);
    return (await time(() => channeliser.run(voltages, out))) / (inputs * plan.blockSamples);
  });
}

function timeCorrelate(backend: HostBackend, workload: Workload, piece: Piece, time: Timer): Promise<number> {
  const { stations, polarisations, bits } = workload;
  const { channels, samples } = piece;
  const type = spectraType(bits);
  const plan = planCorrelation({ stations, polarisations, channels, type });
  return closingAfter(async (closers) => {
    const shape = { type, channels, inputs: stations * polarisations, capacity: samples };
    const { block } = await noiseSpectra(backend, shape, closers);
    const correlator = closers.keep(await prepareCorrelator(plan, backend));
    return (await time(() => correlator.accumulate(block))) / (channels * samples);
  });
}

/** With 8-bit weights, detected and averaged over a block. */
export async function timeBeams(
  backend: Backend,
  { stations, polarisations, bits, beams }: Workload,
  { channels, samples }: Pick<Piece, 'channels' | 'samples'>,
  time: Timer,
): Promise<Cost> {
  if (beams === 0) return { secondsPerUnit: 0, basis: 'estimated' };
  const type = spectraType(bits);
  const plan = planBeams({ stations, polarisations, channels, type, beams, weights: 'ci8' });
  return closingAfter(async (closers) => {
    const { inputs } = plan;
    const { block } = await noiseSpectra(backend, { type, channels, inputs, capacity: samples }, closers);
    const former = closers.keep(await prepareBeamformer(plan, backend));
    former.setWeights(new Int8Array(2 * channels * beams * inputs).fill(90));
    const powers = new Float64Array(beams * channels);
    const bins = { detection: 'I', spectraPerBin: samples, offset: 0, bins: 1 } as const;
    const seconds = await time(() => former.powers(block, bins, powers));
    return { secondsPerUnit: seconds / (channels * samples * beams), basis: 'measured' };
  });
}

/** Channels spread over the workload's band. */
function imagePlanOf(workload: Workload, channels: number): ImagePlan {
  const { imagedM, polarisations, pixels, field, kernelSize, highestHz, channelWidthHz } = workload;
  return planImage({
    pixels,
    field,
    stationsM: imagedM,
    axes: { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } },
    frequenciesHz: Float64Array.from(
      { length: channels },
      (_, c) => highestHz - (c + 0.5) * channelWidthHz * (workload.channels / channels),
    ),
    polarisations,
    kernel: { kind: 'fitted', size: kernelSize },
  });
}

function timeDirect(
  backend: HostBackend,
  workload: Workload,
  piece: Piece,
  time: Timer,
): Promise<{ step: number; finish: number }> {
  const { channels, samples } = piece;
  const plan = imagePlanOf(workload, channels);
  const inputs = plan.stations * plan.polarisations;
  return closingAfter(async (closers) => {
    const shape = { type: spectraType(workload.bits), channels, inputs, capacity: samples };
    const { block } = await noiseSpectra(backend, shape, closers);
    const imager = closers.keep(await prepareDirectImager(plan, backend));
    const step = (await time(() => imager.accumulate(block))) / (channels * samples);
    const started = performance.now();
    await imager.finish();
    return { step, finish: (performance.now() - started) / 1000 / channels };
  });
}

/** One integration at a time, from host memory. */
function timeImage(backend: HostBackend, workload: Workload, piece: Piece, time: Timer): Promise<number> {
  const plan = imagePlanOf(workload, piece.channels);
  const integration = noiseIntegration(plan.stations, plan.polarisations, piece.channels);
  return closingAfter(async (closers) => {
    const imager = closers.keep(await prepareVisibilityImager(plan, backend));
    const run = async (): Promise<void> => {
      await imager.image([integration]);
    };
    return (await time(run)) / piece.channels;
  });
}

export function timeCalibrate(backend: Backend, workload: Workload, time: Timer): Promise<number> {
  const { stations, polarisations } = workload;
  // As many solves in parallel as there are channels for.
  const atOnce = { reference: 1, cpu: backend.kind === 'cpu' ? backend.threads : 1, cuda: MOST_SOLVED };
  const channels = Math.min(atOnce[backend.kind], workload.channels);
  const plan = planCalibration({
    stations,
    polarisations,
    channels,
    iterations: { kind: 'fixed', count: 300 },
  });
  const { visibilities, counts, flaggedInputs } = noiseIntegration(stations, polarisations, channels);
  const model = modelCBP(
    new Float64Array(2 * channels * plan.baselines * polarisations).map((_, n) => (n % 2 === 0 ? 1 : 0)),
    channels,
    plan.baselines,
    polarisations,
  );
  return closingAfter(async (closers) => {
    const calibrator = closers.keep(await prepareCalibrator(plan, backend));
    const run = async (): Promise<void> => {
      await calibrator.solve({ visibilities, counts, flaggedInputs, model });
    };
    return (await time(run)) / plan.solves;
  });
}
