/** --phase-centre: where a file's fringes are stopped. */
import type { Command } from 'commander';
import { parsePhaseCentre, type PhaseCentre } from '../../sky/phase-centre.js';

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
