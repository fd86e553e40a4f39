/**
 * How beams are formed on a card: the kernel, the numbers it is compiled with, the launch. Pure, so that every plan can
 * be checked, and compiled, on a machine without a card.
 */
import type { CudaPath } from '../../backend/cuda/cuda.js';
import { structure } from '../../backend/cuda/arguments.js';
import type { KernelRequest, LaunchShape } from '../../backend/cuda/kernels.js';
import { kernelSource } from '../../backend/cuda/sources.js';
import { mapArgument } from '../../backend/cuda/tensor-map.js';
import { refuse } from '../../core/errors.js';
import type { BeamPlan, Bins } from '../plan.js';
import { detections } from '../plan.js';

/** struct Work of beamform.cuh. */
export const BEAM_WORK = {
  samples: 0,
  detection: 4,
  firstEnd: 8,
  perBin: 12,
  rows: 16,
  items: 20,
  pitchBytes: 24,
  out: 32,
  spectra: 40,
  weights: 48,
  bytes: 56,
} as const;
const work = structure('Work', BEAM_WORK);

type Shape = Pick<BeamPlan, 'stations' | 'polarisations' | 'beams' | 'type' | 'weights' | 'sums'>;

export interface BeamLaunch {
  readonly request: KernelRequest;
  readonly entry: string;
  readonly threads: number;
  readonly sharedBytes: number;
  /** Spectra and beams of a tile. */
  readonly tileSpectra: number;
  readonly tileBeams: number;
  /** For the tensor cores: weights are arranged by station, and blocks have so many columns in each half. */
  readonly columns?: number;
  /** Persistent blocks, as many as there are multiprocessors, which read through tensor maps. */
  readonly persistent: boolean;
}

const PANEL_ROW = 128;
/** Stations of a step along the sums: a row of a panel. */
const STEP_STATIONS = 64;
const TILE_SPECTRA = 128;

const definesOf = ({
  stations,
  polarisations,
  beams,
}: Pick<Shape, 'stations' | 'polarisations' | 'beams'>) => ({
  STATIONS: stations,
  POLARISATIONS: polarisations,
  BEAMS: beams,
});
const request = (name: string, ...headers: readonly string[]) =>
  kernelSource(import.meta.url, name, 'beamform.cuh', ...headers);

export function planBeamKernel(plan: Shape, path: CudaPath): BeamLaunch {
  if (plan.sums === 'cf32') return planPlain(plan);
  const make = {
    hopper: () => planHopper(plan),
    tensor: () => planTensor(plan),
    dp4a: () => planPlain(plan),
  } satisfies Record<CudaPath, () => BeamLaunch>;
  return make[path]();
}

/** Beams of a tile: two halves of real and imaginary columns, of two polarisations one for each. */
function columnsOf({ beams, polarisations }: Shape, most: 64 | 128): { columns: number; tileBeams: number } {
  const wanted = polarisations === 2 ? 2 * beams : beams;
  const columns = [32, 64].find((one) => one >= wanted && one <= most) ?? most;
  return { columns, tileBeams: polarisations === 2 ? columns / 2 : columns };
}

const stageBytes = ({ polarisations }: Shape, columns: number): number =>
  2 * PANEL_ROW * (polarisations * STEP_STATIONS + columns);

/** A block uses all of a multiprocessor's shared memory. */
const HOPPER_BYTES = 200 * 1024;

function planHopper(plan: Shape): BeamLaunch {
  const { columns, tileBeams } = columnsOf(plan, 128);
  const stages = Math.min(8, Math.floor(HOPPER_BYTES / stageBytes(plan, columns)));
  return {
    request: {
      ...request('beamform-hopper.cu', 'hopper.cuh', 'wgmma.cuh', 'fragments.cuh'),
      defines: { ...definesOf(plan), COLUMNS: columns, STAGES: stages },
      entries: { beamformHopper: [mapArgument, mapArgument, mapArgument, work] },
    },
    entry: 'beamformHopper',
    threads: 384,
    tileSpectra: TILE_SPECTRA,
    tileBeams,
    columns,
    // The ring, with padding to align it, and its barriers.
    sharedBytes: stages * stageBytes(plan, columns) + 1024 + stages * 16,
    persistent: true,
  };
}

