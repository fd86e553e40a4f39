import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planeML } from '../../core/axes.js';
import { sidelobesOf } from './beam.js';

describe('sidelobes', () => {
  const PIXELS = 32;
  const beamOf = (value: (x: number, y: number) => number) =>
    planeML(
      Float64Array.from({ length: PIXELS ** 2 }, (_, at) =>
        value((at % PIXELS) - PIXELS / 2, Math.floor(at / PIXELS) - PIXELS / 2),
      ),
      PIXELS,
    );
  const lobe = (x: number, y: number, width: number): number => Math.exp(-(x * x + y * y) / (2 * width ** 2));

  it('are the extremes outside the main lobe', () => {
    const found = sidelobesOf(
      PIXELS,
      beamOf((x, y) => lobe(x, y, 2) + 0.4 * lobe(x - 9, y + 3, 1.5) - 0.25 * lobe(x + 8, y, 1.5)),
    );
    assert.ok(found && Math.abs(found.highest - 0.4) < 1e-3 && Math.abs(found.lowest + 0.25) < 1e-3, JSON.stringify(found)); // prettier-ignore
  });

  it('have no level where the main lobe fills the image, or where there is no beam', () => {
    assert.equal(sidelobesOf(PIXELS, beamOf((x, y) => lobe(x, y, 20))), undefined); // prettier-ignore
    assert.equal(
      sidelobesOf(
        PIXELS,
        beamOf(() => NaN),
      ),
      undefined,
    );
  });
});
