/** The last step of an image, on the card: sums become pixels, so that only what will be looked at goes down the bus. */
import type { CudaBackend } from '../../backend/cuda/cuda.js';
import type { DevicePointer } from '../../backend/cuda/session.js';
import { uploadArray } from '../../backend/cuda/transfer.js';
import type { Closable } from '../../core/closing.js';
import { planFinish } from './plan.js';
import { shownCorrection } from '../direct/direct.js';
import type { ImagePlan } from '../plan.js';

interface DeviceSums {
  /** sums : [c][product][m][l] float64, in the transform's order. */
  readonly sums: DevicePointer;
  /** weights : [c][product] float64, what each plane is divided by; Im XY takes Re XY's. */
  readonly weights: DevicePointer;
  /** to : [c][product][m][l] float32 (or float64 where the scaler was prepared for it), centred; NaN where nothing is shown or nothing was added. */
  readonly to: DevicePointer;
}

export interface PairSums {
  /** factors : [c][a] complex float32; 0 where an input takes no part. */
  readonly factors: DevicePointer;
  /** Samples that every pair had. */
  readonly gaplessSamples: number;
  /** Samples on top of those where some were missing; rows : [run][b] float64, runOf : [c] int32. */
  readonly counts?: { readonly rows: DevicePointer; readonly runOf: DevicePointer };
  /** to : [c][product] float64, what a source of flux 1 puts into the sums. */
  readonly to: DevicePointer;
}

export interface ImageScaler extends Closable {
  /** All on the compute stream; nothing waits, nothing is allocated. */
  scale(from: DeviceSums): void;
  pairSums(from: PairSums): void;
}

const THREADS = 256;
const PIXELS_PER_THREAD = 8;

export async function prepareImageScaler(plan: ImagePlan, backend: CudaBackend): Promise<ImageScaler> {
  const { session, shop } = backend;
  const { pixels, channels, products, stations, polarisations } = plan;
  const { scaleSums, pairSums } = await shop.prepare(planFinish());
  const correction = await uploadArray(session, 'the taper', shownCorrection(plan));
  const stream = session.streams.compute;
  const blocks = channels * products * Math.ceil(pixels ** 2 / (PIXELS_PER_THREAD * THREADS));
  return {
    scale: ({ sums, weights, to }) => {
      scaleSums.set([sums, weights, correction.pointer, pixels, products, to]);
      scaleSums.launch({ grid: [blocks, 1], threads: THREADS }, stream);
    },
    pairSums: ({ factors, gaplessSamples, counts, to }) => {
      const { rows = 0n, runOf = 0n } = counts ?? {};
      pairSums.set([factors, rows, runOf, gaplessSamples, stations, polarisations, to]);
      pairSums.launch({ grid: [channels, products], threads: THREADS }, stream);
    },
    close: () => correction.close(),
  };
}
