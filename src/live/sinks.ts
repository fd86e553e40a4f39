/** Who takes what a night makes. */
import type { Integration } from '../core/blocks.js';
import type { SkyImage, Emit } from '../stages/index.js';

export interface LiveSinks {
  readonly integration: Emit<Integration>;
  /** Sees integrations of files before gains are divided out. */
  readonly beforeGain?: (integration: Integration) => void;
  /** Its arrays are filled anew by the next. */
  readonly image: Emit<SkyImage>;
  /** Nothing was left to make an image of. */
  readonly noImage: (why: string) => void;
}
