/** --polarisation: a gain for each input, or a matrix for each station. */
import type { Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { OverBand } from '../../stages/index.js';
import type { CrossHandChoice } from './cross-hand-option.js';

export type Polarisation = 'each' | 'full';

export const addPolarisationOption = (command: Command): Command =>
  command.option(
    '--polarisation <which>',
    'each: a gain for each input, X and Y apart. full: a matrix of 2 × 2 for each station, leakage between X and Y too, by ' +
      'all four products; its polarisation is known where the model has three sources of different polarisation (--polarise)',
    parsePolarisation,
    'each',
  );

function parsePolarisation(text: string): Polarisation {
  return text === 'each' || text === 'full'
    ? text
    : refuse('--polarisation', `'${text}' is not understood`, 'choose each or full');
}

interface Asked {
  readonly polarisation: Polarisation;
  readonly crossHand?: CrossHandChoice;
  readonly over: OverBand;
}

/** What a solve of full polarisation cannot be asked for besides, or of these data. */
export function checkFull(
  { polarisation, crossHand, over }: Asked,
  header: { readonly polarisations: 1 | 2; readonly feeds?: 'linear' | 'circular' },
): void {
  if (polarisation === 'each') return;
  const where = '--polarisation full';
  if (header.polarisations === 1)
    refuse(where, 'these data have one polarisation', 'leave --polarisation out');
  if (header.feeds === 'circular')
    refuse(
      where,
      'these data are of circular feeds, and the model is of X and Y',
      'leave --polarisation out',
    );
  if (over !== 'channel')
    refuse(where, `solves each channel by itself, not --over ${over}`, 'leave --over out');
  if (crossHand && crossHand.kind !== 'model')
    refuse(
      where,
      'finds the phase between X and Y with everything else, by the model alone',
      'leave --cross-hand out, and say how its sources are polarised with --polarise',
    );
}
