/** One prepared kernel, or two: spectra of voltages on the card. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DeviceFacts } from '../../backend/cuda/device.js';
import type { Kernel } from '../../backend/cuda/kernels.js';
import {
  cellBytes,
  cellNumbers,
  cellsIn,
  POWER_CELLS,
  type PowerCells,
} from '../../backend/cuda/power-cells.js';
import type { DeviceMemory, DevicePointer, Stream } from '../../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { uploadArray } from '../../backend/cuda/transfer.js';
import type { Closers } from '../../core/closing.js';
import { LONG_WINDOW } from '../../core/windows.js';
import { LONG_WORK, longTables, planLong, type LongPlan } from './long.js';
import { outputMap } from './maps.js';
import { planFused, WORK, type ChannelisePass, type FusedPlan } from './plan.js';
import { factorTable, interleaved, levelTwiddles, powerPlaces, tapTable, twiddleTable } from './tables.js';
import { tensorTables } from './tensor-tables.js';
import { planTensor, TENSOR_WORK, type TensorPlan } from './tensor.js';
import type { ChannelisePlan } from '../plan.js';

/**
 * voltages : [a][pitch]; sample 0 of each row opens the window of spectrum 0, or, where the plan has delays, the sample
 * given by its input's delay. After the last sample of every row 16 bytes can be read.
 */
export interface DeviceVoltages {
  readonly pointer: DevicePointer;
  readonly pitchBytes: number;
}

export interface ChanneliseEngine {
  /**
   * Spectra 0 … `spectra` − 1 into the block; missing : [a][t], 1 where one is to be left zero; delays : [a], as
   * written by `writeDelays`, where the plan has them. Returns whether powers were summed, which needs a block with
   * memory for them and kernels that can.
   */
  launch(
    from: DeviceVoltages,
    spectra: number,
    missing: DeviceMemory | undefined,
    delays: DeviceMemory | undefined,
    out: CudaSpectraBlock,
    stream: Stream,
  ): PowerCells | undefined;
  /** Whether powers were requested and these kernels sum them. */
  readonly sumsPowers: boolean;
  /** For reports: the kernels, the number of passes. */
  readonly description: string;
}

export interface EngineOptions {
  /** `general` does not use the tensor cores, for comparison. */
  readonly kernels?: 'best' | 'general';
  /** A flagger with windows of so many spectra follows: powers are summed, where the kernels can. */
  readonly powers?: number;
}

/**
 * Multiprocessors that persistent filters leave to a flagger: its powers are summed, tested and zeroed while the next
 * block is filtered, and not between the two.
 */
const LEFT_TO_FLAGGER = 4;

/** Blocks, one per multiprocessor, at most so many; `isFlagged`: their powers are summed too. */
const blocksOn = ({ multiprocessors }: DeviceFacts, most: number, isFlagged: boolean): number =>
  Math.min(most, Math.max(1, multiprocessors - (isFlagged ? LEFT_TO_FLAGGER : 0)));

/** The most memory between two passes. */
const MOST_SCRATCH_BYTES = 256 * 2 ** 20;

export async function prepareEngine(
  plan: ChannelisePlan,
  backend: CudaBackend,
  saturated: DeviceMemory,
  closers: Closers,
  { kernels: kind = 'best', powers: asked = 0 }: EngineOptions = {},
): Promise<ChanneliseEngine> {
  const { device } = backend.session;
  // Windows that begin anywhere are summed by the flagger.
  const powers = asked >= LONG_WINDOW;
  const card = { ...device, path: backend.path };
  const tensor = kind === 'best' ? planTensor(plan, card) : undefined;
  if (tensor) return prepareTensor(plan, tensor, backend, saturated, closers, powers);
  const long = kind === 'best' ? planLong(plan, card) : undefined;
  return long
    ? prepareLong(plan, long, backend, saturated, closers, powers)
    : prepareGeneral(plan, backend, saturated, closers, powers);
}

