/** Whoever looks on while a night runs: sees the data as they come, and must not keep them waiting. */
import type { Integration } from '../core/blocks.js';
import type { Source } from '../core/sources.js';
import type { SeenBeams } from '../products/index.js';
import type { SkyImage } from '../stages/index.js';
import type { LiveSettings } from './chain.js';

export interface NightWatcher {
  session(source: Source, live: LiveSettings): void;
  /** Its arrays are the watcher's to keep. The night waits for the promise. */
  integration(integration: Integration): Promise<void> | void;
  /** Its arrays are filled anew by the next: take what is needed at once. */
  image(sky: SkyImage): void;
  /** Of the product with this number; its arrays are filled anew by the next. */
  beams?(product: number, seen: SeenBeams): void;
}
