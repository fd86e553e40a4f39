/** Options of inspect that draw, and which files they are for. */
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

/** Refuses, before anything is written, what a kind of file has nothing for. */
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
