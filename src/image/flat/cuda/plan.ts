/** Gridding and transforming visibilities on a card: the kernels and the numbers they are compiled with. */
import { structure } from '../../../backend/cuda/arguments.js';
import type { KernelRequest } from '../../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../../backend/cuda/sources.js';
import { inputDefines, type ImageShapeOnCard } from '../../cuda/plan.js';

/** struct Source of visibilities.cu. */
export const SOURCE = {
  visibilities: 0,
  weights: 8,
  factors: 16,
  flags: 24,
  corners: 32,
  weightsPerBaseline: 40,
  includeAutos: 44,
  bytes: 48,
} as const;
const visibilitySource = structure('Source', SOURCE);

/** Warps that share a pair's kernel: one keeps the sums of at most 96 cells in registers. */
export const partsOfKernel = ({ kernelSize }: Pick<ImageShapeOnCard, 'kernelSize'>): number =>
  Math.ceil((2 * kernelSize - 1) ** 2 / 96);

export const planVisibilities = (plan: ImageShapeOnCard) =>
  ({
    name: 'visibilities.cu',
    source: readSource(import.meta.url, 'visibilities.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {
      ...inputDefines(plan),
      PIXELS: plan.pixels,
      KERNEL: plan.kernelSize,
      PARTS: partsOfKernel(plan),
    },
    entries: {
      addDensities: [visibilitySource, 'i32', 'pointer'],
      makePairKernels: ['pointer', 'pointer', 'i64', 'pointer'],
      weighPairs: [visibilitySource, 'i32', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer'],
      gridPairs: ['pointer', 'i32', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer'],
      transformRows: ['pointer', 'pointer', 'i32', 'i32', 'pointer'],
      transformColumns: ['pointer', 'pointer', 'i32', 'i32', 'pointer'],
      collectSums: ['pointer', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;
