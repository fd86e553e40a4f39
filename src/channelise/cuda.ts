/** The F-engine for blocks of the cuda backend, on the host. */
import { cudaSpectra } from '../backend/cuda/spectra.js';
import { allocateHostSpectra } from '../backend/host-spectra.js';
import type { Channeliser } from './channeliser.js';
import type { ChannelisePlan } from './plan.js';
import { prepareReferenceChanneliser } from './reference.js';

export function prepareCudaChanneliser(plan: ChannelisePlan): Channeliser {
  const reference = prepareReferenceChanneliser(plan);
  return {
    plan,
    run: async (voltages, out) => {
      const device = cudaSpectra('channelise', out);
      const host = allocateHostSpectra(device.shape);
      await reference.run(voltages, host);
      await device.write(host.view(), host.samples, host.gaps);
    },
    get saturated() {
      return reference.saturated;
    },
    get produced() {
      return reference.produced;
    },
    reset: () => {
      reference.reset();
    },
    close: () => reference.close(),
  };
}
