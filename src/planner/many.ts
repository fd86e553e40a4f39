/** Number of machines, the part of each, and network rates: for a telescope by channels, and for recordings. Pure. */
import { baselineCount } from '../core/axes.js';
import { HEADROOM, type Plan } from './planner.js';

interface ManyMachines {
  /** Each correlates and images its channels in real time. */
  readonly telescope: {
    readonly machines: number;
    /** At most, on each machine. */
    readonly channels: number;
    /** Rate of spectra to each machine; and of all channels together. */
    readonly toEachBitsPerS: number;
    readonly toAllBitsPerS: number;
  };
  /** Workers that keep up with continuous recording, for correlation only. */
  readonly recordings: {
    readonly workers: number;
    /** From the shared disk. */
    readonly readBytesPerS: number;
    /** Through the server: sums and counts, one integration per gain solution. */
    readonly resultBytesPerS: number;
  };
}

/** Of sums (two float64 per product) and counts. */
const NUMBER_BYTES = 8;

export function manyMachines({ workload, methods, cheaper }: Plan): ManyMachines {
  const { channels, channelWidthHz, stations, polarisations, bits, input, calibrateEveryS } = workload;
  const machines = Math.min(channels, methods[cheaper].machines);
  const perMachine = Math.ceil(channels / machines);
  const inputs = stations * polarisations;
  const bitsPerChannel = channelWidthHz * inputs * 2 * bits;
  const load = methods.visibilities.kernels
    .filter(({ kernel }) => kernel === 'channelise' || kernel === 'correlate')
    .reduce((sum, one) => sum + one.load, 0);
  // Voltages are recorded with 8 bits, spectra with their own.
  const recordedBits = input === 'voltages' ? 8 : bits;
  const integrationBytes = NUMBER_BYTES * channels * baselineCount(stations) * (2 * polarisations ** 2 + 1);
  return {
    telescope: {
      machines,
      channels: perMachine,
      toEachBitsPerS: perMachine * bitsPerChannel,
      toAllBitsPerS: channels * bitsPerChannel,
    },
    recordings: {
      workers: Math.max(1, Math.ceil(load / HEADROOM)),
      readBytesPerS: (channels * channelWidthHz * inputs * 2 * recordedBits) / 8,
      resultBytesPerS: integrationBytes / calibrateEveryS,
    },
  };
}
