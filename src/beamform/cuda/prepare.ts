/**
 * The beamformer on a card. Spectra stay there; only binned powers, or voltages, are copied to the host. A kernel makes
 * beams and detects them in one pass, a second one adds its partial sums in their order.
 */
import { fieldsOf } from '../../backend/cuda/arguments.js';
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { Kernel } from '../../backend/cuda/kernels.js';
import { offsetBy, type DeviceMemory, type DevicePointer } from '../../backend/cuda/session.js';
import { cudaSpectra, type CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import { describeTensor } from '../../backend/cuda/tensor-map.js';
import { downloadInto, uploadInto } from '../../backend/cuda/transfer.js';
import { preparing, type Closers } from '../../core/closing.js';
import type { Beamformer } from '../beamformer.js';
import type { Incoherent } from '../incoherent.js';
import { steeringPhases, weightScale } from '../weights.js';
import {
  checkBeamBlock,
  checkBins,
  checkVoltages,
  checkWeights,
  weightsLength,
  type BeamPlan,
  type Bins,
} from '../plan.js';
import {
  BEAM_WORK,
  beamLaunchShape,
  partialsOf,
  planBeamFinish,
  planBeamKernel,
  planStations,
  STEERING,
  weightRowBytes,
  type BeamLaunch,
} from './plan.js';

export interface CudaBeamformer extends Beamformer {
  /** Powers of a block to `sums`, a buffer of the beamformer's: [b][d][bin][c] float64, in order on the compute stream. */
  launchPowers(block: CudaSpectraBlock, bins: Bins): DeviceMemory;
  /** Until the weights are on the card. */
  weighed(): Promise<void>;
}

export const prepareCudaBeamformer = (plan: BeamPlan, backend: CudaBackend): Promise<CudaBeamformer> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const stream = session.streams.compute;
    const launch = planBeamKernel(plan, backend.path);
    const kernel = (await shop.prepare(launch.request))[launch.entry];
    const finish = await shop.prepare(planBeamFinish(plan));
    const weightBytes = weightsLength(plan) * (plan.weights === 'ci8' ? 1 : 4);
    const given = closers.keep(session.allocate('weights of beams', weightBytes));
    const { channels, polarisations, beams, stations } = plan;
    const arrangedBytes = channels * polarisations * 2 * beams * weightRowBytes(stations);
    const arranged =
      launch.columns === undefined
        ? undefined
        : closers.keep(session.allocate('arranged weights of beams', arrangedBytes));
    for (const { pointer, sizeBytes } of arranged ? [given, arranged] : [given])
      session.call('cuMemsetD8Async', pointer, 0, sizeBytes, stream.handle);
    const run = runner(plan, backend, { launch, kernel, weights: arranged ?? given });
    const sums = summing(plan, backend, closers, finish.addPartials);
    const voltageRoom = growing(backend, closers, 'voltages of beams');

    /** Queued calls, in order. */
    let weighed: Promise<void> = Promise.resolve();
    const arrange = (): void => {
      if (!arranged) return;
      const count = channels * beams * plan.inputs;
      finish.arrangeWeights.set([given.pointer, arranged.pointer, count]);
      finish.arrangeWeights.launch(wideGrid(count), stream);
    };
    const weigh = async (own: Int8Array | Float32Array): Promise<void> => {
      await uploadInto(session, given, own);
      arrange();
    };
    const steeringRoom = (['anchors', 'steps', 'inverse'] as const).map((what) =>
      growing(backend, closers, `${what} of weights`),
    );
    const steer = async (
      { every, anchors, steps }: ReturnType<typeof steeringPhases>,
      inverse: Float64Array,
      scale: number,
    ): Promise<void> => {
      const rooms: DeviceMemory[] = [];
      for (const [n, own] of [anchors, steps, inverse].entries()) {
        rooms[n] = steeringRoom[n](own.byteLength);
        await uploadInto(session, rooms[n], own);
      }
      const { view } = finish.steerWeights.argument(4);
      view.setFloat64(STEERING.scale, scale, true);
      fieldsOf(view, STEERING)({ channels, every });
      finish.steerWeights.set([...rooms.map(({ pointer }) => pointer), given.pointer, null]);
      finish.steerWeights.launch(wideGrid(anchors.length / 2), stream);
      arrange();
    };
    const launchPowers = (block: CudaSpectraBlock, bins: Bins): DeviceMemory =>
      sums.add(bins, block.samples, (partials, settings) => {
        run(block, partials, settings);
      });
    return {
      plan,
      setWeights: (wanted) => {
        checkWeights(plan, wanted);
        const own = wanted.slice();
        weighed = weighed.then(() => weigh(own));
      },
      steer: (frequenciesHz, delaysS, gains) => {
        const phases = steeringPhases(frequenciesHz, delaysS);
        const scale = weightScale(plan.weights, gains);
        weighed = weighed.then(() => steer(phases, gains.inverse, scale));
        return new Float64Array(beams).fill(scale);
      },
      weighed: () => weighed,
      launchPowers,
      voltages: async (given, into) => {
        const block = cudaSpectra('beams', given);
        checkBeamBlock(plan, block);
        checkVoltages(plan, block.samples, into);
        await weighed;
        if (block.samples === 0) return;
        const out = voltageRoom(into.byteLength);
        run(block, out, { detection: 0, firstEnd: 0, perBin: 1, rows: 0 });
        await backend.meter.around('download', stream, () => downloadInto(session, out, into));
        backend.meter.downloaded(into.byteLength);
      },
      powers: async (given, bins, into) => {
        const block = cudaSpectra('beams', given);
        checkBeamBlock(plan, block);
        checkBins(plan, block, bins, into);
        await weighed;
        if (block.samples > 0) await addFrom(backend, launchPowers(block, bins), into);
      },
      close: () => closers.close(),
    };
  });

