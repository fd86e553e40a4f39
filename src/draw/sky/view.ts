/** Position and orientation of the sky on a picture: north up, east to the left. */
import { RADIANS_PER_DEGREE } from '../../core/units.js';
import { skyReach, type ImagePlan } from '../../image/index.js';
import type { Box, Point } from '../cut.js';

/** The parts of an image's plan that locate its pixels on the sky. */
export type SkyPlan = Pick<ImagePlan, 'pixels' | 'pixelSize' | 'field' | 'axes'>;

/** In direction cosines: l east, m north. */
export interface Place {
  readonly l: number;
  readonly m: number;
}

export const WIDTH = 900;
export const HEIGHT = 1048;
export const MARGIN = 45;
/** Below the title, above the colour bar. */
const TOP = 112;
const SIZE = 810;
/** A field has its labels outside. */
const FIELD = { left: 95, top: TOP + 22, size: 725 } as const;
export const BAR = { left: 190, top: 962, width: 520, height: 14 } as const;

/** The whole sky has a rim for the letters of the compass. */
const RIM = 1.07;

export interface SkyView {
  readonly kind: 'all-sky' | 'field';
  readonly box: Box;
  readonly centre: Point;
  /** Half width of the square shown, in direction cosines. */
  readonly halfWidth: number;
  /** Picture units per direction cosine of 1: the horizon's radius for an image centred on the zenith. */
  readonly scale: number;
  /** From direction cosines; l increases eastwards, to the left. */
  readonly place: (place: Place) => Point;
  /** For a picture of the whole sky: the extent of the sky from the centre towards a point, in the picture's units. */
  readonly reach: (x: number, y: number) => number;
  /** Whether a point of the picture is sky. */
  readonly isSky: (x: number, y: number) => boolean;
}

export function skyView({ field, axes }: Pick<SkyPlan, 'field' | 'axes'>): SkyView {
  const isField = field.kind === 'field';
  const { left, top, size } = isField ? FIELD : { left: MARGIN, top: TOP, size: SIZE };
  const halfWidth = isField ? Math.sin((field.widthDeg / 2) * RADIANS_PER_DEGREE) : RIM;
  const centre = { x: left + size / 2, y: top + size / 2 };
  const scale = size / 2 / halfWidth;
  const reach = (x: number, y: number): number => scale * skyReach(axes, centre.x - x, centre.y - y);
  return {
    kind: field.kind,
    box: { left, top, right: left + size, bottom: top + size },
    centre,
    halfWidth,
    scale,
    place: ({ l, m }) => ({ x: centre.x - l * scale, y: centre.y - m * scale }),
    reach,
    isSky: (x, y) =>
      isField
        ? Math.max(Math.abs(x - centre.x), Math.abs(y - centre.y)) < size / 2
        : Math.hypot(x - centre.x, y - centre.y) < reach(x, y),
  };
}
