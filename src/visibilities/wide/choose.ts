/** Default position and size of an image from visibilities. */
import { present } from '../../core/present.js';
import { DEGREES_PER_RADIAN, EARTH_SPIN_RAD_PER_S, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { angleText } from '../../draw/index.js';
import type { VisibilityFile, VisibilityHeader } from '../../formats/index.js';
import { MOST_PIXELS, planeNormal } from '../../image/index.js';
import type { Product } from '../../products/index.js';
import {
  chooseIntegration,
  frameAtMiddle,
  neededPixels,
  planSkyGeometry,
  stationPositions,
  type ImageSettings,
} from '../../stages/index.js';
import type { SkyFrame } from '../../sky/frame.js';
import { fixedCentre, localCentre, parsePhaseCentre, type PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import { longestWavelengths, PIXELS_A_BEAM, USUAL_PIXELS, type WideFieldOptions } from './settings.js';

export interface WideChoice {
  readonly centre: PhaseCentre;
  readonly field: WideFieldOptions;
  /** The choice, if it was not specified. */
  readonly note?: string;
}

/** A phase centre nearer than this is the zenith. */
const AT_ZENITH_DEG = 0.3;
const UP = { x: 0, y: 0, z: 1 } as const;

export async function chooseWide(
  product: Product<'images'>,
  file: VisibilityFile,
  telescope: Telescope,
): Promise<WideChoice> {
  const { pixels, field: widthDeg, cell: cellDeg } = product;
  const field = {
    ...(pixels === undefined ? {} : { pixels }),
    widthDeg,
    cellDeg,
  };
  if (product.centre !== undefined) return { centre: centreNamed(product.centre, telescope), field };
  const settings: ImageSettings = {
    pixels,
    kernelSize: 5,
    field: widthDeg === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg },
  };
  const { header } = file;
  const own = fixedCentre(header.object, header.phaseCentre);
  const { integration } = await chooseIntegration(file, 0);
  const frame = frameAtMiddle(telescope, integration);
  const isZenith = /^zenith$/i.test(header.object) || fromZenithDeg(frame, header) <= AT_ZENITH_DEG;
  if (widthDeg !== undefined && !isZenith) return { centre: own, field };
  const { frequenciesHz } = header;
  const needed = neededPixels(telescope, frame, frequenciesHz, settings);
  const isWhole = needed <= MOST_PIXELS && (isZenith || seesWholeSky(telescope));
  if (cellDeg !== undefined || (!isWhole && (pixels !== undefined || widthDeg !== undefined)))
    return { centre: isZenith ? localCentre('zenith', UP) : own, field };
  if (!isWhole) {
    const nominal = nominalField(telescope, header, integration.durationS);
    return { centre: own, field: { widthDeg: nominal.widthDeg }, note: nominal.note };
  }
  const plan = planSkyGeometry(telescope, frame, frequenciesHz, settings);
  return {
    centre: localCentre('zenith', UP),
    field: { pixels: plan.pixels, pixelCosine: plan.pixelSize },
    ...(isZenith ? {} : { note: wholeSkyNote(header.object) }),
  };
}

const wholeSkyNote = (object: string): string =>
  `the whole sky around the zenith, since the elements see all of it; products.images.centre: "${object}" with products.images.field: DEGREES images the file's own phase centre`;

/** `array` is the normal of the plane through the stations. */
const centreNamed = (text: string, telescope: Telescope): PhaseCentre =>
  /^array$/i.test(text.trim())
    ? localCentre('array', planeNormal(stationPositions(telescope)))
    : parsePhaseCentre(text, 'products.images.centre');

function fromZenithDeg(frame: SkyFrame, { phaseCentre }: Pick<VisibilityHeader, 'phaseCentre'>): number {
  const { x, y, z } = frame.directionEnu(phaseCentre);
  return Math.atan2(Math.hypot(x, y), z) * DEGREES_PER_RADIAN;
}

/** 1 − sinc(x) is 5 % at x = 0.174 turns of phase across the band or the time. */
const TURNS_AT_5_PERCENT = 0.174;
/** Full width at half maximum of a dish's beam, in λ over its diameter. */
const FWHM = 1.2;

/** Whether its elements are dipoles, which receive the whole sky. */
const seesWholeSky = ({ beamExponent, stations }: Telescope): boolean =>
  beamExponent > 0 && beamExponent < 4 && stations.every(({ diameterM }) => diameterM === undefined);

/** The field, and the reason for it: the smallest of the dishes' field, the field with smearing of 5 %, and 1024 pixels of a quarter of the beam. */
function nominalField(
  telescope: Telescope,
  {
    object,
    frequenciesHz,
    channelWidthHz,
  }: Pick<VisibilityHeader, 'object' | 'frequenciesHz' | 'channelWidthHz'>,
  integrationS: number,
) {
  const highestHz = frequenciesHz.reduce((a, b) => Math.max(a, b), 0);
  const longest = longestWavelengths(stationPositions(telescope), frequenciesHz);
  const diameters = telescope.stations.flatMap(({ diameterM }) => diameterM ?? []);
  const limits = present(
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
    diameters.length > 0 && {
      width: (FWHM * SPEED_OF_LIGHT_M_PER_S) / highestHz / Math.max(...diameters),
      why: `the beam of a dish of ${Math.max(...diameters)} m`,
    },
  ).filter(({ width }) => width > 0);
  const { width, why } = limits.reduce((least, one) => (one.width < least.width ? one : least));
  const widthDeg = Number(
    Math.min(180, 2 * Math.asin(Math.min(1, width / 2)) * DEGREES_PER_RADIAN).toPrecision(4),
  );
  return {
    widthDeg,
    note: `around ${object}, the file's phase centre; a field of ${angleText(widthDeg)}: ${why} (products.images.centre, products.images.field and products.images.cell choose)`,
  };
}
