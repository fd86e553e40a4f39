/** Where images lie on their way: on the card, then in pinned memory. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { CudaEvent, DeviceMemory, PinnedMemory } from '../../backend/cuda/session.js';
import { weightsCP, type WeightsCP } from '../../core/axes.js';
import type { Closers } from '../../core/closing.js';
import type { ResidentExtra, ResidentPlan } from './plan.js';

/** Memory of an image on its way. */
export interface Slot {
  readonly onCard: DeviceMemory;
  readonly onHost: PinnedMemory;
  readonly extras: Readonly<Partial<Record<ResidentExtra, PinnedMemory>>>;
  readonly landed: CudaEvent;
}

/** What of the stream its image is made of. */
export interface Flight {
  readonly slot: Slot;
  readonly index: number;
  readonly samples: number;
  readonly laps: number;
  readonly blocks: number;
}
export const doubles = (memory: PinnedMemory): Float64Array =>
  new Float64Array(memory.buffer, 0, memory.sizeBytes / 8);

/** They lie behind the image; Re XY and Im XY weigh the same. */
export function weightsOf(
  { image: { channels, products }, imageBytes }: ResidentPlan,
  memory: PinnedMemory,
): WeightsCP {
  const weights = new Float64Array(memory.buffer, imageBytes, channels * products).slice();
  if (products === 4) for (let at = 3; at < weights.length; at += 4) weights[at] = weights[at - 1];
  return weightsCP(weights, channels, products);
}

export function prepareSlot(plan: ResidentPlan, { session }: CudaBackend, closers: Closers): Slot {
  const pin = (what: string, sizeBytes: number): PinnedMemory =>
    closers.keep(session.allocatePinned(what, sizeBytes));
  const { image, correlation, deliver } = plan;
  const gainBytes = 16 * image.channels * image.stations * image.polarisations;
  const visibilityBytes = 16 * image.channels * (correlation?.baselines ?? 0) * image.polarisations ** 2;
  const slotBytes = plan.imageBytes + 8 * image.channels * image.products;
  return {
    onCard: closers.keep(session.allocate('an image', slotBytes)),
    onHost: pin('an image', slotBytes),
    extras: {
      ...(deliver.includes('gains') ? { gains: pin('gains', gainBytes) } : {}),
      ...(deliver.includes('visibilities') ? { visibilities: pin('visibilities', visibilityBytes) } : {}),
    },
    landed: closers.keep(session.createEvent()),
  };
}
