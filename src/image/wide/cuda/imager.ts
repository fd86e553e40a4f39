/** Wide images on a card (wide-sort.cu, wide-grid.cu, wide-fft.cu), float32 or float64 as the plan says. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory, DevicePointer } from '../../../backend/cuda/session.js';
import { downloadInto, uploadArray, uploadInto } from '../../../backend/cuda/transfer.js';
import { planeML, visibilitiesRC, type PlaneML, type VisibilitiesRC } from '../../../core/axes.js';
import { preparing, type Closers } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { collectRows } from '../collect.js';
import type { WideImage, WideImager } from '../imager.js';
import type { WidePlan } from '../plan.js';
import {
  checkRows,
  checkWithin,
  inPrecision,
  rowCount,
  rowsBetween,
  wavelengthsPerMetre,
  type WideGeometry,
  type WideRows,
} from '../rows.js';
import { complexBytes, planGrid } from './plan.js';
import {
  blocksFor,
  GrowingMemory,
  prepareSorter,
  THREADS,
  writeRows,
  writeShape,
  type DeviceRows,
} from './sort.js';
import { prepareTransforms } from './transforms.js';

/** Visibilities that are sorted together: beyond it their records take more than a gigabyte. */
const MOST_AT_ONCE = 2 ** 25;

export const prepareCudaWideImager = (plan: WidePlan, backend: CudaBackend): Promise<CudaWideImager> =>
  preparing(async (closers) => new CudaWideImager(plan, backend, await prepareParts(plan, backend, closers)));

async function prepareParts(plan: WidePlan, backend: CudaBackend, closers: Closers) {
  const { session, shop } = backend;
  const memory = new GrowingMemory(backend, closers);
  const launch = planGrid(plan, session.device);
  const coefficients = [...plan.taps.coefficients, ...plan.w.taps.coefficients];
  const taps = inPrecision(Float64Array.from(coefficients), plan.precision);
  return {
    closers,
    memory,
    launch,
    kernels: await shop.prepare(launch.request),
    sort: await prepareSorter(plan, backend, memory),
    taps: closers.keep(await uploadArray(session, 'taps', taps)),
    transforms: await prepareTransforms(plan, backend, closers),
  };
}

type Parts = Awaited<ReturnType<typeof prepareParts>>;

class CudaWideImager implements WideImager {
  readonly method = 'gridded';
  private readonly holdsAll: boolean;
  private readonly collector: ReturnType<typeof collectRows> | undefined;
  private sorted: ReturnType<Parts['sort']> | undefined;
  private model: PlaneML | undefined;
  private used = { weightSum: 0, visibilities: 0 };

  constructor(
    readonly plan: WidePlan,
    private readonly backend: CudaBackend,
    private readonly parts: Parts,
  ) {
    this.holdsAll = plan.planesHeld === plan.w.planes;
    if (!this.holdsAll) this.collector = collectRows((rows) => this.pass(rows));
  }

  /** Clears and transforms planes, in order on the compute stream, without waiting. For benches. */
  get transforms(): Parts['transforms'] {
    return this.parts.transforms;
  }

  /** Sorts rows already on the card. */
  sort(rows: DeviceRows): void {
    this.sorted = this.parts.sort(rows);
  }

  /** Grids the last sorted rows onto planes first … end − 1. */
  grid(first: number, end: number): void {
    const { kernels, launch, taps, transforms } = this.parts;
    if (!this.sorted) throw new Error('nothing was sorted');
    const { records, pieces, count, most } = this.sorted;
    const { planes, touched } = transforms;
    kernels.gridPieces.set([
      taps.pointer,
      records.pointer,
      pieces.pointer,
      count.pointer,
      first,
      end,
      planes.pointer,
      touched.pointer,
    ]);
    const { slots, slotGroups, sharedBytes } = launch;
    const shape = { grid: [most, slotGroups], threads: 32 * slots, sharedBytes } as const;
    kernels.gridPieces.launch(shape, this.backend.session.streams.compute);
  }

  /** Arrays to the card; those not given are 0. */
  private async upload(
    rows: Omit<WideRows, 'weights'> & Partial<Pick<WideRows, 'weights'>>,
  ): Promise<DeviceRows> {
    const { uvwM, visibilities, weights, frequenciesHz } = rows;
    const scales = wavelengthsPerMetre(frequenciesHz);
    const bring = async (what: string, array: ArrayBufferView): Promise<DevicePointer> => {
      const memory = this.parts.memory.of(what, array.byteLength);
      await uploadInto(this.backend.session, memory, array);
      return memory.pointer;
    };
    return {
      uvw: await bring('u, v, w', uvwM),
      scales: await bring('frequencies', scales),
      values: visibilities ? await bring('visibilities', inPrecision(visibilities, this.plan.precision)) : 0n,
      weights: weights ? await bring('weights', weights) : 0n,
      rows: rowCount(rows),
      channels: scales.length,
    };
  }