/** Sums of stations' powers on a card. */
export const prepareCudaIncoherent = (plan: BeamPlan, backend: CudaBackend): Promise<Incoherent> =>
  preparing(async (closers) => {
    const { session, shop } = backend;
    const { addStations } = await shop.prepare(planStations(plan));
    const { addPartials } = await shop.prepare(planBeamFinish({ ...plan, beams: 1 }));
    const weights = closers.keep(session.allocate('weights of stations', 8 * plan.channels * plan.inputs));
    const launch = { threads: 128, sharedBytes: 0, tileSpectra: 128, tileBeams: 1, persistent: false };
    const one = { ...plan, beams: 1 };
    const run = runner(one, backend, { launch, kernel: addStations, weights });
    const sums = summing(one, backend, closers, addPartials);
    let held: Float64Array | undefined;
    return {
      plan,
      add: async (squares, given, bins, into) => {
        const block = cudaSpectra('beams', given);
        checkBeamBlock(plan, block);
        checkBins(plan, block, bins, into);
        if (block.samples === 0) return;
        if (!held || squares.some((square, n) => square !== held?.[n])) {
          held = squares.slice();
          await uploadInto(session, weights, held);
        }
        const made = sums.add(bins, block.samples, (partials, settings) => {
          run(block, partials, settings);
        });
        await addFrom(backend, made, into);
      },
      close: () => closers.close(),
    };
  });

type Settings =
  ReturnType<typeof partialsOf> | { detection: 0; firstEnd: number; perBin: number; rows: number };

interface Running {
  readonly launch: Pick<
    BeamLaunch,
    'threads' | 'sharedBytes' | 'tileSpectra' | 'tileBeams' | 'columns' | 'persistent'
  >;
  readonly kernel: Kernel;
  readonly weights: DeviceMemory;
}

