/** Wide images on a backend; reference.ts has the formula, plan.ts the gridding. */
import type { PlaneML, VisibilitiesRC } from '../../core/axes.js';
import type { WidePlan } from './plan.js';
import type { WideGeometry, WideRows } from './rows.js';

export interface WideImage {
  /**
   * image : [m][l], NaN below the horizon; divided by the sum of weights, so that a single source of flux I peaks at I.
   */
  readonly image: PlaneML;
  /** Of the visibilities that were used. */
  readonly weightSum: number;
  readonly visibilities: number;
}

/** `summed`: every pixel over every visibility by the formula, exact; `gridded`: to the plan's accuracy. */
export type WideMethod = 'summed' | 'gridded';

export interface WideImager {
  readonly plan: WidePlan;
  readonly method: WideMethod;
  /** Adds a block of rows, any number of times; the arrays may be reused when it has settled. */
  accumulate(rows: WideRows): Promise<void>;
  /** The image of everything accumulated; the next one starts empty. */
  finish(): Promise<WideImage>;
  /** Loads an image of fluxes, whose visibilities `predict` then returns. */
  loadModel(image: PlaneML): Promise<void>;
  /** V = Σ_pixels model · e^(+2πi (u l + v m + w (n − 1))), the adjoint of the sum that an image is. */
  predict(geometry: WideGeometry): Promise<VisibilitiesRC>;
  close(): Promise<void>;
}
