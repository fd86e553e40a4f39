/**
 * How images are made on a card: kernels compiled with which numbers, how many channels at a time; those of the tensor
 * cores are in folded-plan.ts. Pure, so that every plan can be checked, and compiled, on a machine without a card.
 */
import type { KernelRequest } from '../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../backend/cuda/sources.js';
import type { ImagePlan } from './plan.js';

type Shape = Pick<ImagePlan, 'pixels' | 'stations' | 'polarisations' | 'kernelSize'>;

const source = (name: string): { readonly name: string; readonly source: string } => ({
  name,
  source: readSource(import.meta.url, name),
});
const inputDefines = ({ stations, polarisations }: Pick<Shape, 'stations' | 'polarisations'>) => ({
  STATIONS: stations,
  POLARISATIONS: polarisations,
});

export const planFactors = (plan: Pick<Shape, 'stations' | 'polarisations'>) =>
  ({
    ...source('direct-factors.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: inputDefines(plan),
    entries: {
      scaleFactors: ['pointer', 'pointer', 'pointer', 'pointer'],
      invertGains: ['pointer', 'pointer', 'i64', 'pointer'],
    },
  }) as const satisfies KernelRequest;

export const planFinish = () =>
  ({
    ...source('direct-finish.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {},
    entries: {
      pairSums: ['pointer', 'pointer', 'i64', 'i32', 'i32', 'pointer'],
      scaleSums: ['pointer', 'pointer', 'pointer', 'i32', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;

export interface SingleOptions {
  readonly rows: number;
  readonly columns: number;
  readonly samples: 'integer' | 'float';
}

export const planSingle = (plan: Shape, { rows, columns, samples }: SingleOptions) =>
  ({
    ...source('direct-float.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {
      ...inputDefines(plan),
      PIXELS: plan.pixels,
      KERNEL: plan.kernelSize,
      ROWS: rows,
      COLUMNS: columns,
      FLOAT_SAMPLES: samples === 'float' ? 1 : 0,
    },
    entries: {
      spreadFloat: [
        ...(['pointer', 'i64', 'i32', 'i32', 'i32', 'pointer'] as const),
        ...(['pointer', 'pointer', 'pointer', 'pointer'] as const),
      ],
      rowsFloat: ['pointer', 'pointer', 'pointer'],
      columnsFloat: ['pointer', 'pointer', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;

/** struct Source of visibilities.cu. */
const visibilitySource = { bytes: 48, align: 8 } as const;
export const planVisibilities = (plan: Shape) =>
  ({
    ...source('visibilities.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: { ...inputDefines(plan), PIXELS: plan.pixels, KERNEL: plan.kernelSize },
    entries: {
      addDensities: [visibilitySource, 'i32', 'pointer'],
      makePairKernels: ['pointer', 'pointer', 'i64', 'pointer'],
      weighPairs: [visibilitySource, 'i32', 'pointer', 'pointer', 'i32', 'pointer', 'pointer'],
      gridPairs: ['pointer', 'i32', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer'],
      transformRows: ['pointer', 'pointer', 'pointer'],
      transformColumns: ['pointer', 'pointer', 'pointer'],
      collectSums: ['pointer', 'i32', 'pointer'],
    },
  }) as const satisfies KernelRequest;

/**
 * Channels that are worked on together: as many as the scratch memory holds, and where that leaves a choice, so many
 * that their blocks come in whole waves over the card.
 */
export function channelsAtOnce(options: {
  readonly channels: number;
  readonly bytesPerChannel: number;
  readonly scratchBytes: number;
  /** That the blocks of one channel fill. */
  readonly multiprocessorsPerChannel: number;
  readonly multiprocessors: number;
}): number {
  const { channels, bytesPerChannel, scratchBytes, multiprocessorsPerChannel, multiprocessors } = options;
  const fitting = Math.max(1, Math.min(channels, Math.floor(scratchBytes / bytesPerChannel)));
  if (fitting === channels) return channels;
  const wave = Math.ceil(multiprocessors / multiprocessorsPerChannel);
  return fitting >= wave ? Math.floor(fitting / wave) * wave : fitting;
}
