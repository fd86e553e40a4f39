import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uvwR, weightsRC } from '../../core/axes.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { prepareWeights, type WideWeighting } from './weights.js';

/** One metre is a wavelength, or 1.5 in the second channel; cells of 1/(100·0.01) = 1 wavelength. */
const frequenciesHz = Float64Array.of(SPEED_OF_LIGHT_M_PER_S, 1.5 * SPEED_OF_LIGHT_M_PER_S);
const plan = { pixels: 100, pixelCosine: 0.01 };
const rowsOf = (uv: readonly (readonly [number, number])[], weights: readonly number[]) => ({
  uvwM: uvwR(Float64Array.from(uv.flatMap(([u, v]) => [u, v, 5])), uv.length),
  frequenciesHz,
  weights: weightsRC(Float32Array.from(weights), uv.length, 2),
});

/** Cells: (2, 4) and (3, 6) for the first row; the second, folded, is in (2, 4) and (3, 6) too; the third is alone. */
const rows = rowsOf(
  [
    [2.2, 4.1],
    [-2.3, -4.4],
    [-7.5, 0.5],
  ],
  [1, 2, 3, 4, 5, 0],
);

function weightsFor(weighting: WideWeighting, ...blocks: readonly (typeof rows)[]): number[] {
  const weigher = prepareWeights(plan, weighting);
  for (const block of blocks) weigher.count(block);
  return blocks.flatMap((block) => [...weigher.weigh(block)]);
}
function assertNear(weights: readonly number[], expected: readonly number[]): void {
  assert.equal(weights.length, expected.length);
  for (const [k, value] of expected.entries()) {
    assert.ok(Math.abs(weights[k] - value) < 1e-6 * Math.abs(value) + 1e-12, `${weights[k]} for ${value}`);
  }
}

describe('imaging weights', () => {
  it('natural ones are those of the data', () => {
    assert.deepEqual(weightsFor({ kind: 'natural' }, rows), [1, 2, 3, 4, 5, 0]);
  });

  it('count what has no cell, since it gets no weight', () => {
    const weigher = prepareWeights(plan, { kind: 'uniform' });
    // Cells reach 50 wavelengths: 40 m are 40 and 60.
    weigher.count(rowsOf([[40, 1], [-3, 2]], [1, 1, 0, 1])); // prettier-ignore
    assert.deepEqual(weigher.beyond, { visibilities: 1, of: 3, longestLambda: 60 });
  });

  it('uniform: every cell alike, conjugates folded, flags left out, over all blocks', () => {
    // cells hold 1 + 3, 2 + 4 and 5
    assertNear(weightsFor({ kind: 'uniform' }, rows), [1 / 4, 2 / 6, 3 / 4, 4 / 6, 1, 0]);
    assertNear(weightsFor({ kind: 'uniform' }, rows, rows).slice(0, 6), [
      1 / 8,
      2 / 12,
      3 / 8,
      4 / 12,
      1 / 2,
      0,
    ]);
  });

  it('Briggs is between', () => {
    // Σ W² / Σ w = (16 + 36 + 25)/15; f² = (5·10^−R)² over that
    for (const robustness of [-2, 0, 1]) {
      const f2 = (5 * 10 ** -robustness) ** 2 / (77 / 15);
      assertNear(weightsFor({ kind: 'briggs', robustness }, rows), [
        1 / (1 + 4 * f2),
        2 / (1 + 6 * f2),
        3 / (1 + 4 * f2),
        4 / (1 + 6 * f2),
        5 / (1 + 5 * f2),
        0,
      ]);
    }
  });

  it('smaller cells distinguish visibilities', () => {
    // cells of 1/16: (35, 65), (36, 70), (52, 98), (55, 105) and one more
    assertNear(weightsFor({ kind: 'uniform', padding: 16 }, rows), [1, 1, 1, 1, 1, 0]);
  });

  it('a taper falls to a half where its transform does', () => {
    // e^(−r²/2σ²) = ½ at r = σ √(2 ln 2), σ = √(2 ln 2)/(π FWHM): r = 2 ln 2/(π FWHM)
    const taperFwhm = 0.1;
    const r = (2 * Math.LN2) / (Math.PI * taperFwhm);
    const weights = weightsFor({ kind: 'natural', taperFwhm }, rowsOf([[r * 0.6, -r * 0.8]], [2, 2]));
    assertNear(weights, [1, 2 * 0.5 ** 2.25]);
  });

  it('beyond the cells there is no weight but the natural one', () => {
    const far = rowsOf([[60, 0.5]], [1, 1]);
    assert.deepEqual(weightsFor({ kind: 'uniform' }, far), [0, 0]);
    assert.deepEqual(weightsFor({ kind: 'natural' }, far), [1, 1]);
  });

  it('refuses what means nothing', () => {
    assert.throws(() => prepareWeights(plan, { kind: 'briggs', robustness: 99 }), /robustness is 99/);
    assert.throws(() => prepareWeights(plan, { kind: 'natural', taperFwhm: 0 }), /taper/);
  });
});
