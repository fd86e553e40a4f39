import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { baselineIndex, elementsPerSpectra, spectraCAT, type SpectraCAT } from '../core/axes.js';
import { randomStream } from '../core/random.js';
import { correlateBlocks, correlateCases, whole } from './cases.js';
import { prepareCorrelator } from './index.js';
import { planCorrelation, type CorrelateOptions, type CorrelatePlan } from './plan.js';
import { randomSpectra } from './samples.js';

correlateCases(() => Promise.resolve(openReference()));

const ci8 = (plan: CorrelatePlan, parts: readonly number[], samples: number): SpectraCAT =>
  spectraCAT(Int8Array.from(parts), 'ci8', plan.channels, plan.inputs, samples);

describe('reference correlator', () => {
  it('two stations, two samples, by hand', async () => {
    const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 1, type: 'ci8' });
    // x₀ = (1 + 2i, 3 − i), x₁ = (2 − i, −1 + 4i)
    const spectra = ci8(plan, [1, 2, 3, -1, 2, -1, -1, 4], 2);
    const { visibilities, counts, samples } = await correlateBlocks(plan, openReference(), [
      whole(spectra, 2),
    ]);
    assert.deepEqual(
      [...visibilities],
      [
        ...[15, 0], // V₀₀ = |1+2i|² + |3−i|² = 5 + 10
        // V₁₀ = x₁ conj(x₀) = (2−i)(1−2i) + (−1+4i)(3+i) = (2−4i−i−2) + (−3−i+12i−4) = −5i + (−7+11i)
        ...[-7, 6],
        ...[22, 0], // V₁₁ = 5 + 17
      ],
    );
    assert.deepEqual([...counts], [2, 2, 2]);
    assert.equal(samples, 2);
  });

  it('one station, two polarisations: both cross products, each the conjugate of the other', async () => {
    const plan = planCorrelation({ stations: 1, polarisations: 2, channels: 1, type: 'ci8' });
    // X = 1 + i, Y = 2 − 3i: XX = 2, XY = (1+i)(2+3i) = 2+3i+2i−3 = −1+5i, YX = −1−5i, YY = 13
    const { visibilities } = await correlateBlocks(plan, openReference(), [
      whole(ci8(plan, [1, 1, 2, -3], 1), 1),
    ]);
    assert.deepEqual([...visibilities], [2, 0, -1, 5, -1, -5, 13, 0]);
  });

  it('two stations, two polarisations, two channels: every product in its place', async () => {
    const plan = planCorrelation({ stations: 2, polarisations: 2, channels: 2, type: 'ci8' });
    // Real values, so products are easy to tell: channel 0 inputs 1, 2, 3, 5; channel 1 inputs 7, 11, 13, 17.
    const { visibilities } = await correlateBlocks(plan, openReference(), [
      whole(ci8(plan, [1, 0, 2, 0, 3, 0, 5, 0, 7, 0, 11, 0, 13, 0, 17, 0], 1), 1),
    ]);
    const re = [...visibilities].filter((_, n) => n % 2 === 0);
    assert.deepEqual(re, [
      ...[1, 2, 2, 4], // 00 of channel 0: XX XY YX YY
      ...[3, 6, 5, 10], // 10: station 1's (3, 5) with station 0's (1, 2)
      ...[9, 15, 15, 25],
      ...[49, 77, 77, 121],
      ...[91, 143, 119, 187],
      ...[169, 221, 221, 289],
    ]);
  });

  it('4-bit samples: real part in the high nibble, signs kept', async () => {
    const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 1, type: 'ci4' });
    // x₀ = −7 + i (0x91), x₁ = 7 − i (0x7f): V₁₀ = −50
    const spectra = spectraCAT(Uint8Array.from([0x91, 0x7f]), 'ci4', 1, 2, 1);
    const { visibilities } = await correlateBlocks(plan, openReference(), [whole(spectra, 1)]);
    assert.deepEqual([...visibilities], [50, 0, -50, 0, 50, 0]);
  });

  const shapes: readonly (readonly [CorrelateOptions, number])[] = [
    [{ stations: 3, polarisations: 1, channels: 2, type: 'ci8' }, 300],
    [{ stations: 4, polarisations: 2, channels: 3, type: 'ci8' }, 257],
    [{ stations: 5, polarisations: 1, channels: 1, type: 'ci4' }, 31],
    [{ stations: 3, polarisations: 2, channels: 2, type: 'cf32' }, 513],
  ];
  for (const [options, samples] of shapes) {
    const { stations, polarisations, type } = options;
    it(`equals nested loops: ${stations} stations, ${polarisations} pol, ${type}`, async () => {
      const plan = planCorrelation(options);
      const spectra = randomSpectra(plan, samples, randomStream(21, stations));
      const { visibilities } = await correlateBlocks(plan, openReference(), [whole(spectra, samples)]);
      const expected = nestedLoops(plan, spectra, samples);
      // Both sum in float64, in another order: 500 terms near 1 agree to 1e-12.
      const tolerance = type === 'cf32' ? 1e-11 : 0;
      visibilities.forEach((value, n) => {
        assert.ok(Math.abs(value - expected[n]) <= tolerance, `[${n}] is ${value}, not ${expected[n]}`);
      });
    });
  }

  it('refuses values outside the contract, saying where, and adds nothing', async () => {
    const backend = openReference();
    const refused = async (
      type: 'ci8' | 'ci4' | 'cf32',
      element: number,
      value: number,
      message: RegExp,
    ): Promise<void> => {
      const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 2, type });
      const spectra = randomSpectra(plan, 3, randomStream(22, type));
      const block = backend.allocateSpectra({ type, channels: 2, inputs: 2, capacity: 3 });
      const correlator = await prepareCorrelator(plan, backend);
      spectra[element] = value;
      await block.write(spectra, 3);
      await assert.rejects(correlator.accumulate(block), message);
      const { visibilities, samples } = await correlator.finish();
      assert.ok(visibilities.every((sum) => sum === 0));
      assert.equal(samples, 0);
    };
    // Channel 1, input 0, sample 2 is complex number (1·2 + 0)·3 + 2 = 8.
    await refused('ci8', 17, -128, /channel 1, input 0, sample 2 holds −128; parts run from −127 to 127/);
    await refused('ci4', 8, 0x80, /channel 1, input 0, sample 2 holds −8/);
    await refused('ci4', 8, 0x38, /channel 1, input 0, sample 2 holds −8/);
    await refused('cf32', 16, NaN, /channel 1, input 0, sample 2 is not a finite number/);
    await refused('cf32', 0, Infinity, /channel 0, input 0, sample 0 is not a finite number/);
  });

  it("refuses another backend's block", async () => {
    const plan = planCorrelation({ stations: 1, polarisations: 1, channels: 1, type: 'ci8' });
    const backend = openReference();
    const correlator = await prepareCorrelator(plan, backend);
    const block = backend.allocateSpectra({ type: 'ci8', channels: 1, inputs: 1, capacity: 1 });
    await assert.rejects(correlator.accumulate({ ...block, home: 'cuda' }), /lives on backend 'cuda'/);
  });
});

