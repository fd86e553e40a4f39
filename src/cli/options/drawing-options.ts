/** Options of inspect that draw pictures, and the kinds of files they apply to. */
import { refuse } from '../../core/errors.js';

export interface DrawingOptions {
  readonly spectrum?: string;
  readonly picture?: string;
  readonly baseline?: string;
  readonly uv?: string;
  readonly map?: string;
  readonly fringes?: string;
  readonly fringeOf?: string;
}

/** Refuses, before writing anything, drawings that a kind of file does not have. */
export function refuseDrawings(
  options: DrawingOptions,
  which: readonly (keyof DrawingOptions)[],
  what: string,
  fix: string,
): void {
  for (const option of which)
    if (options[option] !== undefined)
      refuse(`--${option === 'fringeOf' ? 'fringe-of' : option}`, `is not for ${what}`, fix);
}
