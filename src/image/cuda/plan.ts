/**
 * What both methods of imaging share on a card: gains, scales, how many channels at a time. Pure, as every plan of a
 * kernel, so that it can be checked, and compiled, on a machine without a card.
 */
import type { KernelRequest } from '../../backend/cuda/kernels.js';
import { commonHeaders, readSource } from '../../backend/cuda/sources.js';
import type { ImagePlan } from '../plan.js';

export type ImageShapeOnCard = Pick<ImagePlan, 'pixels' | 'stations' | 'polarisations' | 'kernelSize'>;
type Inputs = Pick<ImagePlan, 'stations' | 'polarisations'>;

const source = (name: string): { readonly name: string; readonly source: string } => ({
  name,
  source: readSource(import.meta.url, name),
});
export const inputDefines = ({ stations, polarisations }: Inputs) => ({
  STATIONS: stations,
  POLARISATIONS: polarisations,
});

export const planFactors = (plan: Inputs) =>
  ({
    ...source('direct-factors.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: inputDefines(plan),
    entries: { scaleFactors: ['pointer', 'pointer', 'pointer', 'pointer'] },
  }) as const satisfies KernelRequest;

export const planFinish = () =>
  ({
    ...source('direct-finish.cu'),
    headers: commonHeaders('integers.cuh'),
    defines: {},
    entries: {
      pairSums: ['pointer', 'pointer', 'pointer', 'i64', 'i32', 'i32', 'pointer'],
      scaleSums: ['pointer', 'pointer', 'pointer', 'i32', 'i32', 'pointer'],
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
