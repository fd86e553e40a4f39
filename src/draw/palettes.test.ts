import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { channelsOf, type Colour } from './canvas.js';
import { NOTHING, paletteColour, seriesColours } from './palettes.js';

type Rgb = readonly [number, number, number];
const linear = (colour: Colour): Rgb => {
  const [r, g, b] = channelsOf(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return [r, g, b];
};
const times = (matrix: readonly Rgb[], [r, g, b]: Rgb): Rgb => {
  const [x, y, z] = matrix.map((row) => row[0] * r + row[1] * g + row[2] * b);
  return [x, y, z];
};
/** Colours as seen without the red or the green cone (Viénot, Brettel and Mollon, 1999), in linear light. */
const eyes = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  withoutRed: [
    [0.11238, 0.88762, 0],
    [0.11238, 0.88762, 0],
    [0.00401, -0.00401, 1],
  ],
  withoutGreen: [
    [0.29275, 0.70725, 0],
    [0.29275, 0.70725, 0],
    [-0.02234, 0.02234, 1],
  ],
} as const satisfies Record<string, readonly Rgb[]>;

/** CIE 1976 L*, a*, b* of linear light. */
function lab(light: Rgb): Rgb {
  const [x, y, z] = times(
    [
      [0.4124, 0.3576, 0.1805],
      [0.2126, 0.7152, 0.0722],
      [0.0193, 0.1192, 0.9505],
    ],
    light,
  );
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [fx, fy, fz] = [f(x / 0.9505), f(y), f(z / 1.089)];
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}
/** Difference of two colours; about 2 is just noticeable. */
const difference = (a: Colour, b: Colour, seen: keyof typeof eyes): number => {
  const [p, q] = [a, b].map((colour) => lab(times(eyes[seen], linear(colour))));
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
};
const lightness = (colour: Colour): number => lab(linear(colour))[0];
const kinds = ['all', 'withoutRed', 'withoutGreen'] as const;

describe('palettes', () => {
  it('of brightness grow ever lighter', () => {
    for (let k = 1; k <= 32; k++)
      assert.ok(
        lightness(paletteColour('brightness', k / 32)) > lightness(paletteColour('brightness', (k - 1) / 32)),
      );
  });
  const angleColour = (degrees: number): Colour => paletteColour('angle', (degrees + 180) / 360);
  it('of angles go round, lightest at 0°', () => {
    assert.equal(angleColour(-180), angleColour(180));
    for (let degrees = 10; degrees <= 180; degrees += 10)
      for (const sign of [-1, 1])
        assert.ok(lightness(angleColour(sign * degrees)) < lightness(angleColour(sign * (degrees - 10))));
  });
  it('of angles keep those 30° apart, and opposite signs, different to all eyes', () => {
    for (const seen of kinds) {
      for (let degrees = -180; degrees < 180; degrees += 5) {
        const apart = degrees + 30 > 180 ? degrees + 30 - 360 : degrees + 30;
        const off = difference(angleColour(degrees), angleColour(apart), seen);
        assert.ok(off > 6, `${seen}, ${degrees}°: ${off}`);
      }
      for (const degrees of [30, 60, 90, 120, 150])
        assert.ok(
          difference(angleColour(degrees), angleColour(-degrees), seen) > 15,
          `${seen}, ±${degrees}°`,
        );
    }
  });
  it('have no colour like that of nothing', () => {
    for (const palette of ['brightness', 'angle'] as const)
      for (let k = 0; k <= 64; k++)
        assert.ok(difference(paletteColour(palette, k / 64), NOTHING, 'all') > 12, `${palette} at ${k}/64`);
  });
  it('of curves are different to all eyes, the first four of any plot by far', () => {
    for (const seen of kinds)
      for (let k = 0; k < 4; k++)
        for (let other = k + 1; other < 4; other++)
          assert.ok(difference(seriesColours[k], seriesColours[other], seen) > 10, `${seen}: ${k}, ${other}`);
  });
});