  async accumulate(rows: WideRows): Promise<void> {
    checkRows(rows);
    await (this.collector ? this.collector.add(rows) : this.pass(rows));
  }

  private async pass(rows: WideRows): Promise<void> {
    checkWithin(this.plan.bounds, rows);
    for (const [part] of partsOf(rows)) {
      this.sort(await this.upload(part));
      if (this.holdsAll) this.grid(0, this.plan.w.planes);
      else this.passAllPlanes();
      await this.transforms.settled();
    }
    for (const weight of rows.weights) {
      if (!(weight > 0)) continue;
      this.used.weightSum += weight;
      this.used.visibilities++;
    }
  }

  /** The sorted rows through all planes, as many at a time as are held, from the last down. */
  private passAllPlanes(): void {
    const { planesHeld, w } = this.plan;
    this.transforms.clearSums();
    for (let end = w.planes; end > 0; end -= planesHeld) {
      const first = Math.max(0, end - planesHeld);
      this.transforms.clearPlanes();
      this.grid(first, end);
      this.transforms.toSums(end - first);
    }
    this.transforms.collect();
  }

  async finish(): Promise<WideImage> {
    const { holdsAll, transforms, plan } = this;
    await this.collector?.flush();
    if (holdsAll || this.used.visibilities === 0) {
      transforms.clearSums();
      if (holdsAll) transforms.toSums(plan.w.planes);
      transforms.collect();
    }
    const values = await transforms.takeImage();
    if (holdsAll) transforms.clearPlanes();
    const { used } = this;
    this.used = { weightSum: 0, visibilities: 0 };
    if (used.weightSum > 0) for (let k = 0; k < values.length; k++) values[k] /= used.weightSum;
    return { image: planeML(values, plan.pixels), ...used };
  }

  async loadModel(model: PlaneML): Promise<void> {
    const { transforms } = this;
    this.model = planeML(model.slice(), this.plan.pixels);
    if (!this.holdsAll) return;
    await transforms.spread(this.model);
    transforms.fromSums(this.plan.w.planes);
    await transforms.settled();
  }

  async predict(geometry: WideGeometry): Promise<VisibilitiesRC> {
    const { plan, model } = this;
    const { session } = this.backend;
    if (!model) refuse('image', 'no model was loaded');
    checkWithin(plan.bounds, geometry);
    const channels = geometry.frequenciesHz.length;
    const length = 2 * rowCount(geometry) * channels;
    const out = plan.precision === 'float32' ? new Float32Array(length) : new Float64Array(length);
    for (const [part, firstRow] of partsOf(geometry)) {
      const from = await this.upload(part);
      const count = from.rows * channels;
      const values = this.parts.memory.of('visibilities', complexBytes(plan) * count);
      const { handle } = session.streams.compute;
      session.call('cuMemsetD8Async', values.pointer, 0, complexBytes(plan) * count, handle);
      if (!this.holdsAll) await this.transforms.spread(model);
      this.degrid(from, values);
      const start = 2 * firstRow * channels;
      await downloadInto(session, values, out.subarray(start, start + 2 * count));
    }
    return visibilitiesRC(out, rowCount(geometry), channels);
  }

  /** Adds the model at these rows to the values, from as many planes at a time as are held. */
  private degrid(from: DeviceRows, values: DeviceMemory): void {
    const { plan, transforms } = this;
    const { kernels, taps } = this.parts;
    const { degridRows } = kernels;
    const { planesHeld, w } = plan;
    for (let first = 0; first < w.planes; first += planesHeld) {
      const end = Math.min(w.planes, first + planesHeld);
      if (!this.holdsAll) transforms.fromSums(end - first);
      writeShape(degridRows.argument(0).view, plan);
      writeRows(degridRows.argument(1).view, plan, from);
      const { pointer } = transforms.modelPlanes;
      degridRows.set([null, null, taps.pointer, pointer, first, end, values.pointer]);
      const shape = { grid: [blocksFor(32 * from.rows * from.channels), 1], threads: THREADS } as const;
      degridRows.launch(shape, this.backend.session.streams.compute);
    }
  }

  close(): Promise<void> {
    return this.parts.closers.close();
  }
}

/** Rows in parts that are sorted together, each with its first row. */
function* partsOf<Rows extends Omit<WideRows, 'weights'>>(rows: Rows): Iterable<readonly [Rows, number]> {
  const most = Math.max(1, Math.floor(MOST_AT_ONCE / rows.frequenciesHz.length));
  for (let first = 0; first < rowCount(rows); first += most) {
    yield [rowsBetween(rows, first, Math.min(rowCount(rows), first + most)), first];
  }
}
