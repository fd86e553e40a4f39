/**
 * Chooses the cheaper imaging method and computes the load of each kernel, the bus and the memory, and the number of
 * machines for a telescope. Pure: from a workload and the cost per unit of work on a machine to loads.
 *
 *   voltages ─► channelise ─┬─► correlate ──────────► image once per cadence     visibilities
 *                           └─► direct image, every spectrum ──► finish          direct
 *
 * A load is seconds of work per second of data: 1 is exactly real time on one machine.
 */
import { cardBytes } from './memory.js';
import type { KernelName, MethodName } from './method-names.js';
import type { Workload } from './workload.js';

export type { KernelName } from './method-names.js';

export interface Cost {
  readonly secondsPerUnit: number;
  /** `measured`: this kernel was timed. `scaled`: from a timing of another size. `estimated`: counted, not timed. */
  readonly basis: 'measured' | 'scaled' | 'estimated';
}

/** Cost per unit of each kernel's work on a machine, for one workload. */
export type KernelCosts = Readonly<Record<KernelName, Cost>>;

/** The units of the costs. */
export const kernelUnits = {
  channelise: 'complex samples',
  correlate: 'spectra of one channel, all inputs',
  calibrate: 'solves of one channel and polarisation',
  image: 'images of one channel, from visibilities',
  'direct image': 'spectra of one channel, all inputs',
  finish: 'images of one channel, from their sums',
  beams: 'spectra of one channel and one beam, all inputs',
} as const satisfies Record<KernelName, string>;

export interface Machine {
  readonly title: string;
  /** The unit of counting if one is not enough. */
  readonly countedAs: 'card' | 'machine';
  readonly memoryBytes: number;
  /** From host to card and back; undefined if there is no bus between them. */
  readonly bus?: { readonly upBytesPerS: number; readonly downBytesPerS: number };
}

interface KernelLoad {
  readonly kernel: KernelName;
  readonly load: number;
  readonly basis: Cost['basis'];
}

export interface MethodPlan {
  readonly method: MethodName;
  readonly kernels: readonly KernelLoad[];
  /** All kernels together. */
  readonly load: number;
  readonly bus: {
    readonly upBytesPerS: number;
    readonly downBytesPerS: number;
    /** The busier direction; 0 without a bus. */
    readonly load: number;
  };
  readonly memoryBytes: number;
  /** Number of machines that share the channels, each at most HEADROOM busy. */
  readonly machines: number;
  /** What limits that number. */
  readonly boundBy: 'kernels' | 'bus' | 'memory';
}

export interface Plan {
  readonly workload: Workload;
  readonly machine: Machine;
  readonly methods: Readonly<Record<MethodName, MethodPlan>>;
  readonly cheaper: MethodName;
  /** Below this cadence direct imaging is cheaper; undefined if one method always is. */
  readonly crossoverCadenceS: number | undefined;
}

/** A live system with a higher load falls behind after any interruption. */
export const HEADROOM = 0.95;

export function planImaging(workload: Workload, costs: KernelCosts, machine: Machine): Plan {
  const methods = {
    visibilities: planMethod('visibilities', workload, costs, machine),
    direct: planMethod('direct', workload, costs, machine),
  } satisfies Record<MethodName, MethodPlan>;
  const [v, d] = [methods.visibilities, methods.direct];
  const isDirectCheaper = d.machines < v.machines || (d.machines === v.machines && d.load < v.load);
  return {
    workload,
    machine,
    methods,
    cheaper: isDirectCheaper ? 'direct' : 'visibilities',
    crossoverCadenceS: crossover(workload, costs),
  };
}

