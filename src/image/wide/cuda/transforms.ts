/** The planes of w on a card, and their transforms to the image and back (wide-fft.cu). */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory } from '../../../backend/cuda/session.js';
import { downloadInto, uploadArray } from '../../../backend/cuda/transfer.js';
import type { PlaneML } from '../../../core/axes.js';
import type { Closers } from '../../../core/closing.js';
import { rootsOfUnity } from '../../phasor.js';
import { TILE_CELLS } from '../grid-size.js';
import type { WidePlan } from '../plan.js';
import { inPrecision } from '../rows.js';
import { complexBytes, planFft } from './plan.js';
import { THREADS, writeShape } from './sort.js';

export async function prepareTransforms(
  plan: WidePlan,
  backend: CudaBackend,
  closers: Closers,
): Promise<Transforms> {
  const parts = await prepareParts(plan, backend, closers);
  const transforms = new Transforms(plan, backend, parts);
  const { planes, touched, image } = parts;
  for (const memory of [planes, touched, image]) transforms.clear(memory);
  return transforms;
}

async function prepareParts(plan: WidePlan, { session, shop }: CudaBackend, closers: Closers) {
  const { gridCells, pixels, planesHeld } = plan;
  const allocate = (what: string, sizeBytes: number): DeviceMemory =>
    closers.keep(session.allocate(what, sizeBytes));
  const upload = async (what: string, array: ArrayBufferView): Promise<DeviceMemory> =>
    closers.keep(await uploadArray(session, what, array));
  const launch = planFft(plan, session.device);
  const kernels = await shop.prepare(launch.request);
  const quarter = (pixels / 2 + 1) ** 2;
  const planesBytes = planesHeld * gridCells ** 2 * complexBytes(plan);
  const parts = {
    launch,
    kernels,
    done: closers.keep(session.createEvent()),
    turns: await upload('turns of transforms', inPrecision(rootsOfUnity(gridCells), plan.precision)),
    corrections: await upload('corrections', plan.corrections),
    steps: allocate('turns between planes', 16 * quarter),
    ends: allocate('turns at the end', 16 * quarter),
    planes: allocate(`${planesHeld} planes of w`, planesBytes),
    /** touched : [plane][row of tiles]; the rest of the planes is zero. */
    touched: allocate('touched rows', planesHeld * (gridCells / TILE_CELLS)),
    sums: allocate('sums of planes', 16 * pixels ** 2),
    image: allocate('image', 8 * pixels ** 2),
    allocateModel: () => allocate(`${planesHeld} planes of a model`, planesBytes),
  };
  const series = await upload('the series along w', plan.w.series);
  const { makeSteps } = kernels;
  writeShape(makeSteps.argument(0).view, plan);
  makeSteps.set([null, series.pointer, plan.w.series.length, parts.steps.pointer, parts.ends.pointer]);
  makeSteps.launch({ grid: [Math.ceil(quarter / THREADS), 1], threads: THREADS }, session.streams.compute);
  return parts;
}

/** Steps are launched in order on the compute stream, without waiting. */
export class Transforms {
  private model: DeviceMemory | undefined;

  constructor(
    private readonly plan: WidePlan,
    private readonly backend: CudaBackend,
    private readonly parts: Awaited<ReturnType<typeof prepareParts>>,
  ) {}

  private get stream() {
    return this.backend.session.streams.compute;
  }

  get planes(): DeviceMemory {
    return this.parts.planes;
  }

  get touched(): DeviceMemory {
    return this.parts.touched;
  }

  /** The planes of a model. */
  get modelPlanes(): DeviceMemory {
    return (this.model ??= this.parts.allocateModel());
  }

  clear({ pointer, sizeBytes }: DeviceMemory): void {
    this.backend.session.call('cuMemsetD8Async', pointer, 0, sizeBytes, this.stream.handle);
  }

  clearSums(): void {
    this.clear(this.parts.sums);
  }

  clearPlanes(): void {
    const { kernels, launch, planes, touched } = this.parts;
    const { gridCells, planesHeld } = this.plan;
    kernels.clearTouched.set([planes.pointer, touched.pointer]);
    const grid = [gridCells / TILE_CELLS, planesHeld] as const;
    kernels.clearTouched.launch({ grid, threads: launch.threads }, this.stream);
  }

  private rowShape(count: number) {
    const { lines, threads, sharedBytes } = this.parts.launch;
    return { grid: [this.plan.gridCells / lines, count], threads, sharedBytes } as const;
  }

  private columnShape() {
    const { lines, threads, sharedBytes } = this.parts.launch;
    return { grid: [Math.ceil(this.plan.pixels / lines), 1], threads, sharedBytes } as const;
  }

  private pixelShape() {
    return { grid: [Math.ceil(this.plan.pixels ** 2 / THREADS), 1], threads: THREADS } as const;
  }

  /** Adds so many planes to the sums. */
  toSums(count: number): void {
    const { kernels, planes, touched, turns, steps, sums } = this.parts;
    kernels.rowsToImage.set([planes.pointer, touched.pointer, turns.pointer]);
    kernels.rowsToImage.launch(this.rowShape(count), this.stream);
    const { columnsToImage } = kernels;
    columnsToImage.set([planes.pointer, touched.pointer, count, turns.pointer, steps.pointer, sums.pointer]);
    columnsToImage.launch(this.columnShape(), this.stream);
  }

  /** Adds the sums to the image. */
  collect(): void {
    const { kernels, sums, ends, corrections, image } = this.parts;
    kernels.collectImage.set([sums.pointer, ends.pointer, corrections.pointer, image.pointer]);
    kernels.collectImage.launch(this.pixelShape(), this.stream);
  }

  /** The image so far; the next one starts empty. */
  async takeImage(): Promise<Float64Array> {
    const values = new Float64Array(this.plan.pixels ** 2);
    await downloadInto(this.backend.session, this.parts.image, values);
    this.clear(this.parts.image);
    return values;
  }

  /** The sums of a model. */
  async spread(model: PlaneML): Promise<void> {
    const { kernels, sums, ends, corrections } = this.parts;
    const from = await uploadArray(this.backend.session, 'model', model);
    kernels.spreadImage.set([from.pointer, ends.pointer, corrections.pointer, sums.pointer]);
    kernels.spreadImage.launch(this.pixelShape(), this.stream);
    await this.settled();
    await from.close();
  }

  /** So many of the model's planes. */
  fromSums(count: number): void {
    const { kernels, turns, steps, sums } = this.parts;
    const to = this.modelPlanes.pointer;
    kernels.columnsToGrid.set([to, count, turns.pointer, steps.pointer, sums.pointer]);
    kernels.columnsToGrid.launch(this.columnShape(), this.stream);
    kernels.rowsToGrid.set([to, turns.pointer]);
    kernels.rowsToGrid.launch(this.rowShape(count), this.stream);
  }

  async settled(): Promise<void> {
    this.parts.done.record(this.stream);
    await this.parts.done.passed();
  }
}
