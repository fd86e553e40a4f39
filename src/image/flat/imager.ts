/**
 * The flat method of images from visibilities on a backend (live/method.ts chooses it); direct/gridded.ts has the
 * formula.
 */
import type { Integration } from '../../core/blocks.js';
import type { Closable } from '../../core/closing.js';
import type { VisibilityImage, VisibilityImageOptions } from '../direct/gridded.js';
import type { ImagePlan } from '../plan.js';

export interface VisibilityImager extends Closable {
  readonly plan: ImagePlan;
  /**
   * Equals imageVisibilities(plan, integrations, options), to 1e-9 of the largest value: new arrays, unless some are
   * given to be filled.
   */
  image(
    integrations: readonly Integration[],
    options?: VisibilityImageOptions,
    into?: VisibilityImage,
  ): Promise<VisibilityImage>;
}