/** Units of work per second for each kernel of an imaging method; unused kernels are left out. */
export function workPerSecond(
  method: MethodName,
  workload: Workload,
): readonly (readonly [KernelName, number])[] {
  const { channels, channelWidthHz, stations, polarisations, cadenceS, calibrateEveryS, beams } = workload;
  // Critically sampled: a channel of width Δν makes Δν complex spectra per second.
  const channelSpectra = channels * channelWidthHz;
  const images = channels / cadenceS;
  const front =
    workload.input === 'voltages' ? [['channelise', channelSpectra * stations * polarisations] as const] : [];
  const calibrate = ['calibrate', (channels * polarisations) / calibrateEveryS] as const;
  const back = {
    visibilities: [
      ['correlate', channelSpectra],
      ['image', images],
    ],
    // Gains come from visibilities: one cadence of data is correlated for each solution.
    direct: [
      ['correlate', (channelSpectra * cadenceS) / calibrateEveryS],
      ['direct image', channelSpectra],
      ['finish', images],
    ],
  } as const satisfies Record<MethodName, readonly (readonly [KernelName, number])[]>;
  const beside = beams > 0 ? [['beams', channelSpectra * beams] as const] : [];
  return [...front, ...back[method], calibrate, ...beside];
}

function planMethod(
  method: MethodName,
  workload: Workload,
  costs: KernelCosts,
  machine: Machine,
): MethodPlan {
  const kernels = workPerSecond(method, workload).map(([kernel, unitsPerS]) => ({
    kernel,
    load: unitsPerS * costs[kernel].secondsPerUnit,
    basis: costs[kernel].basis,
  }));
  const load = kernels.reduce((sum, kernel) => sum + kernel.load, 0);
  const bus = busTraffic(workload, machine);
  // Only a card keeps values that could be recomputed.
  const memoryBytes = cardBytes(method, workload, machine.bus ? machine.memoryBytes : 0);
  const needs = {
    kernels: load / HEADROOM,
    bus: bus.load / HEADROOM,
    memory: memoryBytes / (HEADROOM * machine.memoryBytes),
  } as const;
  const boundBy = (Object.keys(needs) as (keyof typeof needs)[]).reduce((a, b) =>
    needs[b] > needs[a] ? b : a,
  );
  return {
    method,
    kernels,
    load,
    bus,
    memoryBytes,
    machines: Math.max(1, Math.ceil(needs[boundBy])),
    boundBy,
  };
}

/** Images are output as float64. */
const IMAGE_BYTES = 8;
const products = ({ polarisations }: Workload): 1 | 4 => (polarisations === 1 ? 1 : 4);

function busTraffic(workload: Workload, { bus }: Machine): MethodPlan['bus'] {
  const { channels, channelWidthHz, stations, polarisations, bits, input, cadenceS, pixels } = workload;
  // Voltages arrive as 8-bit complex samples; spectra with their own bits.
  const bytesPerSample = input === 'voltages' ? 2 : (2 * bits) / 8;
  const upBytesPerS = channels * channelWidthHz * stations * polarisations * bytesPerSample;
  const downBytesPerS = (channels * products(workload) * pixels ** 2 * IMAGE_BYTES) / cadenceS;
  const load = bus ? Math.max(upBytesPerS / bus.upBytesPerS, downBytesPerS / bus.downBytesPerS) : 0;
  return { upBytesPerS, downBytesPerS, load };
}

/**
 * Both methods have a fixed cost and a cost per image: direct imaging has the larger fixed cost, imaging from
 * visibilities the larger cost per image. They are equal where  fixed_v + perImage_v / τ = fixed_d + perImage_d / τ.
 */
function crossover(workload: Workload, costs: KernelCosts): number | undefined {
  const perS = workload.channels * workload.channelWidthHz;
  const fixed = perS * (costs['direct image'].secondsPerUnit - costs.correlate.secondsPerUnit);
  const perImage = workload.channels * (costs.image.secondsPerUnit - costs.finish.secondsPerUnit);
  const cadenceS = perImage / fixed;
  return cadenceS > 0 && Number.isFinite(cadenceS) ? cadenceS : undefined;
}
