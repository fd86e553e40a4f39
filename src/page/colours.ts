/** Colours for colour-blind readers too: inferno for brightness, blue to orange for deviations, a cycle for phases. */
import { interpolateInferno } from 'd3-scale-chromatic';

type Rgb = readonly [number, number, number];

const parse = (hex: string): Rgb => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};
const STEPS = 256;
const table = (at: (fraction: number) => Rgb): Uint8Array<ArrayBuffer> => {
  const rgba = new Uint8Array(4 * STEPS);
  for (let k = 0; k < STEPS; k++) rgba.set([...at(k / (STEPS - 1)), 255], 4 * k);
  return rgba;
};

const mix = (x: Rgb, y: Rgb, share: number): Rgb => [
  x[0] + (y[0] - x[0]) * share,
  x[1] + (y[1] - x[1]) * share,
  x[2] + (y[2] - x[2]) * share,
];

const [LOW, MIDDLE, HIGH]: readonly Rgb[] = [
  [35, 120, 200],
  [236, 236, 232],
  [222, 120, 0],
];
/** Phases: light at 0°, dark at 180°, yellow above and blue below. */
const turned = (fraction: number): Rgb => {
  const turn = 2 * Math.PI * (fraction - 0.5);
  const light = 0.5 + 0.5 * Math.cos(turn);
  const hue: Rgb = turn > 0 ? [230, 159, 0] : [60, 130, 220];
  const grey: Rgb = [30 + 220 * light, 30 + 220 * light, 38 + 214 * light];
  return mix(grey, hue, Math.abs(Math.sin(turn)) ** 0.8 * 0.85);
};

export const tables = {
  brightness: table((fraction) => parse(interpolateInferno(fraction))),
  off: table((fraction) =>
    fraction < 0.5 ? mix(LOW, MIDDLE, 2 * fraction) : mix(MIDDLE, HIGH, 2 * fraction - 1),
  ),
  phase: table(turned),
} as const;
export type Palette = keyof typeof tables;

export const cssAt = (palette: Palette, fraction: number): string => {
  const at = 4 * Math.round(Math.min(1, Math.max(0, fraction)) * (STEPS - 1));
  const [r, g, b] = tables[palette].subarray(at, at + 3);
  return `rgb(${r} ${g} ${b})`;
};

/** Okabe and Ito's palette, by theme: the light end on dark, the dark end on light. */
const series = {
  dark: ['#56b4e9', '#e69f00', '#3dc39a', '#cc79a7', '#f0e442', '#ff8a4a'],
  light: ['#0072b2', '#b36b00', '#00795a', '#a64d83', '#7d7500', '#c04a00'],
} as const;
export const isDark = (): boolean => document.documentElement.dataset.theme !== 'light';
export const seriesColour = (k: number): string => series[isDark() ? 'dark' : 'light'][k % 6];
export const variable = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();
