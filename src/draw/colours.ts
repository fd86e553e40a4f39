/** Colour maps as bytes. */

export const COLOUR_STEPS = 1024;

/** [step][r, g, b] of a map from 0…1 to "#rrggbb" or "rgb(r, g, b)". */
export function colourTable(colourAt: (fraction: number) => string, steps = COLOUR_STEPS): Uint8Array {
  const table = new Uint8Array(3 * steps);
  for (let step = 0; step < steps; step++) {
    const text = colourAt(step / (steps - 1));
    const hex = /^#(..)(..)(..)$/.exec(text);
    const parts = hex
      ? hex.slice(1).map((part) => Number.parseInt(part, 16))
      : (text.match(/\d+/g) ?? []).map(Number);
    table.set(parts.slice(0, 3), 3 * step);
  }
  return table;
}
