/** The gains an image is made with, and what they are good for. */
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import { readGainFile, type CrossHandLack, type GainsFile, type OpenedFile } from '../formats/index.js';
import {
  channelsWithoutGains,
  crossHandsKnown,
  fitsData,
  matchGains,
  type DataFacts,
  type Calibrated,
  type CalibratedAt,
  type CalibratedFully,
  type StokesPlanes,
} from '../stages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import type { CommonOptions } from './options/command.js';
import { openTerminal } from './report/terminal.js';

export interface GainsOptions extends CommonOptions {
  readonly gains?: string;
  readonly crossHand?: 'known';
}

export const parseKnown = (text: string): 'known' =>
  text === 'known'
    ? text
    : refuse(
        '--cross-hand',
        `'${text}' is not understood`,
        'write known, or find the phase with calibrate --cross-hand',
      );

/** For products: whether cross hands are to be left out. */
export const crossHandsOf = ({
  calibrated,
}: {
  readonly calibrated?: Calibrated;
}): { readonly crossHands?: CrossHandLack } =>
  calibrated && !crossHandsKnown(calibrated) ? { crossHands: calibrated.leakage ? 'open' : 'unknown' } : {};

/** Why an image has I alone. */
export const intensityAlone = (lack: CrossHandLack, feeds: 'linear' | 'circular' = 'linear'): string =>
  'plane I alone: Stokes Q, U and V are left out: ' +
  (lack === 'open'
    ? 'the model of the gains leaves a rotation of Q, U and V open (it takes three sources of different polarisation)'
    : `the phase between ${feeds === 'linear' ? 'X and Y' : 'R and L'} is unknown (calibrate --cross-hand), without which they are mixed`);

/** What of the Stokes parameters is not there, and why. */
export const stokesNotes = (
  stokes: StokesPlanes | undefined,
  { crossHands }: { readonly crossHands?: CrossHandLack },
  { polarisations }: Pick<Telescope, 'polarisations'>,
  feeds: 'linear' | 'circular' = 'linear',
): string[] => {
  const isLinearLeftOut = stokes?.linear !== undefined;
  if (polarisations === 1) return [];
  return crossHands === undefined
    ? isLinearLeftOut
      ? [...stokes.history]
      : []
    : [
        crossHands === 'open'
          ? 'plane I alone: the model of these gains leaves a rotation of Q, U and V open (it takes three sources of different polarisation)'
          : feeds === 'linear' && isLinearLeftOut
            ? 'plane I alone: these gains do not know the phase between X and Y (calibrate --cross-hand), without which Q, U and V are mixed'
            : feeds === 'linear'
              ? 'planes I and Q alone: these gains do not know the phase between X and Y (calibrate --cross-hand), without which U and V are mixed'
              : 'planes I and V alone: these gains do not know the phase between R and L (calibrate --cross-hand), without which Q and U are mixed',
      ];
};

/** The gains of one moment. */
export async function gainsFor(
  options: GainsOptions,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  moment: Instant,
  facts: DataFacts = {},
): Promise<{ calibrated?: CalibratedFully }> {
  if (options.gains === undefined) return {};
  const file = await fittingFile(options, options.gains, { telescope, frequenciesHz, ...facts });
  return { calibrated: matched(file, options, options.gains, telescope, frequenciesHz, moment) };
}

/** Gains of all times. */
export interface GainsOver {
  /** Where the file has several, those between them. */
  readonly calibrated?: Calibrated | CalibratedAt;
  /** Those of the first, with cross hands that are known at all of them. */
  readonly first?: Calibrated;
}

export async function gainsOver(
  options: GainsOptions,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  facts: DataFacts = {},
): Promise<GainsOver> {
  const path = options.gains;
  if (path === undefined) return {};
  const file = await fittingFile(options, path, { telescope, frequenciesHz, ...facts });
  const first = matched(file, options, path, telescope, frequenciesHz, file.time);
  if (!file.later) return { calibrated: first, first };
  const known = options.crossHand === 'known';
  const at = (moment: Instant): CalibratedFully => {
    const calibrated = matchGains(file, path, telescope, frequenciesHz, moment);
    if (known) calibrated.crossHands.fill(1);
    return calibrated;
  };
  for (const { time } of file.later)
    at(time).crossHands.forEach((isKnown, c) => (first.crossHands[c] &= isKnown));
  return { calibrated: at, first };
}

/** Read, and what about it is not of these data said or refused. */
async function fittingFile(
  options: GainsOptions,
  path: string,
  data: Parameters<typeof fitsData>[2],
): Promise<GainsFile> {
  const file = await readGainFile(path);
  for (const line of fitsData(file, path, data)) openTerminal(options).say(line);
  return file;
}

function matched(
  file: GainsFile,
  options: GainsOptions,
  path: string,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  moment: Instant,
): CalibratedFully {
  const calibrated = matchGains(file, path, telescope, frequenciesHz, moment);
  const without = channelsWithoutGains(calibrated, frequenciesHz.length).length;
  if (without > 0)
    openTerminal(options).say(
      `${path}: ${without} of ${frequenciesHz.length} channels have no gains and are left out`,
    );
  if (options.crossHand === 'known') calibrated.crossHands.fill(1);
  return calibrated;
}

/** What gains must be for. */
export const dataFacts = (file: OpenedFile, dividedBy: { readonly name: string } | undefined): DataFacts => ({
  ...(file.kind === 'visibilities' && file.header.units !== undefined && { units: file.header.units }),
  ...(dividedBy && { dividedBy: dividedBy.name }),
});

/** Gains bring janskys; a file that is in Jy already stays so. Anything else is counts. */
export const imageUnit = (file: OpenedFile, { gains }: Pick<GainsOptions, 'gains'>): 'Jy/beam' | 'counts' =>
  gains !== undefined || (file.kind === 'visibilities' && file.header.units === 'Jy') ? 'Jy/beam' : 'counts';
