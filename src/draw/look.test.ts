import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planeML } from '../core/axes.js';
import { lightPicture, stretchOf } from './look.js';
import { paletteNamed, paletteTable, skyPalettes } from './palettes.js';
import type { Picture } from './shapes.js';
import { ACCENT, INK, PAPER } from './style.js';

const plane = planeML(
  Float64Array.from({ length: 64 }, (_, n) => n),
  8,
);

describe('the look of a picture', () => {
  it('takes the ends of its range that are given, and finds the others', () => {
    const nominal = stretchOf(plane, {});
    assert.deepEqual(stretchOf(plane, { range: { low: -5, high: 10 } }), {
      low: -5,
      high: 10,
      exponent: 0.6,
    });
    assert.deepEqual(stretchOf(plane, { range: { high: 10 } }), { ...nominal, high: 10 });
    assert.equal(stretchOf(plane, { scale: 'linear' }).exponent, 1);
    assert.equal(stretchOf(plane, { scale: 'sqrt' }).exponent, 0.5);
    // A given end beyond the pixels results in one colour, without division by zero.
    const { low, high } = stretchOf(plane, { range: { low: 1000 } });
    assert.ok(low === 1000 && high > low);
  });

  it('has palettes from dark to light, and one from light to dark', () => {
    for (const name of skyPalettes) {
      const table = paletteTable(paletteNamed(name));
      const sum = (step: number): number => table[3 * step] + table[3 * step + 1] + table[3 * step + 2];
      const [first, last] = [sum(0), sum(table.length / 3 - 1)];
      assert.equal(last > first, name !== 'plate', name);
    }
  });

  it('is dark on white in light', () => {
    const picture: Picture = {
      width: 10,
      height: 10,
      paper: PAPER,
      shapes: [INK, ACCENT, 0x123456].map((colour) => ({ kind: 'line', points: [], width: 1, colour })),
    };
    const lit = lightPicture(picture, { light: true });
    assert.equal(lit.paper, 0xffffff);
    const coloursIn = ({ shapes }: Picture) =>
      shapes.map((one) => ('colour' in one ? one.colour : undefined));
    const [ink, accent, other] = coloursIn(lit);
    assert.ok(ink !== INK && accent !== ACCENT);
    assert.equal(other, 0x123456);
    // Marks over a dark image stay light.
    assert.equal(coloursIn(lightPicture(picture, { light: true, colours: 'viridis' }))[1], ACCENT);
  });
});
