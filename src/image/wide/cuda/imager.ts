/** Wide images on a card (wide-sort.cu, wide-grid.cu, wide-fft.cu), float32 or float64 as the plan says. */
import type { CudaBackend } from '../../../backend/cuda/cuda.js';
import type { DeviceMemory, DevicePointer } from '../../../backend/cuda/session.js';
import { downloadInto, uploadArray, uploadInto } from '../../../backend/cuda/transfer.js';
import { planeML, visibilitiesRC, type PlaneML } from '../../../core/axes.js';
import { preparing, type Closers } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import { collectRows } from '../collect.js';
import { TILE_CELLS } from '../grid-size.js';
import type { WideImager } from '../imager.js';
import type { WidePlan } from '../plan.js';
import {
  checkRows,
  checkWithin,
  inPrecision,
  rowCount,
  rowsBetween,
  wavelengthsPerMetre,
  type WideRows,
} from '../rows.js';
import {
  binGroups,
  complexBytes,
  PIECE_RECORDS,
  planFft,
  planGrid,
  planSort,
  recordBytes,
  ROWS,
  SCAN_CHUNK,
  SCAN_THREADS,
  SHAPE,
} from './plan.js';

const THREADS = 256;
/** Visibilities that are sorted together: beyond it their records take more than a gigabyte. */
const MOST_AT_ONCE = 2 ** 25;
/** Faster by an eighth on an H200 than 'stored', which keeps sums in memory. */
const SUMS = 'held';

/** A block of rows on the card. */
interface DeviceRows {
  readonly uvw: DevicePointer;
  readonly scales: DevicePointer;
  /** 0 for ones. */
  readonly values: DevicePointer | 0n;
  readonly weights: DevicePointer | 0n;
  readonly rows: number;
  readonly channels: number;
}

interface CudaWideImager extends WideImager {
  /** The steps of an image one by one, in order on the compute stream, without waiting. For benches. */
  readonly steps: {
    /** Of rows already on the card. */
    sort(rows: DeviceRows): void;
    /** The last sorted rows, onto planes first … end − 1. */
    grid(first: number, end: number): void;
    clearPlanes(): void;
    clearSums(): void;
    /** Planes of a stack of so many to the sums, which are in memory from plane to plane or held in registers. */
    transform(planes: number, held?: 'stored' | 'held'): void;
  };
}

export const prepareCudaWideImager = (plan: WidePlan, backend: CudaBackend): Promise<CudaWideImager> =>
  preparing((closers) => makeImager(plan, backend, closers));

