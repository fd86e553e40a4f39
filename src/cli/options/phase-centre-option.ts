/** --phase-centre: where a file's fringes are stopped. */
import type { Command } from 'commander';
import type { Instant } from '../../core/instant.js';
import type { VisibilityHeader } from '../../formats/index.js';
import { skyFrame } from '../../sky/frame.js';
import { parsePhaseCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import type { Site } from '../../telescope/telescope.js';

export interface PhaseCentreOptions {
  readonly phaseCentre?: string;
}

export const addPhaseCentreOption = (command: Command, otherwise: string): Command =>
  command.option(
    '--phase-centre <place>',
    `where fringes are stopped in the file: a source, "RA Dec", Sun, or zenith (default: ${otherwise})`,
  );

export const parseCentre = ({ phaseCentre }: PhaseCentreOptions): PhaseCentre | undefined =>
  phaseCentre === undefined ? undefined : parsePhaseCentre(phaseCentre, '--phase-centre');

/** One place for a whole file: what moves is where it stood in the middle. */
export const centreOf = (
  centre: PhaseCentre,
  site: Site,
  middle: Instant,
): Pick<VisibilityHeader, 'phaseCentre' | 'object'> => ({
  phaseCentre: centre.position(skyFrame(site, middle)),
  object: centre.name,
});
