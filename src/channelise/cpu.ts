/** The F-engine for blocks of the cpu backend. */
import { cpuSpectra } from '../backend/cpu/spectra.js';
import { allocateHostSpectra } from '../backend/host-spectra.js';
import type { Channeliser } from './channeliser.js';
import type { ChannelisePlan } from './plan.js';
import { prepareReferenceChanneliser } from './reference.js';

export function prepareCpuChanneliser(plan: ChannelisePlan): Channeliser {
  const reference = prepareReferenceChanneliser(plan);
  return {
    plan,
    run: async (voltages, out) => {
      const native = cpuSpectra('channelise', out);
      const host = allocateHostSpectra(native.shape);
      await reference.run(voltages, host);
      await native.write(host.view(), host.samples, host.gaps);
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
