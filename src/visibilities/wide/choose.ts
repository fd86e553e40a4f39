/** Default position and size of an image from visibilities. */
import { DEGREES_PER_RADIAN } from '../../core/units.js';
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
import type { WideFieldOptions } from './settings.js';
import { seesWholeSky, nominalField } from './nominal-field.js';

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