/** Σ_t x_i conj(x_j), in the order of the words. */
function nestedLoops(plan: CorrelatePlan, spectra: SpectraCAT, samples: number): Float64Array {
  const { channels, stations, polarisations, baselines, inputs, type } = plan;
  const sums = new Float64Array(channels * baselines * polarisations ** 2 * 2);
  const sample = (c: number, a: number, t: number): readonly [number, number] => {
    const at = ((c * inputs + a) * samples + t) * elementsPerSpectra(type);
    if (type !== 'ci4') return [spectra[at], spectra[at + 1]];
    const sign = (nibble: number): number => (nibble > 7 ? nibble - 16 : nibble);
    return [sign(Math.floor(spectra[at] / 16)), sign(spectra[at] % 16)];
  };
  for (let c = 0; c < channels; c++) {
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        for (let pi = 0; pi < polarisations; pi++) {
          for (let pj = 0; pj < polarisations; pj++) {
            const b = c * baselines + baselineIndex(i, j);
            const to = 2 * ((b * polarisations + pi) * polarisations + pj);
            for (let t = 0; t < samples; t++) {
              const [xr, xi] = sample(c, i * polarisations + pi, t);
              const [yr, yi] = sample(c, j * polarisations + pj, t);
              sums[to] += xr * yr + xi * yi;
              sums[to + 1] += xi * yr - xr * yi;
            }
          }
        }
      }
    }
  }
  return sums;
}