/** Cells of powers beside blocks, for kernels that sum them. */
interface PowerSums {
  /** Cells for so many spectra, for the windows that the block has memory for, if any. */
  cellsOf(spectra: number, out: CudaSpectraBlock): PowerCells | undefined;
  /** Sets the cells in the structure at `at` of a kernel's arguments; zeroes first those that it adds to. */
  open(
    put: ReturnType<typeof writer>,
    at: number,
    spectra: number,
    cells: PowerCells,
    out: CudaSpectraBlock,
    stream: Stream,
  ): void;
}

/** channels : [place]. */
async function prepareSums(
  { outputType }: ChannelisePlan,
  { session }: CudaBackend,
  channelsAt: Int32Array,
  closers: Closers,
): Promise<PowerSums> {
  const channels = closers.keep(await uploadArray(session, 'channels of powers', channelsAt));
  return {
    cellsOf: (spectra, { powersBuffer, shape: { powers } }) =>
      powersBuffer && powers !== undefined
        ? { ...cellsIn(outputType, spectra, powers), channels }
        : undefined,
    open: (put, at, spectra, { cells }, { powersBuffer, shape }, stream) => {
      const { inverse, eights, last } = cellNumbers(spectra, cells);
      const pointer = powersBuffer?.pointer ?? 0n;
      put.pointer(at + POWER_CELLS.sums, pointer);
      put.pointer(at + POWER_CELLS.inverse, inverse);
      put.int(at + POWER_CELLS.eights, eights);
      put.int(at + POWER_CELLS.last, last);
      if (outputType === 'cf32') return;
      session.call('cuMemsetD8Async', pointer, 0, cellBytes(shape, cells), stream.handle);
    },
  };
}

interface PreparedPass {
  readonly pass: ChannelisePass;
  readonly kernel: Kernel;
  readonly put: ReturnType<typeof writer>;
  /** The most concurrent blocks. */
  readonly blocks: number;
}

async function prepareGeneral(
  plan: ChannelisePlan,
  backend: CudaBackend,
  saturated: DeviceMemory,
  closers: Closers,
  powers: boolean,
): Promise<ChanneliseEngine> {
  const { session, shop } = backend;
  const { device } = session;
  const plain = planFused(plan, device);
  const { scratchBytes, columns } = plain;
  const most = plan.inputs * Math.ceil(plan.capacity / plain.span);
  const itemsAtOnce =
    scratchBytes === 0 ? most : Math.max(1, Math.min(most, Math.floor(MOST_SCRATCH_BYTES / scratchBytes)));
  const upload = async (what: string, array: ArrayBufferView): Promise<DeviceMemory> =>
    closers.keep(await uploadArray(session, what, array));
  const taps = await upload('the filter', tapTable(plan));
  const factors = await upload('gains', factorTable(plan));
  const long = await upload(
    'twiddles',
    plain.passes.length === 1 ? twiddleTable(2 * plan.channels, plan.channels) : twiddleTable(columns),
  );
  const scratch = closers.keep(
    session.allocate('half-made spectra', Math.max(8, scratchBytes * itemsAtOnce)),
  );
  // For each pass, with and without sums of powers.
  const twiddles: DeviceMemory[] = [];
  for (const { radices, points } of plain.passes)
    twiddles.push(await upload('twiddles', radices ? levelTwiddles(radices) : twiddleTable(points)));
  const prepare = async ({ passes, span }: FusedPlan) => {
    const kernels: PreparedPass[] = [];
    for (const [n, pass] of passes.entries()) {
      const kernel = (await shop.prepare(pass.request))[pass.entry];
      const put = writer(kernel);
      put.pointer(WORK.taps, taps.pointer);
      put.pointer(WORK.twiddles, twiddles[n].pointer);
      put.pointer(WORK.longTwiddles, long.pointer);
      put.pointer(WORK.scratch, scratch.pointer);
      put.pointer(WORK.factors, factors.pointer);
      put.pointer(WORK.saturated, saturated.pointer);
      put.int(WORK.inputs, plan.inputs);
      kernels.push({ pass, kernel, put, blocks: device.multiprocessors * pass.blocks });
    }
    return { kernels, span };
  };
  const alone = await prepare(plain);
  const summing = powers ? planFused(plan, device, { powers: true }) : undefined;
  const flagged =
    summing?.sumsPowers === true
      ? {
          ...(await prepare(summing)),
          sums: await prepareSums(plan, backend, powerPlaces(plan, summing.passes[0].radices ?? []), closers),
        }
      : undefined;
  return {
    sumsPowers: flagged !== undefined,
    description: plain.passes.length === 1 ? 'one pass' : 'two passes',
    launch: (from, spectra, missing, delays, out, stream) => {
      const cells = flagged?.sums.cellsOf(spectra, out);
      const { kernels, span } = (cells && flagged) ?? alone;
      if (cells)
        flagged?.sums.open(kernels[kernels.length - 1].put, WORK.powers, spectra, cells, out, stream);
      const items = plan.inputs * Math.ceil(spectra / span);
      for (let first = 0; first < items; first += itemsAtOnce) {
        const count = Math.min(itemsAtOnce, items - first);
        for (const { pass, kernel, put, blocks } of kernels) {
          put.pointer(WORK.voltages, from.pointer);
          put.long(WORK.pitchBytes, from.pitchBytes);
          put.pointer(WORK.missing, missing?.pointer ?? 0n);
          put.pointer(WORK.delays, delays?.pointer ?? 0n);
          put.pointer(WORK.out, out.pointer);
          put.long(WORK.outPitchBytes, out.pitchBytes);
          put.int(WORK.spectra, spectra);
          put.int(WORK.firstItem, first);
          put.int(WORK.items, count);
          const { threads, sharedBytes } = pass;
          kernel.launch({ grid: [Math.min(blocks, count * pass.groups), 1], threads, sharedBytes }, stream);
        }
      }
      return cells;
    },
  };
}

