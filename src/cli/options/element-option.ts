/** --element and --beam-corrected: how stations hear the sky, and whether an image is to be rid of it. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import { elementBeam } from '../../stages/index.js';
import { beamWords } from '../../sky/beams/registry.js';
import type { ElementBeam } from '../../sky/beams/element-beam.js';
import type { Telescope } from '../../telescope/telescope.js';

export interface ElementOptions {
  readonly element?: string;
  readonly beamCorrected?: true;
  /** Of a file of several (open-options.ts). */
  readonly target?: string;
}

export const addElementOption = (command: Command): Command =>
  command.option(
    '--element <beam>',
    `how a station hears the sky: ${beamWords()}; STATION=BEAM,*=BEAM where stations differ (default: what the telescope's description says)`,
  );

export const addBeamCorrectedOption = (command: Command): Command =>
  command.option(
    '--beam-corrected',
    "the sky's own brightness: divided by the element's beam (--element), X and Y apart (default: apparent)",
  );

/** The one that was asked for, else the telescope's own; nothing where neither says. */
export const elementOf = (
  { element }: ElementOptions,
  telescope: Telescope,
): Promise<ElementBeam | undefined> => elementBeam(element, telescope);

/** Dishes follow one place: of several targets each was looked at in its turn. */
function refuseSeveral(beam: ElementBeam | undefined, { target }: ElementOptions): ElementBeam | undefined {
  const follows = (beam?.perStation ?? (beam ? [beam] : [])).some(({ pointing }) => pointing === 'followed');
  if (follows && target?.trim().toLowerCase() === 'all')
    refuse(
      '--target',
      `all, and ${beam?.name ?? ''} points at the target: one beam would stand for all of them`,
      'take one target at a time',
    );
  return beam;
}

/** The beam to divide by, where that is asked for. */
export async function correctionOf(
  options: ElementOptions,
  telescope: Telescope,
): Promise<ElementBeam | undefined> {
  if (options.beamCorrected !== true) {
    if (options.element !== undefined)
      refuse('--element', 'is for --beam-corrected images', 'add --beam-corrected, or leave it out');
    return undefined;
  }
  return (
    refuseSeveral(await elementOf(options, telescope), options) ??
    refuse(
      '--beam-corrected',
      'nothing is known of the beam of its stations',
      `say it with --element: ${beamWords()}`,
    )
  );
}