/** Two stages of at most 48 KB fit on every card since Ampere. */
function planTensor(plan: Shape): BeamLaunch {
  const { columns, tileBeams } = columnsOf(plan, 64);
  const stages = 2;
  return {
    request: {
      ...request('beamform-tensor.cu', 'fragments.cuh'),
      defines: { ...definesOf(plan), COLUMNS: columns, STAGES: stages },
      entries: { beamformTensor: [work] },
    },
    entry: 'beamformTensor',
    threads: 256,
    tileSpectra: TILE_SPECTRA,
    tileBeams,
    columns,
    sharedBytes: stages * stageBytes(plan, columns),
    persistent: false,
  };
}

const plainRequest = (plan: Shape) => ({
  ...request('beamform-plain.cu'),
  defines: {
    ...definesOf(plan),
    FLOAT_SPECTRA: plan.type === 'cf32' ? 1 : 0,
    FLOAT_WEIGHTS: plan.weights === 'cf32' ? 1 : 0,
  },
});

const planPlain = (plan: Shape): BeamLaunch => ({
  request: { ...plainRequest(plan), entries: { beamformPlain: [work] } },
  entry: 'beamformPlain',
  threads: 128,
  sharedBytes: 0,
  tileSpectra: 128,
  tileBeams: 8,
  persistent: false,
});

/** Incoherent sums: one beam. */
export const planStations = (plan: Shape) =>
  ({
    ...plainRequest({ ...plan, beams: 1 }),
    entries: { addStations: [work] },
  }) as const satisfies KernelRequest;

/** struct Steering of beamform-finish.cu. */
export const STEERING = { scale: 0, channels: 8, every: 12, bytes: 16 } as const;

export const planBeamFinish = (plan: Pick<Shape, 'stations' | 'polarisations' | 'beams' | 'weights'>) =>
  ({
    ...request('beamform-finish.cu'),
    defines: { ...definesOf(plan), FLOAT_WEIGHTS: plan.weights === 'cf32' ? 1 : 0 },
    entries: {
      steerWeights: ['pointer', 'pointer', 'pointer', 'pointer', structure('Steering', STEERING)],
      arrangeWeights: ['pointer', 'pointer', 'i64'],
      addPartials: [work, 'pointer', 'i32', 'i32'],
    },
  }) as const satisfies KernelRequest;

/** Bytes of a row of arranged weights: a column's stations, to whole steps. */
export const weightRowBytes = (stations: number): number => Math.ceil(stations / STEP_STATIONS) * PANEL_ROW;

/** Tiles of a block, and the blocks that make them. */
export function beamLaunchShape(
  launch: Pick<BeamLaunch, 'threads' | 'sharedBytes' | 'tileSpectra' | 'tileBeams' | 'persistent'>,
  { channels, beams }: Pick<BeamPlan, 'channels' | 'beams'>,
  samples: number,
  multiprocessors: number,
): LaunchShape & { readonly items: number } {
  const { threads, sharedBytes, tileSpectra, tileBeams, persistent } = launch;
  const items = channels * Math.ceil(samples / tileSpectra) * Math.ceil(beams / tileBeams);
  if (items >= 2 ** 31)
    refuse('beams', `${items} tiles are more than one launch can count`, 'take fewer channels at a time');
  return { items, grid: [persistent ? Math.min(items, multiprocessors) : items, 1], threads, sharedBytes };
}

/** Spectra that a kernel sums by itself, in float32. */
const SLICE = 16;

/** The kernels' arguments for bins; partial sums are rows of detections × beams float32. */
export function partialsOf({ detection, spectraPerBin, offset }: Bins, samples: number) {
  const perBin = Math.min(spectraPerBin, 2 ** 30);
  return {
    detection: detections[detection],
    firstEnd: Math.min(spectraPerBin - offset, 2 ** 30),
    perBin,
    rows: perBin < SLICE ? samples : 2 * Math.ceil(samples / SLICE),
  };
}