async function prepareTensor(
  plan: ChannelisePlan,
  tensor: TensorPlan,
  backend: CudaBackend,
  saturated: DeviceMemory,
  closers: Closers,
  powers: boolean,
): Promise<ChanneliseEngine> {
  const { session, shop } = backend;
  const { entry, threads, sharedBytes, tile, box } = tensor;
  const tables = tensorTables(plan, tensor.sign);
  const names = ['taps', 'moreTaps', 'entries', 'twiddles', 'factors'] as const;
  const memories = await closers.keepAll(names.map((name) => uploadArray(session, name, tables[name])));
  const prepare = async (what: Parameters<TensorPlan['request']>[0]) => {
    const kernel = (await shop.prepare(tensor.request(what)))[entry];
    const put = writer(kernel, 1);
    names.forEach((name, n) => {
      put.pointer(TENSOR_WORK[name], memories[n].pointer);
    });
    put.pointer(TENSOR_WORK.saturated, saturated.pointer);
    put.int(TENSOR_WORK.inputs, plan.inputs);
    put.float(TENSOR_WORK.factor, tables.factors[0]);
    put.int(TENSOR_WORK.factorStep, tables.factors.length > 1 ? 1 : 0);
    return { kernel, put };
  };
  const both = async (powers: boolean) => ({
    whole: await prepare({ gaps: false, powers }),
    withGaps: await prepare({ gaps: true, powers }),
  });
  const plain = await both(false);
  const low = 32;
  const flagged = powers
    ? {
        ...(await both(true)),
        sums: await prepareSums(plan, backend, interleaved(plan.channels, low), closers),
      }
    : undefined;
  const map = outputMap(session, { ...plan, low }, box);
  return {
    sumsPowers: flagged !== undefined,
    description: 'tensor cores, one pass',
    launch: (from, spectra, missing, delays, out, stream) => {
      const cells = flagged?.sums.cellsOf(spectra, out);
      const { whole, withGaps } = (cells && flagged) ?? plain;
      const { kernel, put } = missing ? withGaps : whole;
      if (cells) flagged?.sums.open(put, TENSOR_WORK.powers, spectra, cells, out, stream);
      put.pointer(TENSOR_WORK.voltages, from.pointer);
      put.long(TENSOR_WORK.pitchBytes, from.pitchBytes);
      put.pointer(TENSOR_WORK.missing, missing?.pointer ?? 0n);
      put.pointer(TENSOR_WORK.delays, delays?.pointer ?? 0n);
      put.int(TENSOR_WORK.spectra, spectra);
      map.describe(kernel, out, spectra);
      const blocks = blocksOn(session.device, plan.inputs * Math.ceil(spectra / tile), cells !== undefined);
      kernel.launch({ grid: [blocks, 1], threads, sharedBytes }, stream);
      return cells;
    },
  };
}

