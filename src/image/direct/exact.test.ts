import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { instant } from '../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { exactBrightness, type ExactOptions } from './exact.testing.js';

/**
 * Two stations a metre apart east-west, at a wavelength of four: a source on the eastern horizon has a phase of a
 * quarter turn.
 */
const options: ExactOptions = {
  stationsM: [
    { x: 0, y: 0, z: 0 },
    { x: 1, y: 0, z: 0 },
  ],
  frequencyHz: SPEED_OF_LIGHT_M_PER_S / 4,
  channel: 1,
  product: 0,
  autos: 'leave-out',
};
const [zenith, east, west] = [
  { x: 0, y: 0, z: 1 },
  { x: 1, y: 0, z: 0 },
  { x: -1, y: 0, z: 0 },
];

/** Channel 0 is garbage; in channel 1, of ten samples, V₁₀ is XX 30i, XY 1 + 2i, YX 3 + 4i, YY 5; autos are 70. */
function integration(flags: readonly number[] = [0, 0, 0, 0]): Integration {
  const channel = [70, 0, 0, 0, 0, 0, 70, 0, 0, 30, 1, 2, 3, 4, 5, 0, 70, 0, 0, 0, 0, 0, 70, 0];
  const values = Float64Array.from([...channel.map(() => 999), ...channel]);
  return {
    start: instant(0),
    durationS: 1,
    channels: 2,
    stations: 2,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, 2, 3, 2),
    counts: countsCB(Float64Array.of(7, 7, 7, 10, 10, 10), 2, 3),
    flaggedInputs: Uint8Array.from(flags),
  };
}
const near = (found: number, wanted: number): void => {
  assert.ok(Math.abs(found - wanted) < 1e-12, `${found}, not ${wanted}`);
};

describe('exact brightness', () => {
  it('sums both orders of a pair, turned back by the way between them', () => {
    // 30i·e^(−iπ/2) = 30 for either order, over 2 · 10 samples; from the west −30; from above 30i and −30i cancel.
    near(exactBrightness(integration(), east, options), 3);
    near(exactBrightness(integration(), west, options), -3);
    near(exactBrightness(integration(), zenith, options), 0);
    near(exactBrightness(integration(), zenith, { ...options, product: 1 }), 0.5);
  });

  it('keeps X·conj(Y) in order: XY of (1, 0) and the conjugate of YX for (0, 1)', () => {
    // 1 + 2i and conj(3 + 4i): 4 − 2i over 20 samples.
    near(exactBrightness(integration(), zenith, { ...options, product: 2 }), 0.2);
    near(exactBrightness(integration(), zenith, { ...options, product: 3 }), -0.1);
  });

  it('has autocorrelations when asked, and no flagged input', () => {
    // 0 + 2 · 70 over 40 samples.
    near(exactBrightness(integration(), zenith, { ...options, autos: 'include' }), 3.5);
    // X of station 0 is out: of XX only the auto of station 1 is left, of XY only X₁ with Y₀.
    const flagged = integration([1, 0, 0, 0]);
    near(exactBrightness(flagged, zenith, { ...options, autos: 'include' }), 7);
    near(exactBrightness(flagged, zenith, { ...options, product: 2 }), 0.1);
  });
});
