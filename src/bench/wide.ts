/**
 * Wide-field images, including planning and preparing; the peer is WSClean's w-gridder on the same visibilities and
 * cores.
 */
import type { CpuBackend } from '../backend/cpu/cpu.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import { preparePlainCeilings } from '../backend/cuda/ceilings.js';
import { uploadArray } from '../backend/cuda/transfer.js';
import type { Closers } from '../core/closing.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { prepareWideImager, type WidePlan } from '../image/index.js';
import { prepareCudaWideImager } from '../image/on-card.js';
import type { BenchCase, KernelBench, PreparedCase } from './bench.js';
import { cardContestant } from './correlate-cuda.js';
import type { Peers } from './peers.js';
import { hostCeiling } from './ceiling.js';
import { planField, wideRows, type WideField } from './wide-field.js';
import { openWsclean } from './wide-wsclean.js';

const fields: readonly WideField[] = [
  { name: 'MWA-like', stations: 128, times: 24, channels: 16, pixels: 2048, accuracy: 1e-4 },
  { name: 'dishes', stations: 64, times: 60, channels: 16, pixels: 2048, accuracy: 1e-4 },
];

export const wideBench: KernelBench = {
  kernel: 'wide',
  cases: (backend) =>
    backend.kind === 'cuda'
      ? cudaCases(backend)
      : backend.kind === 'cpu'
        ? fields.map((field) => hostCase(field, backend))
        : [],
};

export const hostCase = (field: WideField, backend: CpuBackend): BenchCase => ({
  parameters: { ...field },
  unit: 'M visibilities/s',
  scale: 1e6,
  prepare: (closers, peers) => prepare(field, backend, closers, peers),
});

async function prepare(
  field: WideField,
  backend: CpuBackend,
  closers: Closers,
  peers: Peers | undefined,
): Promise<PreparedCase> {
  const rows = wideRows(field);
  const operations = operationsFor(planField(field, rows, 'cpu'), rows.weights.length);
  const peer = peers ? await openWsclean(field, rows, backend.threads, closers) : undefined;
  return {
    ours: {
      run: async () => {
        const imager = await prepareWideImager(planField(field, rows, 'cpu'), backend);
        try {
          await imager.accumulate(rows);
          await imager.finish();
        } finally {
          await imager.close();
        }
        return rows.weights.length;
      },
    },
    ceiling: hostCeiling(backend, operations),
    peer,
  };
}

/**
 * Minimum per visibility: its cells in every plane, and its share of the planes' transforms and sums. Sums are float64,
 * of which a register holds half as many: they count twice.
 */
function operationsFor({ support, w, gridCells, pixels }: WidePlan, visibilities: number): number {
  const gridding = 4 * support ** 2 * w.support;
  const transforms = 5 * gridCells * (gridCells + pixels) * Math.log2(gridCells);
  return gridding + (w.planes * (transforms + 2 * 8 * pixels ** 2)) / visibilities;
}

const cardFields: readonly WideField[] = [
  { name: 'MWA-like', stations: 128, times: 60, channels: 32, pixels: 2048, accuracy: 1e-4 },
  { name: 'dishes', stations: 64, times: 120, channels: 64, pixels: 2048, accuracy: 1e-4 },
];
const steps = ['sort and grid', 'grid', 'transforms and sums', 'whole image'] as const;
type Step = (typeof steps)[number];

/** All rates are in visibilities, so that their times can be added. */
const cudaCases = (backend: CudaBackend): BenchCase[] =>
  cardFields.flatMap((field) =>
    steps.map((step) => ({
      parameters: { ...field, step },
      unit: 'M visibilities/s',
      scale: 1e6,
      prepare: (closers: Closers) => prepareCard(backend, field, step, closers),
    })),
  );

/** Visibilities already on the card are sorted and gridded; also the planes' transforms and sums. */
async function prepareCard(
  backend: CudaBackend,
  field: WideField,
  step: Step,
  closers: Closers,
): Promise<PreparedCase> {
  const { session } = backend;
  const rows = wideRows(field);
  const plan = planField(field, rows, 'cuda');
  const { planes } = plan.w;
  if (plan.planesHeld < planes) throw new Error(`${planes} planes do not fit: the steps would repeat`);
  const imager = closers.keep(await prepareCudaWideImager(plan, backend));
  const [uvw, scales, values, weights] = await closers.keepAll([
    uploadArray(session, 'u, v, w', rows.uvwM),
    uploadArray(
      session,
      'frequencies',
      rows.frequenciesHz.map((frequencyHz) => frequencyHz / SPEED_OF_LIGHT_M_PER_S),
    ),
    uploadArray(session, 'visibilities', rows.visibilities ?? new Float32Array()),
    uploadArray(session, 'weights', rows.weights),
  ]);
  const onCard = {
    uvw: uvw.pointer,
    scales: scales.pointer,
    values: values.pointer,
    weights: weights.pointer,
    rows: rows.uvwM.length / 3,
    channels: rows.frequenciesHz.length,
  };
  imager.sort(onCard);
  const { transforms } = imager;
  const launches = {
    'sort and grid': () => {
      imager.sort(onCard);
      imager.grid(0, planes);
    },
    grid: () => {
      imager.grid(0, planes);
    },
    'transforms and sums': () => {
      transforms.clearSums();
      transforms.toSums(planes);
    },
    'whole image': () => {
      transforms.clearPlanes();
      imager.sort(onCard);
      imager.grid(0, planes);
      transforms.clearSums();
      transforms.toSums(planes);
    },
  } satisfies Record<Step, () => void>;
  const plain = closers.keep(await preparePlainCeilings(backend));
  const visibilities = rows.weights.length;
  return {
    ours: cardContestant(session, launches[step], visibilities),
    ceiling:
      step === 'grid' || step === 'sort and grid'
        ? {
            title: 'float32 multiply-adds of every cell and plane, nothing to load',
            ...cardContestant(session, plain.multiplyAdd, plain.operations / operationsOf(plan)),
          }
        : {
            title: 'copying what the transforms of all planes read and write',
            ...cardContestant(session, plain.copy, (plain.copyBytes / transformBytes(plan)) * visibilities),
          },
  };
}

/** For each visibility: a complex number times a real one added to each of its grid cells. */
const operationsOf = ({ support, w }: WidePlan): number => 4 * support ** 2 * w.support;

/** Minimum: rows in and out, and the image's columns; then each pixel of the image once. Complex float32. */
const transformBytes = ({ gridCells, pixels, w }: WidePlan): number =>
  w.planes * 8 * (2 * gridCells ** 2 + gridCells * pixels) + 8 * pixels ** 2;
