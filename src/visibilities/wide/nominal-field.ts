/** The default field of an image: what the dishes receive, reduced by the smearing of channels and integrations. */
import { angleText } from '../../draw/index.js';
import type { VisibilityHeader } from '../../formats/index.js';
import { EARTH_SPIN_RAD_PER_S, DEGREES_PER_RADIAN, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import type { Telescope } from '../../telescope/telescope.js';
import { stationPositions } from '../../stages/index.js';
import { longestWavelengths, PIXELS_A_BEAM, USUAL_PIXELS } from './settings.js';

/** 1 − sinc(x) is 5 % at x = 0.174 turns of phase across the band or the time. */
const TURNS_AT_5_PERCENT = 0.174;
/** Full width at half maximum of a dish's beam, in λ over its diameter. */
const FWHM = 1.2;

/** Whether its elements are dipoles, which receive the whole sky. */
export const seesWholeSky = ({ beamExponent, stations }: Telescope): boolean =>
  beamExponent > 0 && beamExponent < 4 && stations.every(({ diameterM }) => diameterM === undefined);

interface NominalField {
  readonly widthDeg: number;
  /** The field, and the reason for it. */
  readonly note: string;
}

/** The smallest of the dishes' field, the field with smearing of 5 %, and 1024 pixels of a quarter of the beam. */
export function nominalField(
  telescope: Telescope,
  {
    object,
    frequenciesHz,
    channelWidthHz,
  }: Pick<VisibilityHeader, 'object' | 'frequenciesHz' | 'channelWidthHz'>,
  integrationS: number,
): NominalField {
  const highestHz = frequenciesHz.reduce((a, b) => Math.max(a, b), 0);
  const longest = longestWavelengths(stationPositions(telescope), frequenciesHz);
  const diameters = telescope.stations.flatMap(({ diameterM }) => diameterM ?? []);
  const limits = [
    {
      width: USUAL_PIXELS / (PIXELS_A_BEAM * longest),
      why: `${USUAL_PIXELS} pixels of a quarter of the beam`,
    },
    {
      width: (2 * TURNS_AT_5_PERCENT * highestHz) / (channelWidthHz * longest),
      why: 'beyond it bandwidth smearing is above 5 %',
    },
    {
      width: (2 * TURNS_AT_5_PERCENT) / (integrationS * EARTH_SPIN_RAD_PER_S * longest),
      why: 'beyond it time smearing is above 5 %',
    },
    ...(diameters.length > 0
      ? [
          {
            width: (FWHM * SPEED_OF_LIGHT_M_PER_S) / highestHz / Math.max(...diameters),
            why: `the beam of a dish of ${Math.max(...diameters)} m`,
          },
        ]
      : []),
  ].filter(({ width }) => width > 0);
  const { width, why } = limits.reduce((least, one) => (one.width < least.width ? one : least));
  const widthDeg = Number(
    Math.min(180, 2 * Math.asin(Math.min(1, width / 2)) * DEGREES_PER_RADIAN).toPrecision(4),
  );
  return {
    widthDeg,
    note: `around ${object}, the file's phase centre; a field of ${angleText(widthDeg)}: ${why} (products.images.centre, products.images.field and products.images.cell choose)`,
  };
}