/** Launches a kernel over a block, in order on the compute stream. */
function runner(
  plan: BeamPlan,
  backend: CudaBackend,
  { launch, kernel, weights }: Running,
): (block: CudaSpectraBlock, out: DeviceMemory, settings: Settings) => void {
  const { session, meter } = backend;
  const stream = session.streams.compute;
  const { channels, polarisations, inputs, stations, beams } = plan;
  const put = fieldsOf(kernel.argument(launch.persistent ? 3 : 0).view, BEAM_WORK);
  const rowBytes = weightRowBytes(stations);
  /** Boxes of so many rows of 128 bytes of one plane. */
  const describe = (
    n: number,
    pointer: DevicePointer,
    sizes: readonly number[],
    strideBytes: readonly number[],
    rows: number,
  ): void => {
    const box = [128, rows, 1];
    const view = { element: 'byte', pointer, sizes, strideBytes, box } as const;
    describeTensor(session, kernel, n, { ...view, swizzle: 'bytes128', fetchBytes: 256 });
  };
  /** Views of spectra as (byte in row, station, channel), one for each polarisation, and of weights. */
  const describeAll = (block: CudaSpectraBlock): void => {
    for (const n of [0, 1]) {
      const from = offsetBy(block.pointer, (n % polarisations) * block.pitchBytes);
      const strides = [block.pitchBytes * polarisations, block.pitchBytes * inputs];
      describe(n, from, [2 * block.samples, stations, channels], strides, BOX_STATIONS);
    }
    const rows = [rowBytes, 2 * beams, channels * polarisations];
    const strides = [rowBytes, rowBytes * 2 * beams];
    describe(2, weights.pointer, rows, strides, launch.columns ?? 0);
  };
  return (block, out, { detection, firstEnd, perBin, rows }) => {
    const shape = beamLaunchShape(launch, plan, block.samples, session.device.multiprocessors);
    if (launch.persistent) describeAll(block);
    const { samples, pitchBytes, pointer: spectra } = block;
    put({ samples, detection, firstEnd, perBin, rows, items: shape.items, pitchBytes, spectra });
    put({ out: out.pointer, weights: weights.pointer });
    block.reading(stream);
    meter.around('beams', stream, () => {
      kernel.launch(shape, stream);
    });
    block.doneReading(stream);
  };
}

const BOX_STATIONS = 64;
/**
 * Memory that is reallocated where a block needs more: the plan does not know the lengths of blocks and their numbers
 * of bins.
 */
function growing({ session }: CudaBackend, closers: Closers, what: string): (bytes: number) => DeviceMemory {
  let room: DeviceMemory | undefined;
  closers.keep({ close: () => room?.close() ?? Promise.resolve() });
  return (bytes) => {
    if (room && room.sizeBytes >= bytes) return room;
    // Freeing waits for the kernels that use it.
    void room?.close();
    room = undefined;
    return (room = session.allocate(what, bytes));
  };
}

/** Partial sums of a kernel, and their sums. */
function summing(plan: BeamPlan, backend: CudaBackend, closers: Closers, addPartials: Kernel) {
  const { session, meter } = backend;
  const stream = session.streams.compute;
  const { channels, beams } = plan;
  const partialRoom = growing(backend, closers, 'partial powers of beams');
  const sumRoom = growing(backend, closers, 'powers of beams');
  const put = fieldsOf(addPartials.argument(0).view, BEAM_WORK);
  return {
    add: (
      bins: Bins,
      samples: number,
      run: (partials: DeviceMemory, settings: ReturnType<typeof partialsOf>) => void,
    ): DeviceMemory => {
      const settings = partialsOf(bins, samples);
      const { detection, firstEnd, perBin, rows } = settings;
      const partials = partialRoom(4 * channels * rows * detection * beams);
      const count = beams * detection * bins.bins * channels;
      const sums = sumRoom(8 * count);
      run(partials, settings);
      put({ samples, detection, firstEnd, perBin, rows, out: partials.pointer });
      addPartials.set([null, sums.pointer, bins.bins, channels]);
      meter.around('beams', stream, () => {
        addPartials.launch(wideGrid(count), stream);
      });
      return sums;
    },
  };
}

const wideGrid = (count: number) =>
  ({ grid: [Math.max(1, Math.min(65_536, Math.ceil(count / 256))), 1], threads: 256 }) as const;

/** Adds values from the card, once they are made. */
async function addFrom(
  { session, meter }: CudaBackend,
  sums: DeviceMemory,
  into: Float64Array,
): Promise<void> {
  const made = new Float64Array(into.length);
  await meter.around('download', session.streams.compute, () => downloadInto(session, sums, made));
  meter.downloaded(made.byteLength);
  for (let n = 0; n < into.length; n++) into[n] += made[n];
}
