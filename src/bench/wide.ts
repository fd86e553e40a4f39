/**
 * Wide-field images, including planning and preparing; the peer is WSClean's w-gridder on the same visibilities and
 * cores.
 */
import { cpuCeilings } from '../backend/cpu/ceilings.js';
import type { CpuBackend } from '../backend/cpu/cpu.js';
import type { Closers } from '../core/closing.js';
import { prepareWideImager, type WidePlan } from '../image/index.js';
import type { BenchCase, KernelBench, PreparedCase } from './bench.js';
import type { Peers } from './peers.js';
import { cudaWideCases } from './wide-cuda.js';
import { planField, wideRows, type WideField } from './wide-field.js';
import { openWsclean } from './wide-wsclean.js';

const fields: readonly WideField[] = [
  { name: 'MWA-like', stations: 128, times: 24, channels: 16, pixels: 2048, accuracy: 1e-4 },
  { name: 'dishes', stations: 64, times: 60, channels: 16, pixels: 2048, accuracy: 1e-4 },
];

export const wideBench: KernelBench = {
  kernel: 'wide',
  cases: (backend) =>
    backend.kind === 'cuda'
      ? cudaWideCases(backend)
      : backend.kind === 'cpu'
        ? fields.map((field) => hostCase(field, backend))
        : [],
};

const hostCase = (field: WideField, backend: CpuBackend): BenchCase => ({
  parameters: { ...field },
  unit: 'M visibilities/s',
  scale: 1e6,
  prepare: (closers, peers) => prepare(field, backend, closers, peers),
});

async function prepare(
  field: WideField,
  backend: CpuBackend,
  closers: Closers,
  peers: Peers | undefined,
): Promise<PreparedCase> {
  const rows = wideRows(field);
  const flops = cpuCeilings(backend).floats();
  const operations = operationsFor(planField(field, rows, 'cpu'), rows.weights.length);
  const peer = peers ? await openWsclean(field, rows, backend.threads, closers) : undefined;
  return {
    ours: {
      run: async () => {
        const imager = await prepareWideImager(planField(field, rows, 'cpu'), backend);
        try {
          await imager.accumulate(rows);
          await imager.finish();
        } finally {
          await imager.close();
        }
        return rows.weights.length;
      },
    },
    ceiling: {
      title: flops.title,
      run: async () => (await flops.run()) / operations,
    },
    peer,
  };
}

/**
 * Minimum per visibility: its cells in every plane, and its share of the planes' transforms and sums. Sums are float64,
 * of which a register holds half as many: they count twice.
 */
function operationsFor({ support, w, gridCells, pixels }: WidePlan, visibilities: number): number {
  const gridding = 4 * support ** 2 * w.support;
  const transforms = 5 * gridCells * (gridCells + pixels) * Math.log2(gridCells);
  return gridding + (w.planes * (transforms + 2 * 8 * pixels ** 2)) / visibilities;
}