async function prepareLong(
  plan: ChannelisePlan,
  long: LongPlan,
  backend: CudaBackend,
  saturated: DeviceMemory,
  closers: Closers,
  powers: boolean,
): Promise<ChanneliseEngine> {
  const { session, shop } = backend;
  const { threads, sharedBytes, unit } = long;
  const blocksFor = (spectra: number, isFlagged: boolean): number =>
    blocksOn(session.device, plan.inputs * Math.ceil(spectra / unit), isFlagged);
  const tables = longTables(plan);
  const names = ['taps', 'turns', 'lastTurns', 'factors'] as const;
  const memories = await closers.keepAll(names.map((name) => uploadArray(session, name, tables[name])));
  const scratch = closers.keep(
    session.allocate('results on their way', blocksFor(plan.capacity, false) * long.scratchBytesPerBlock),
  );
  const prepare = async (powers: boolean) => {
    const kernel = (await shop.prepare(long.request(powers)))[long.entry];
    const put = writer(kernel, 1);
    names.forEach((name, n) => {
      put.pointer(LONG_WORK[name], memories[n].pointer);
    });
    put.pointer(LONG_WORK.scratch, scratch.pointer);
    put.pointer(LONG_WORK.saturated, saturated.pointer);
    put.int(LONG_WORK.inputs, plan.inputs);
    put.float(LONG_WORK.factor, tables.factors[0]);
    return { kernel, put };
  };
  const plain = await prepare(false);
  const low = 16;
  const flagged = powers
    ? {
        ...(await prepare(true)),
        sums: await prepareSums(plan, backend, interleaved(plan.channels, low), closers),
      }
    : undefined;
  const map = outputMap(session, { ...plan, low }, long.box);
  return {
    sumsPowers: flagged !== undefined,
    description: 'one pass, a block to a spectrum',
    launch: (from, spectra, missing, delays, out, stream) => {
      const cells = flagged?.sums.cellsOf(spectra, out);
      const { kernel, put } = (cells && flagged) ?? plain;
      if (cells) flagged?.sums.open(put, LONG_WORK.powers, spectra, cells, out, stream);
      put.pointer(LONG_WORK.delays, delays?.pointer ?? 0n);
      put.pointer(LONG_WORK.voltages, from.pointer);
      put.long(LONG_WORK.pitchBytes, from.pitchBytes);
      put.pointer(LONG_WORK.missing, missing?.pointer ?? 0n);
      put.int(LONG_WORK.spectra, spectra);
      map.describe(kernel, out, spectra);
      kernel.launch({ grid: [blocksFor(spectra, cells !== undefined), 1], threads, sharedBytes }, stream);
      return cells;
    },
  };
}

const writer = (kernel: Kernel, argument = 0) => {
  const { view } = kernel.argument(argument);
  return {
    pointer: (at: number, value: bigint) => {
      view.setBigUint64(at, value, true);
    },
    long: (at: number, value: number) => {
      view.setBigInt64(at, BigInt(value), true);
    },
    int: (at: number, value: number) => {
      view.setInt32(at, value, true);
    },
    float: (at: number, value: number) => {
      view.setFloat32(at, value, true);
    },
  };
};
