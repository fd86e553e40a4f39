/** The pixels that pictures are painted on. */

/** rgb : [y][x][red, green, blue], row 0 on top. */
export interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** 0xrrggbb. */
export type Colour = number;

export const channelsOf = (colour: Colour): readonly [red: number, green: number, blue: number] => [
  (colour >> 16) & 255,
  (colour >> 8) & 255,
  colour & 255,
];

export function makeCanvas(width: number, height: number, paper: Colour): Canvas {
  const rgb = new Uint8Array(3 * width * height);
  rgb.set(channelsOf(paper));
  // Each copy doubles the filled part.
  for (let filled = 3; filled < rgb.length; filled *= 2) rgb.copyWithin(filled, 0, filled);
  return { width, height, rgb };
}
