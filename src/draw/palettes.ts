/** Colours for numbers and curves that remain distinct for colour-blind viewers and in grey. */
import {
  interpolateCividis,
  interpolateGreys,
  interpolateInferno,
  interpolateViridis,
} from 'd3-scale-chromatic';
import { channelsOf, type Colour } from './canvas.js';

/** Colours of a palette from its lowest number to its highest: [step][r, g, b]. */
const STEPS = 1024;

type Channels = readonly [number, number, number];

/** "#rrggbb" or "rgb(r, g, b)". */
function channelsIn(text: string): Channels {
  if (text.startsWith('#')) return channelsOf(Number.parseInt(text.slice(1), 16));
  const [red, green, blue] = Array.from(text.matchAll(/\d+/g), Number);
  return [red, green, blue];
}

/** For brightness, with rising lightness: from black through red to light yellow by default. */
const brightness = (fraction: number): Channels => channelsIn(interpolateInferno(fraction));
const viridis = (fraction: number): Channels => channelsIn(interpolateViridis(fraction));
const cividis = (fraction: number): Channels => channelsIn(interpolateCividis(fraction));
const grey = (fraction: number): Channels => channelsIn(interpolateGreys(1 - fraction));
/** Bright is dark, as on photographic plates. */
const plate = (fraction: number): Channels => channelsIn(interpolateGreys(fraction));

/**
 * For angles from −180° to 180°, the same colour at both ends. Lightness shows the distance from 0°, which is nearly
 * white; ±180° is nearly black; yellow and orange are above 0°, blue below. Blue and yellow are distinct in all colour
 * vision, and no colour is a medium grey, which means missing.
 */
function angle(fraction: number): readonly [number, number, number] {
  const turn = 2 * Math.PI * (fraction - 0.5);
  const lightness = 0.6 + 0.33 * Math.cos(turn);
  const colourfulness = 0.155 * Math.abs(Math.sin(turn)) ** 0.8;
  const hue = ((turn > 0 ? 62 : 262) * Math.PI) / 180;
  return fromOklab(lightness, colourfulness * Math.cos(hue), colourfulness * Math.sin(hue));
}

/** Oklab (Björn Ottosson, 2020) to 8-bit sRGB; colours outside sRGB are clipped to its edge. */
function fromOklab(lightness: number, a: number, b: number): readonly [number, number, number] {
  const [l, m, s] = [
    (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ];
  const encode = (linear: number): number => {
    const inside = Math.min(1, Math.max(0, linear));
    return Math.round(255 * (inside <= 0.0031308 ? 12.92 * inside : 1.055 * inside ** (1 / 2.4) - 0.055));
  };
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

const palettes = { brightness, angle, viridis, cividis, grey, plate } as const;
export type Palette = keyof typeof palettes;

/** Palettes for brightness, by the names that users choose. */
export const skyPalettes = ['inferno', 'viridis', 'cividis', 'grey', 'plate'] as const;
export type SkyPalette = (typeof skyPalettes)[number];
export const paletteNamed = (name: SkyPalette = 'inferno'): Palette =>
  name === 'inferno' ? 'brightness' : name;

const tables = new Map<Palette, Uint8Array>();

/** [step][r, g, b] from the lowest to the highest. */
export function paletteTable(palette: Palette): Uint8Array {
  const known = tables.get(palette);
  if (known) return known;
  const table = new Uint8Array(3 * STEPS);
  for (let step = 0; step < STEPS; step++) table.set(palettes[palette](step / (STEPS - 1)), 3 * step);
  tables.set(palette, table);
  return table;
}

/** Colour at a fraction 0…1 of a palette. */
export function paletteColour(palette: Palette, fraction: number): Colour {
  const table = paletteTable(palette);
  const at = 3 * Math.round(fraction * (STEPS - 1));
  return table[at] * 65_536 + table[at + 1] * 256 + table[at + 2];
}

/** For missing numbers: distinct from every colour of the palettes. */
export const NOTHING: Colour = 0x606874;

/** For curves and dots (Okabe and Ito's set, light end). */
export const seriesColours = [
  0x56b4e9, 0xe69f00, 0x009e73, 0xcc79a7, 0xf0e442, 0xd55e00,
] as const satisfies readonly Colour[];
export const seriesColour = (k: number): Colour => seriesColours[k % seriesColours.length];
