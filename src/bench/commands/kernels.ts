/** CPU time of the kernels in a command, from their own benchmarks at the same shapes. */
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import { closingAfter } from '../../core/closing.js';
import type { BenchCase } from '../bench.js';
import { calibrateCase } from '../calibrate.js';
import { channeliseCase } from '../channelise.js';
import { correlateCase, operationsPerChannel } from '../correlate.js';
import { hostCase } from '../wide.js';
import { repeatFor } from '../measure.js';
import { samplesOf, type FileSize } from './files.js';

export interface KernelWork {
  readonly kernel: 'channelise' | 'correlate' | 'calibrate' | 'wide';
  readonly size: FileSize;
  readonly planes?: number;
}

const SECONDS = 0.3;
/** What StEFCal takes in the files of the benchmark, for each channel and polarisation. */
const ITERATIONS = 30;

/** CPU seconds of the kernel's benchmark for one unit of work, times the units in the files. */
export const kernelSeconds = (work: KernelWork, backend: CpuBackend): Promise<number> =>
  closingAfter(async (closers) => {
    const { bench, units } = benchOf(work, backend);
    const { ours } = await bench.prepare(closers, undefined);
    await ours.run();
    const before = process.cpuUsage();
    const { work: done } = await repeatFor(SECONDS, ours);
    const { user, system } = process.cpuUsage(before);
    return (((user + system) / 1e6) * units) / done;
  });

/** The units of a benchmark are those that its `run` returns. */
function benchOf(
  { kernel, size, planes = 1 }: KernelWork,
  backend: CpuBackend,
): { readonly bench: BenchCase; readonly units: number } {
  const { stations, channels, integrations } = size;
  const samples = samplesOf(size);
  switch (kernel) {
    case 'channelise':
      return {
        bench: channeliseCase({ channels, taps: 8, inputType: 'ci8', outputType: 'ci8' }, backend),
        units: 2 * stations * samples,
      };
    case 'correlate': {
      const block = { stations, samples: 1024, type: 'ci8' } as const;
      return {
        bench: correlateCase(block, backend),
        units: (operationsPerChannel(block) / block.samples) * samples,
      };
    }
    case 'calibrate':
      return {
        bench: calibrateCase({ antennas: stations, solves: 2 * channels, iterations: ITERATIONS }, backend),
        units: 2 * channels * ITERATIONS,
      };
    case 'wide': {
      const field = { name: 'MWA-like', stations, times: integrations, channels, pixels: 512 } as const;
      return {
        bench: hostCase({ ...field, accuracy: 1e-4 }, backend),
        units: planes * integrations * channels * ((stations * (stations - 1)) / 2),
      };
    }
  }
}
