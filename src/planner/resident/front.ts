/** How blocks come to the card: sent up on a stream of their own, and channelised there where they are voltages. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { prepareCudaChanneliser } from '../../channelise/on-card.js';
import type { ChannelisePlan } from '../../channelise/index.js';
import { spectraSizeBytes, voltageSizeBytes, type SpectraCAT } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import type { Closers } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { SpectraGap } from '../../core/gaps.js';
import type { RunDelays } from '../../delay/index.js';
import type { LapClock } from '../../backend/cuda/lap-clock.js';
import type { ResidentPlan, ResidentStep } from './plan.js';

/** Spectra as they arrive; from pinned memory (`backend.allocatePinned`) they go up without a copy on the host. */
export interface HostSpectra {
  readonly spectra: SpectraCAT;
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
}
/** Voltages, with delays where the channeliser's plan has them; they hold for the spectra that this block completes. */
export type DelayedVoltages = VoltageBlock & { readonly delays?: RunDelays };
/** What the plan's input asks for. */
export type HostBlock = DelayedVoltages | HostSpectra;

export interface ResidentFront {
  /** Sends a block up; resolves when it has arrived, with the bytes that went. */
  send(block: HostBlock, clock: LapClock<ResidentStep>): Promise<number>;
  /** Its spectra, where it brought voltages. */
  make(): void;
  /** The block that was sent last, as spectra. */
  block(): CudaSpectraBlock;
  /** Real and imaginary parts that hit the rails on requantising, so far. Asking waits for the card. */
  saturated(): number;
  readonly description: string;
}

export function prepareFront(
  plan: ResidentPlan,
  backend: CudaBackend,
  closers: Closers,
): Promise<ResidentFront> {
  return plan.input.kind === 'voltages'
    ? voltageFront(plan, plan.input.plan, backend, closers)
    : Promise.resolve(spectraFront(plan, backend, closers));
}

async function voltageFront(
  plan: ResidentPlan,
  channelise: ChannelisePlan,
  backend: CudaBackend,
  closers: Closers,
): Promise<ResidentFront> {
  const { session } = backend;
  const { upload, compute } = session.streams;
  const powers = plan.kurtosis ? { powers: plan.kurtosis.spectraPerWindow } : {};
  const channeliser = closers.keep(await prepareCudaChanneliser(channelise, backend, powers));
  // Written and read on the compute stream alone: one is enough where nobody judges it meanwhile.
  const ring = Array.from({ length: plan.spectraBlocks }, () =>
    closers.keep(backend.allocateSpectra({ ...plan.spectra, ...(channeliser.sumsPowers && powers) })),
  );
  let made = 0;
  return {
    description: `channeliser: ${channeliser.description}`,
    send: async (given, clock) => {
      if (!('voltages' in given))
        return refuse('resident chain', 'spectra came where voltages go', 'plan for spectra');
      channeliser.room(upload);
      const begun = clock.begin(upload);
      const arrived = channeliser.send(given, given.delays);
      clock.end('upload', begun, upload);
      await arrived;
      return given.inputs * given.samples * voltageSizeBytes(given.type);
    },
    make: () => {
      channeliser.make(ring[made++ % ring.length]);
    },
    block: () => {
      const latest = ring[(made - 1) % ring.length];
      latest.reading(compute);
      return latest;
    },
    saturated: () => channeliser.saturated,
  };
}

function spectraFront(plan: ResidentPlan, backend: CudaBackend, closers: Closers): ResidentFront {
  const { session } = backend;
  const { upload, compute } = session.streams;
  const { type, channels, inputs } = plan.spectra;
  const ring = Array.from({ length: plan.spectraBlocks }, () =>
    closers.keep(backend.allocateSpectra(plan.spectra)),
  );
  let sent = 0;
  const latest = (): CudaSpectraBlock => ring[(sent - 1) % ring.length];
  return {
    description: 'spectra as they come',
    send: async (given, clock) => {
      if ('voltages' in given)
        return refuse('resident chain', 'voltages came where spectra go', 'plan for voltages');
      const block = ring[sent++ % ring.length];
      block.writing(upload);
      const begun = clock.begin(upload);
      const arrived = block.write(given.spectra, given.samples, given.gaps);
      clock.end('upload', begun, upload);
      await arrived;
      block.reading(compute);
      return channels * inputs * given.samples * spectraSizeBytes(type);
    },
    make: () => undefined,
    block: latest,
    saturated: () => 0,
  };
}