async function makeImager(plan: WidePlan, backend: CudaBackend, closers: Closers): Promise<CudaWideImager> {
  const { session, shop } = backend;
  const { pixels, gridCells, planesHeld, w } = plan;
  const stream = session.streams.compute;
  const gridLaunch = planGrid(plan, session.device);
  const fftLaunch = planFft(plan, session.device);
  const sort = await shop.prepare(planSort(plan));
  const grid = await shop.prepare(gridLaunch.request);
  const fft = await shop.prepare(fftLaunch.request);
  const done = closers.keep(session.createEvent());
  const allocate = (what: string, sizeBytes: number): DeviceMemory =>
    closers.keep(session.allocate(what, sizeBytes));
  const upload = async (what: string, array: ArrayBufferView): Promise<DeviceMemory> =>
    closers.keep(await uploadArray(session, what, array));
  const holdsAll = planesHeld === w.planes;
  const groups = binGroups(plan);
  const tiles = (gridCells / TILE_CELLS) ** 2;
  const bins = tiles * groups;
  const chunks = Math.ceil(bins / SCAN_CHUNK);
  const planeBytes = gridCells ** 2 * complexBytes(plan);
  const taps = await upload(
    'taps',
    inPrecision(joined(plan.taps.coefficients, w.taps.coefficients), plan.precision),
  );
  const turns = await upload('turns of transforms', inPrecision(turnsOf(gridCells), plan.precision));
  const corrections = await upload('corrections', plan.corrections);
  const series = await upload('the series along w', w.series);
  const quarter = (pixels / 2 + 1) ** 2;
  const stepTable = allocate('turns between planes', 16 * quarter);
  const endTable = allocate('turns at the end', 16 * quarter);
  const counts = allocate('bins of visibilities', 4 * bins);
  const totals = allocate('chunks of bins', 4 * chunks);
  const pieceCount = allocate('count of pieces', 4);
  const planes = allocate(`${planesHeld} planes of w`, planesHeld * planeBytes);
  const tileRows = gridCells / TILE_CELLS;
  /** touched : [plane][row of tiles]; the rest of the planes is zero. */
  const touched = allocate('touched rows', planesHeld * tileRows);
  const sums = allocate('sums of planes', 16 * pixels ** 2);
  const image = allocate('image', 8 * pixels ** 2);
  let modelPlanes: DeviceMemory | undefined;
  let modelImage: PlaneML | undefined;

  /** Grows with the blocks; the same memory serves the next. */
  const growing = (what: string): ((sizeBytes: number) => DeviceMemory) => {
    let memory: DeviceMemory | undefined;
    return (sizeBytes) => {
      if (memory && memory.sizeBytes >= sizeBytes) return memory;
      void memory?.close(); // the driver waits for the card first
      memory = closers.keep(session.allocate(what, sizeBytes));
      return memory;
    };
  };
  const memoryOf = {
    uvw: growing('u, v, w'),
    scales: growing('frequencies'),
    values: growing('visibilities'),
    weights: growing('weights'),
    keys: growing('keys of visibilities'),
    records: growing('sorted visibilities'),
    pieces: growing('pieces of tiles'),
  };

  const clear = ({ pointer, sizeBytes }: DeviceMemory): void => {
    session.call('cuMemsetD8Async', pointer, 0, sizeBytes, stream.handle);
  };
  const blocksFor = (items: number): number => Math.max(1, Math.min(65_535, Math.ceil(items / THREADS)));

  const writeShape = (view: DataView): void => {
    view.setFloat64(SHAPE.pixelCosine, plan.pixelCosine, true);
    view.setFloat64(SHAPE.leastW, plan.bounds.leastWLambda, true);
    view.setFloat64(SHAPE.firstW, w.firstLambda, true);
    view.setFloat64(SHAPE.spacing, w.spacingLambda, true);
    view.setFloat64(SHAPE.middle, plan.middle, true);
    view.setFloat64(SHAPE.halfRange, plan.halfRange, true);
  };
  const writeRows = (view: DataView, from: DeviceRows): void => {
    view.setBigUint64(ROWS.uvw, from.uvw, true);
    view.setBigUint64(ROWS.scales, from.scales, true);
    view.setBigUint64(ROWS.values, from.values, true);
    view.setBigUint64(ROWS.weights, from.weights, true);
    view.setBigInt64(ROWS.count, BigInt(from.rows * from.channels), true);
    view.setInt32(ROWS.channels, from.channels, true);
    view.setInt32(ROWS.groups, groups, true);
    view.setInt32(ROWS.firstPlanes, w.planes - w.support + 1, true);
  };

  let sorted:
    { readonly records: DeviceMemory; readonly pieces: DeviceMemory; readonly most: number } | undefined;
  const sortRows = (from: DeviceRows): void => {
    const count = from.rows * from.channels;
    const keys = memoryOf.keys(4 * count);
    const records = memoryOf.records(recordBytes(plan) * count);
    const most = Math.ceil(count / PIECE_RECORDS) + Math.min(tiles, count);
    const pieces = memoryOf.pieces(16 * most);
    clear(counts);
    clear(pieceCount);
    for (const kernel of [sort.placeVisibilities, sort.scatterVisibilities]) {
      writeShape(kernel.argument(0).view);
      writeRows(kernel.argument(1).view, from);
    }
    const shape = { grid: [blocksFor(count), 1], threads: THREADS } as const;
    sort.placeVisibilities.set([null, null, keys.pointer, counts.pointer]);
    sort.placeVisibilities.launch(shape, stream);
    sort.scanChunks.set([counts.pointer, bins, totals.pointer]);
    sort.scanChunks.launch({ grid: [chunks, 1], threads: SCAN_THREADS }, stream);
    sort.scanTotals.set([totals.pointer, chunks]);
    sort.scanTotals.launch({ grid: [1, 1], threads: SCAN_THREADS }, stream);
    sort.addTotals.set([counts.pointer, bins, totals.pointer]);
    sort.addTotals.launch({ grid: [chunks, 1], threads: SCAN_THREADS }, stream);
    sort.scatterVisibilities.set([null, null, keys.pointer, counts.pointer, records.pointer]);
    sort.scatterVisibilities.launch(shape, stream);
    sort.makePieces.set([counts.pointer, groups, PIECE_RECORDS, pieces.pointer, pieceCount.pointer]);
    sort.makePieces.launch({ grid: [blocksFor(tiles), 1], threads: THREADS }, stream);
    sorted = { records, pieces, most };
  };

  const gridSorted = (first: number, end: number): void => {
    if (!sorted) throw new Error('nothing was sorted');
    grid.gridPieces.set([
      taps.pointer,
      sorted.records.pointer,
      sorted.pieces.pointer,
      pieceCount.pointer,
      first,
      end,
      planes.pointer,
      touched.pointer,
    ]);
    const { slots, slotGroups, sharedBytes } = gridLaunch;
    const shape = { grid: [sorted.most, slotGroups], threads: 32 * slots, sharedBytes } as const;
    grid.gridPieces.launch(shape, stream);
  };

  const { lines, threads, sharedBytes } = fftLaunch;
  const rowShape = (count: number) => ({ grid: [gridCells / lines, count], threads, sharedBytes }) as const;
  const columnShape = { grid: [Math.ceil(pixels / lines), 1], threads, sharedBytes } as const;
  const pixelShape = { grid: [Math.ceil(pixels ** 2 / THREADS), 1], threads: THREADS } as const;

  const clearPlanes = (): void => {
    fft.clearTouched.set([planes.pointer, touched.pointer]);
    fft.clearTouched.launch({ grid: [tileRows, planesHeld], threads }, stream);
  };
  const toSums = (count: number, held: 'stored' | 'held' = SUMS): void => {
    fft.rowsToImage.set([planes.pointer, touched.pointer, turns.pointer]);
    fft.rowsToImage.launch(rowShape(count), stream);
    const columns = held === 'held' ? fft.columnsHeld : fft.columnsToImage;
    columns.set([planes.pointer, touched.pointer, count, turns.pointer, stepTable.pointer, sums.pointer]);
    columns.launch(columnShape, stream);
  };
  const collect = (): void => {
    fft.collectImage.set([sums.pointer, endTable.pointer, corrections.pointer, image.pointer]);
    fft.collectImage.launch(pixelShape, stream);
  };
  const spread = async (model: PlaneML): Promise<void> => {
    const from = await uploadArray(session, 'model', model);
    fft.spreadImage.set([from.pointer, endTable.pointer, corrections.pointer, sums.pointer]);
    fft.spreadImage.launch(pixelShape, stream);
    await settled();
    await from.close();
  };
  const fromSums = (to: DeviceMemory, count: number): void => {
    fft.columnsToGrid.set([to.pointer, count, turns.pointer, stepTable.pointer, sums.pointer]);
    fft.columnsToGrid.launch(columnShape, stream);
    fft.rowsToGrid.set([to.pointer, turns.pointer]);
    fft.rowsToGrid.launch(rowShape(count), stream);
  };
  const settled = async (): Promise<void> => {
    done.record(stream);
    await done.passed();
  };

  writeShape(fft.makeSteps.argument(0).view);
  fft.makeSteps.set([null, series.pointer, w.series.length, stepTable.pointer, endTable.pointer]);
  fft.makeSteps.launch({ grid: [Math.ceil(quarter / THREADS), 1], threads: THREADS }, stream);
  clear(planes);
  clear(touched);
  clear(image);

  /** Arrays to the card; those not given are 0. */
  async function uploadRows(
    rows: Omit<WideRows, 'weights'> & Partial<Pick<WideRows, 'weights'>>,
  ): Promise<DeviceRows> {
    const scales = wavelengthsPerMetre(rows.frequenciesHz);
    const bring = async (memory: DeviceMemory, array: ArrayBufferView): Promise<DevicePointer> => {
      await uploadInto(session, memory, array);
      return memory.pointer;
    };
    const values = rows.visibilities && inPrecision(rows.visibilities, plan.precision);
    return {
      uvw: await bring(memoryOf.uvw(rows.uvwM.byteLength), rows.uvwM),
      scales: await bring(memoryOf.scales(scales.byteLength), scales),
      values: values ? await bring(memoryOf.values(values.byteLength), values) : 0n,
      weights: rows.weights ? await bring(memoryOf.weights(rows.weights.byteLength), rows.weights) : 0n,
      rows: rowCount(rows),
      channels: scales.length,
    };
  }
  /** Rows in parts that are sorted together. */
  function* parts<Rows extends Omit<WideRows, 'weights'>>(rows: Rows): Iterable<readonly [Rows, number]> {
    const most = Math.max(1, Math.floor(MOST_AT_ONCE / rows.frequenciesHz.length));
    for (let first = 0; first < rowCount(rows); first += most) {
      yield [rowsBetween(rows, first, Math.min(rowCount(rows), first + most)), first];
    }
  }

  let weightSum = 0;
  let visibilities = 0;
  const pass = async (rows: WideRows): Promise<void> => {
    checkWithin(plan.bounds, rows);
    for (const [part] of parts(rows)) {
      sortRows(await uploadRows(part));
      if (holdsAll) {
        gridSorted(0, w.planes);
      } else {
        clear(sums);
        for (let end = w.planes; end > 0; end -= planesHeld) {
          const first = Math.max(0, end - planesHeld);
          clearPlanes();
          gridSorted(first, end);
          toSums(end - first);
        }
        collect();
      }
      await settled();
    }
    for (const weight of rows.weights) {
      if (!(weight > 0)) continue;
      weightSum += weight;
      visibilities++;
    }
  };
  const collector = holdsAll ? undefined : collectRows(pass);

  return {
    plan,
    method: 'gridded',
    steps: {
      sort: sortRows,
      grid: gridSorted,
      clearPlanes,
      clearSums: () => {
        clear(sums);
      },
      transform: toSums,
    },
    accumulate: async (rows) => {
      checkRows(rows);
      await (collector ? collector.add(rows) : pass(rows));
    },
    finish: async () => {
      await collector?.flush();
      if (holdsAll || visibilities === 0) {
        clear(sums);
        if (holdsAll) toSums(w.planes);
        collect();
      }
      const values = new Float64Array(pixels * pixels);
      await downloadInto(session, image, values);
      clear(image);
      if (holdsAll) clearPlanes();
      const used = { weightSum, visibilities };
      weightSum = 0;
      visibilities = 0;
      if (used.weightSum > 0) for (let k = 0; k < values.length; k++) values[k] /= used.weightSum;
      return { image: planeML(values, pixels), ...used };
    },
    loadModel: async (model) => {
      modelImage = planeML(model.slice(), pixels);
      modelPlanes ??= allocate(`${planesHeld} planes of a model`, planesHeld * planeBytes);
      if (!holdsAll) return;
      await spread(modelImage);
      fromSums(modelPlanes, w.planes);
      await settled();
    },
    predict: async (geometry) => {
      if (!modelImage || !modelPlanes) refuse('image', 'no model was loaded');
      checkWithin(plan.bounds, geometry);
      const channels = geometry.frequenciesHz.length;
      const length = 2 * rowCount(geometry) * channels;
      const out = plan.precision === 'float32' ? new Float32Array(length) : new Float64Array(length);
      for (const [part, firstRow] of parts(geometry)) {
        const from = await uploadRows(part);
        const count = from.rows * channels;
        const values = memoryOf.values(complexBytes(plan) * count);
        session.call('cuMemsetD8Async', values.pointer, 0, complexBytes(plan) * count, stream.handle);
        if (!holdsAll) await spread(modelImage);
        for (let first = 0; first < w.planes; first += planesHeld) {
          const end = Math.min(w.planes, first + planesHeld);
          if (!holdsAll) fromSums(modelPlanes, end - first);
          writeShape(grid.degridRows.argument(0).view);
          writeRows(grid.degridRows.argument(1).view, from);
          grid.degridRows.set([null, null, taps.pointer, modelPlanes.pointer, first, end, values.pointer]);
          grid.degridRows.launch({ grid: [blocksFor(32 * count), 1], threads: THREADS }, stream);
        }
        const start = 2 * firstRow * channels;
        await downloadInto(session, values, out.subarray(start, start + 2 * count));
      }
      return visibilitiesRC(out, rowCount(geometry), channels);
    },
    close: () => closers.close(),
  };
}

function joined(a: Float64Array, b: Float64Array): Float64Array {
  const both = new Float64Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** turns : [k] = e^(−2πi k/length). */
const turnsOf = (length: number): Float64Array =>
  Float64Array.from({ length: 2 * length }, (_, n) => {
    const angle = (-2 * Math.PI * Math.floor(n / 2)) / length;
    return n % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
  });
