/** One prepared kernel, or two: spectra of voltages that lie on the card. */
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { Kernel, KernelRequest } from '../backend/cuda/kernels.js';
import type { DeviceMemory, DevicePointer, Stream } from '../backend/cuda/session.js';
import type { CudaSpectraBlock } from '../backend/cuda/spectra.js';
import { uploadArray } from '../backend/cuda/transfer.js';
import { planFused, WORK, type ChannelisePass } from './cuda-plan.js';
import { factorTable, tapTable, twiddleTable } from './cuda-tables.js';
import { tensorTables } from './cuda-tensor-tables.js';
import { planTensor, TENSOR_WORK, type TensorPlan } from './cuda-tensor.js';
import type { ChannelisePlan } from './plan.js';

/** voltages : [a][pitch]; sample 0 of each row opens the window of spectrum 0. */
export interface DeviceVoltages {
  readonly pointer: DevicePointer;
  readonly pitchBytes: number;
}

export interface ChanneliseEngine {
  /** Spectra 0 … `spectra` − 1 into the block; missing : [a][t], 1 where one is to be left zero. */
  launch(
    from: DeviceVoltages,
    spectra: number,
    missing: DeviceMemory | undefined,
    out: CudaSpectraBlock,
    stream: Stream,
  ): void;
  readonly memories: readonly DeviceMemory[];
  /** For people: which kernels, how many passes. */
  readonly description: string;
}

/** Between two passes no more than this lies on the card at a time. */
const MOST_SCRATCH_BYTES = 256 * 2 ** 20;

export async function prepareEngine(
  plan: ChannelisePlan,
  backend: CudaBackend,
  saturated: DeviceMemory,
  kind: 'best' | 'general' = 'best',
): Promise<ChanneliseEngine> {
  const { device } = backend.session;
  const tensor = kind === 'best' ? planTensor(plan, { ...device, path: backend.path }) : undefined;
  return tensor ? prepareTensor(plan, tensor, backend, saturated) : prepareGeneral(plan, backend, saturated);
}

