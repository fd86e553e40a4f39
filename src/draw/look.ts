/** Appearance of a sky picture, where the user can choose: range and scale of brightness, colours, light or dark. */
import type { PlaneML } from '../core/axes.js';
import type { Colour } from './canvas.js';
import type { SkyPalette } from './palettes.js';
import type { Picture, Shape } from './shapes.js';
import { imageStretch, type Stretch } from './stretch.js';
import { ACCENT, FAINT, GROUND, INK, LINE, PAPER, QUIET, WARNING } from './style.js';

export const skyScales = { usual: 0.6, linear: 1, sqrt: 0.5 } as const;

export interface SkyLook {
  /** Brightness of the first and the last colour; an end not given has its default. */
  readonly range?: { readonly low?: number; readonly high?: number };
  readonly scale?: keyof typeof skyScales;
  readonly colours?: SkyPalette;
  /** Dark on white, for print. */
  readonly light?: boolean;
}

/** The range of the pixels if none is chosen. */
export function stretchOf(plane: PlaneML, { range, scale }: SkyLook, nominal?: Stretch): Stretch {
  const found = nominal ?? imageStretch(plane);
  const { low = found.low, high = found.high } = range ?? {};
  return {
    low,
    high: high > low ? high : low + Math.max(Math.abs(low), 1),
    exponent: scale === undefined ? found.exponent : skyScales[scale],
  };
}

const inLight = new Map<Colour, Colour>([
  [PAPER, 0xffffff],
  [GROUND, 0xeceef2],
  [INK, 0x14171f],
  [QUIET, 0x4d5666],
  [FAINT, 0xd4d9e2],
  [LINE, 0x5d7096],
  [ACCENT, 0x00607f],
  [WARNING, 0xb34700],
]);
/** Over an image that is dark where the sky is empty, the grid and markers stay light. */
const OVER_IMAGE: readonly Colour[] = [LINE, ACCENT];

export const lit = (colour: Colour): Colour => inLight.get(colour) ?? colour;

/** Light pictures have the colours of photographic plates by default. */
export const coloursOf = ({ colours, light }: SkyLook): SkyPalette =>
  colours ?? (light === true ? 'plate' : 'inferno');

/** The same picture dark on white; numbers keep their colours. */
export function lightPicture(picture: Picture, look: SkyLook): Picture {
  const isPlate = coloursOf(look) === 'plate';
  const inked = (colour: Colour): Colour => (!isPlate && OVER_IMAGE.includes(colour) ? colour : lit(colour));
  const drawn = (shape: Shape): Shape => {
    if (shape.kind === 'raster') return shape;
    if (shape.kind !== 'text' || shape.halo === undefined)
      return { ...shape, colour: shape.kind === 'text' ? lit(shape.colour) : inked(shape.colour) };
    return { ...shape, colour: lit(shape.colour), halo: lit(shape.halo) };
  };
  return { ...picture, paper: lit(picture.paper), shapes: picture.shapes.map(drawn) };
}
