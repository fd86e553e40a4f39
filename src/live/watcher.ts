/** Observers of a run: they see the data as they arrive and must not delay them. */
import type { Integration } from '../core/blocks.js';
import type { Source } from '../core/sources.js';
import type { SeenBeams } from '../products/index.js';
import type { SkyImage } from '../stages/index.js';
import type { LiveSettings } from './chain.js';

export interface LiveWatcher {
  session(source: Source, live: LiveSettings): void;
  /** Its arrays belong to the observer. The run waits for the promise. */
  integration(integration: Integration): Promise<void> | void;
  /** Its arrays are reused for the next image: copy what is needed at once. */
  image(sky: SkyImage): void;
  /** For the product with this number; its arrays are reused for the next. */
  beams?(product: number, seen: SeenBeams): void;
}
