/** One prepared kernel, or two: spectra of voltages on the card. */
import { fieldsOf, type StructureLayout } from '../../backend/cuda/arguments.js';
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
import { describeTensor } from '../../backend/cuda/tensor-map.js';
import { uploadArray } from '../../backend/cuda/transfer.js';
import type { Closers } from '../../core/closing.js';
import { LONG_WINDOW } from '../../core/windows.js';
import { planLong } from './long.js';
import { planFused, WORK, type ChannelisePass, type FusedPlan, type OnePassPlan } from './plan.js';
import { factorTable, interleaved, levelTwiddles, powerPlaces, tapTable, twiddleTable } from './tables.js';
import { planTensor } from './tensor.js';
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
  const one = kind === 'best' ? (planTensor(plan, card) ?? planLong(plan, card)) : undefined;
  return one
    ? prepareOnePass(plan, one, backend, saturated, closers, powers)
    : prepareGeneral(plan, backend, saturated, closers, powers);
}

/** Cells of powers beside blocks, for kernels that sum them. */
interface PowerSums {
  /** Cells for so many spectra, for the windows that the block has memory for, if any. */
  cellsOf(spectra: number, out: CudaSpectraBlock): PowerCells | undefined;
  /** Sets the cells in the structure at `at` of a kernel's arguments; zeroes first those that it adds to. */
  open(
    view: DataView,
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
    open: ({ buffer, byteOffset }, at, spectra, { cells }, { powersBuffer, shape }, stream) => {
      const pointer = powersBuffer?.pointer ?? 0n;
      const put = fieldsOf(new DataView(buffer, byteOffset + at), POWER_CELLS);
      put({ sums: pointer, ...cellNumbers(spectra, cells) });
      if (outputType === 'cf32') return;
      session.call('cuMemsetD8Async', pointer, 0, cellBytes(shape, cells), stream.handle);
    },
  };
}

interface PreparedKernel {
  readonly kernel: Kernel;
  readonly view: DataView;
  readonly put: ReturnType<typeof fieldsOf>;
}

/** With the structure that is its argument n. */
function withFields(kernel: Kernel, n: number, layout: StructureLayout): PreparedKernel {
  const { view } = kernel.argument(n);
  return { kernel, view, put: fieldsOf(view, layout) };
}

interface PreparedPass extends PreparedKernel {
  readonly pass: ChannelisePass;
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
      const prepared = withFields((await shop.prepare(pass.request))[pass.entry], 0, WORK);
      prepared.put({
        taps: taps.pointer,
        twiddles: twiddles[n].pointer,
        longTwiddles: long.pointer,
        scratch: scratch.pointer,
        factors: factors.pointer,
        saturated: saturated.pointer,
        inputs: plan.inputs,
      });
      kernels.push({ ...prepared, pass, blocks: device.multiprocessors * pass.blocks });
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
        flagged?.sums.open(kernels[kernels.length - 1].view, WORK.powers, spectra, cells, out, stream);
      const items = plan.inputs * Math.ceil(spectra / span);
      for (let first = 0; first < items; first += itemsAtOnce) {
        const count = Math.min(itemsAtOnce, items - first);
        for (const { pass, kernel, put, blocks } of kernels) {
          put({
            voltages: from.pointer,
            pitchBytes: from.pitchBytes,
            missing: missing?.pointer ?? 0n,
            delays: delays?.pointer ?? 0n,
            out: out.pointer,
            outPitchBytes: out.pitchBytes,
            spectra,
            firstItem: first,
            items: count,
          });
          const { threads, sharedBytes } = pass;
          kernel.launch({ grid: [Math.min(blocks, count * pass.groups), 1], threads, sharedBytes }, stream);
        }
      }
      return cells;
    },
  };
}

async function prepareOnePass(
  plan: ChannelisePlan,
  one: OnePassPlan,
  backend: CudaBackend,
  saturated: DeviceMemory,
  closers: Closers,
  powers: boolean,
): Promise<ChanneliseEngine> {
  const { session, shop } = backend;
  const { inputs, channels } = plan;
  const { work, unit, low, box, threads, sharedBytes, scratchBytesPerBlock } = one;
  const blocksFor = (spectra: number, isFlagged: boolean): number =>
    blocksOn(session.device, inputs * Math.ceil(spectra / unit), isFlagged);
  const tables = one.tables();
  const names = Object.keys(tables);
  const memories = await closers.keepAll(names.map((name) => uploadArray(session, name, tables[name])));
  const fixed: Record<string, number | bigint> = { ...one.constants, saturated: saturated.pointer, inputs };
  names.forEach((name, n) => (fixed[name] = memories[n].pointer));
  if (scratchBytesPerBlock > 0) {
    const bytes = blocksFor(plan.capacity, false) * scratchBytesPerBlock;
    fixed.scratch = closers.keep(session.allocate('results on their way', bytes)).pointer;
  }
  const prepare = async (what: Parameters<OnePassPlan['request']>[0]) => {
    const prepared = withFields((await shop.prepare(one.request(what)))[one.entry], 1, work);
    prepared.put(fixed);
    prepared.view.setFloat32(work.factor, tables.factors[0], true);
    return prepared;
  };
  const both = async (powers: boolean) => {
    const whole = await prepare({ gaps: false, powers });
    return { whole, withGaps: one.gapsApart ? await prepare({ gaps: true, powers }) : whole };
  };
  const plain = await both(false);
  const flagged = powers
    ? { ...(await both(true)), sums: await prepareSums(plan, backend, interleaved(channels, low), closers) }
    : undefined;
  /** Results as (spectrum, input, k low, k high): those past the last spectrum are not written. */
  const describe = (kernel: Kernel, { pointer, pitchBytes }: CudaSpectraBlock, spectra: number): void => {
    const row = inputs * pitchBytes;
    describeTensor(session, kernel, 0, {
      element: 'sample',
      pointer,
      sizes: [spectra, inputs, low, channels / low],
      strideBytes: [pitchBytes, row, low * row],
      box,
      swizzle: 'none',
      fetchBytes: 0,
    });
  };
  return {
    sumsPowers: flagged !== undefined,
    description: one.description,
    launch: (from, spectra, missing, delays, out, stream) => {
      const cells = flagged?.sums.cellsOf(spectra, out);
      const { whole, withGaps } = (cells && flagged) ?? plain;
      const { kernel, view, put } = missing ? withGaps : whole;
      if (cells) flagged?.sums.open(view, work.powers, spectra, cells, out, stream);
      put({
        voltages: from.pointer,
        pitchBytes: from.pitchBytes,
        missing: missing?.pointer ?? 0n,
        delays: delays?.pointer ?? 0n,
        spectra,
      });
      describe(kernel, out, spectra);
      kernel.launch({ grid: [blocksFor(spectra, cells !== undefined), 1], threads, sharedBytes }, stream);
      return cells;
    },
  };
}