interface PreparedPass {
  readonly pass: ChannelisePass;
  readonly kernel: Kernel;
  readonly put: ReturnType<typeof writer>;
  /** The most blocks that work at once. */
  readonly blocks: number;
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

async function prepareGeneral(
  plan: ChannelisePlan,
  backend: CudaBackend,
  saturated: DeviceMemory,
): Promise<ChanneliseEngine> {
  const { session, shop } = backend;
  const fused = planFused(plan, session.device);
  const { passes, tile, scratchBytes, columns } = fused;
  const most = plan.inputs * Math.ceil(plan.capacity / tile);
  const itemsAtOnce =
    scratchBytes === 0 ? most : Math.max(1, Math.min(most, Math.floor(MOST_SCRATCH_BYTES / scratchBytes)));
  const factorValues = factorTable(plan);
  const taps = await uploadArray(session, 'the filter', tapTable(plan));
  const factors = await uploadArray(session, 'gains', factorValues);
  const long = await uploadArray(
    session,
    'twiddles',
    passes.length === 1 ? twiddleTable(2 * plan.channels, plan.channels) : twiddleTable(columns),
  );
  const scratch = session.allocate('half-made spectra', Math.max(8, scratchBytes * itemsAtOnce));
  const memories = [taps, factors, long, scratch];
  const kernels: PreparedPass[] = [];
  for (const pass of passes) {
    const twiddles = await uploadArray(session, 'twiddles', twiddleTable(pass.points));
    memories.push(twiddles);
    const kernel = (await shop.prepare(pass.request))[pass.entry];
    const put = writer(kernel);
    put.pointer(WORK.taps, taps.pointer);
    put.pointer(WORK.twiddles, twiddles.pointer);
    put.pointer(WORK.longTwiddles, long.pointer);
    put.pointer(WORK.scratch, scratch.pointer);
    put.pointer(WORK.factors, factors.pointer);
    put.pointer(WORK.saturated, saturated.pointer);
    put.int(WORK.factorStep, factorValues.length > 1 ? 1 : 0);
    put.int(WORK.inputs, plan.inputs);
    // As many blocks as a multiprocessor holds at once; each then walks along time.
    const fit = Math.floor((session.device.sharedBytesPerBlock + 1024) / (pass.sharedBytes + 1024));
    const blocks =
      session.device.multiprocessors * Math.max(1, Math.min(fit, Math.floor(1024 / pass.threads)));
    kernels.push({ pass, kernel, put, blocks });
  }
  return {
    memories,
    description: passes.length === 1 ? 'one pass' : 'two passes',
    launch: (from, spectra, missing, out, stream) => {
      const items = plan.inputs * Math.ceil(spectra / tile);
      for (let first = 0; first < items; first += itemsAtOnce) {
        const count = Math.min(itemsAtOnce, items - first);
        for (const { pass, kernel, put, blocks } of kernels) {
          put.pointer(WORK.voltages, from.pointer);
          put.long(WORK.pitchBytes, from.pitchBytes);
          put.pointer(WORK.missing, missing?.pointer ?? 0n);
          put.pointer(WORK.out, out.pointer);
          put.long(WORK.outPitchBytes, out.pitchBytes);
          put.int(WORK.spectra, spectra);
          put.int(WORK.firstItem, first);
          put.int(WORK.items, count);
          const { threads, sharedBytes } = pass;
          kernel.launch({ grid: [Math.min(blocks, count * pass.groups), 1], threads, sharedBytes }, stream);
        }
      }
    },
  };
}

/** cuda.h: two bytes an element, which is one sample; neither interleaved, swizzled, promoted nor filled. */
const UINT16 = 1;
const PLAIN = 0;

async function prepareTensor(
  plan: ChannelisePlan,
  tensor: TensorPlan,
  backend: CudaBackend,
  saturated: DeviceMemory,
): Promise<ChanneliseEngine> {
  const { session, shop } = backend;
  const { requests, entry, threads, sharedBytes, ranks, tile, box, blocksPerMultiprocessor } = tensor;
  const tables = tensorTables(plan, tensor.sign);
  const names = ['taps', 'moreTaps', 'entries', 'twiddles', 'lastTwiddles', 'factors'] as const;
  const memories = await Promise.all(names.map((name) => uploadArray(session, name, tables[name])));
  const prepare = async (request: KernelRequest) => {
    const kernel = (await shop.prepare(request))[entry];
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
  const [whole, withGaps] = await Promise.all([prepare(requests.whole), prepare(requests.gaps)]);
  const blocks = session.device.multiprocessors * blocksPerMultiprocessor;
  const shape = { threads, sharedBytes, cluster: ranks } as const;
  const most = ranks === 1 ? blocks : whole.kernel.clustersAtOnce({ grid: [blocks, 1], ...shape });

  const dimensions = new BigUint64Array(4);
  const strides = new BigUint64Array(3);
  const boxOf = Uint32Array.from(box);
  const everyElement = new Uint32Array([1, 1, 1, 1]);
  /** A view of the block as (spectrum, input, k1, k2), k = k1 + 32 k2: what lies outside it is not written. */
  const describe = (kernel: Kernel, out: CudaSpectraBlock, spectra: number): void => {
    const row = plan.inputs * out.pitchBytes;
    dimensions.set([spectra, plan.inputs, 32, plan.channels / 32].map(BigInt));
    strides.set([out.pitchBytes, row, 32 * row].map(BigInt));
    session.call(
      'cuTensorMapEncodeTiled',
      kernel.argument(0).address,
      UINT16,
      4,
      out.pointer,
      dimensions,
      strides,
      boxOf,
      everyElement,
      PLAIN,
      PLAIN,
      PLAIN,
      PLAIN,
    );
  };
  return {
    memories,
    description:
      ranks === 1 ? 'tensor cores, one pass' : `tensor cores, one pass, ${ranks} blocks to a spectrum`,
    launch: (from, spectra, missing, out, stream) => {
      const { kernel, put } = missing ? withGaps : whole;
      put.pointer(TENSOR_WORK.voltages, from.pointer);
      put.long(TENSOR_WORK.pitchBytes, from.pitchBytes);
      put.pointer(TENSOR_WORK.missing, missing?.pointer ?? 0n);
      put.int(TENSOR_WORK.spectra, spectra);
      describe(kernel, out, spectra);
      const walkers = Math.min(most, plan.inputs * Math.ceil(spectra / tile));
      kernel.launch({ grid: [walkers * ranks, 1], ...shape }, stream);
    },
  };
}
