/**
 * Shared cases for every correlator, registered in each backend's own test file. The oracle is reference.ts; integers
 * must agree to the last bit.
 */
import assert from 'node:assert/strict';
import type { Backend } from '../backend/backend.js';
import { backendCases, type CaseOptions } from '../backend/cases.js';
import { baselineIndex, spectraCAT, type SpectraCAT } from '../core/axes.js';
import { closingAfter } from '../core/closing.js';
import { zeroGaps, type SpectraGap } from '../core/gaps.js';
import { randomStream } from '../core/random.js';
import type { CorrelationResult } from './correlator.js';
import { prepareCorrelator } from './index.js';
import { planCorrelation, type CorrelateOptions, type CorrelatePlan } from './plan.js';
import { correlateReference, type CorrelateBlock } from './reference-testing.js';
import { fullScaleSpectra, garbage, poison, randomSpectra } from './samples.testing.js';

/** Feeds the blocks and finishes; the block's memory and the sums are garbage beforehand. */
export function correlateBlocks(
  plan: CorrelatePlan,
  backend: Backend,
  blocks: readonly CorrelateBlock[],
): Promise<CorrelationResult> {
  const { type, channels, inputs } = plan;
  const capacity = Math.max(1, ...blocks.map(({ samples }) => samples));
  return closingAfter(async (closers) => {
    const block = closers.keep(backend.allocateSpectra({ type, channels, inputs, capacity }));
    const correlator = closers.keep(await prepareCorrelator(plan, backend));
    await block.write(garbage(plan, capacity), capacity);
    await correlator.accumulate(block);
    poison(await correlator.finish());
    for (const { spectra, samples, gaps } of blocks) {
      await block.write(garbage(plan, capacity), capacity);
      await block.write(spectra, samples, gaps);
      await correlator.accumulate(block);
    }
    return correlator.finish();
  });
}

export function correlateCases(open: () => Promise<Backend>, options: CaseOptions = {}): void {
  backendCases('every correlator', open, options, (theCase, backend) => {
    const agree = async (
      plan: CorrelatePlan,
      blocks: readonly CorrelateBlock[],
    ): Promise<CorrelationResult> => {
      const result = await correlateBlocks(plan, backend(), blocks);
      // The `reference` backend adds in the oracle's order: its floats are equal too.
      assertSame(
        plan,
        result,
        correlateReference(plan, blocks),
        backend().kind === 'reference' ? 'bits' : 'numbers',
      );
      return result;
    };
    const shape = (shapeOptions: CorrelateOptions, blockSamples: readonly number[]): void => {
      const { stations, polarisations, channels, type } = shapeOptions;
      const name = `${stations} stations, ${polarisations} pol, ${channels} channels, ${type}, blocks of ${blockSamples.join('+')}`;
      theCase(name, async () => {
        const plan = planCorrelation(shapeOptions);
        const stream = randomStream(11, name);
        await agree(
          plan,
          blockSamples.map((samples) => whole(randomSpectra(plan, samples, stream), samples)),
        );
      });
    };

    for (const type of ['ci8', 'ci4', 'cf32'] as const) {
      shape({ stations: 1, polarisations: 1, channels: 1, type }, [1]);
      shape({ stations: 1, polarisations: 2, channels: 3, type }, [5, 0, 64]);
      shape({ stations: 3, polarisations: 1, channels: 2, type }, [33]);
      shape({ stations: 19, polarisations: 2, channels: 5, type }, [17, 1, 128]);
      shape({ stations: 33, polarisations: 1, channels: 1, type }, [100, 7]);
      shape({ stations: 33, polarisations: 2, channels: 2, type }, [65]);
      shape({ stations: 2, polarisations: 2, channels: 1, type }, [2049]);
    }
    const shapes = randomStream(12, 'shapes');
    for (let n = 0; n < 8; n++) {
      const blocks = Array.from({ length: 1 + shapes.below(4) }, () => shapes.below(150));
      shape(
        {
          stations: 1 + shapes.below(40),
          polarisations: shapes.below(2) === 0 ? 1 : 2,
          channels: 1 + shapes.below(9),
          type: (['ci8', 'ci4', 'cf32'] as const)[shapes.below(3)],
        },
        blocks,
      );
    }

    theCase('full scale past 2³¹', async () => {
      // Station 0 is 127 + 127i, station 1 127 − 127i: V₀₀ = V₁₁ = 32,258 a sample and V₁₀ = (127 − 127i)·conj(127 +
      // 127i) = −32,258i. After 70,001 samples that is 2,258,092,258 > 2³¹.
      const plan = planCorrelation({ stations: 2, polarisations: 1, channels: 1, type: 'ci8' });
      const { visibilities, counts } = await agree(
        plan,
        [30_000, 30_000, 10_001].map((samples) => {
          const rows = [127, -127].map((im) => Array.from({ length: samples }, () => [127, im]).flat());
          return whole(spectraCAT(Int8Array.from(rows.flat()), 'ci8', 1, 2, samples), samples);
        }),
      );
      const most = 2_258_092_258;
      assert.deepEqual([...visibilities], [most, 0, 0, -most, most, 0]);
      assert.deepEqual([...counts], [70_001, 70_001, 70_001]);
    });

    for (const type of ['ci8', 'ci4'] as const) {
      theCase(`every corner of full scale, ${type}`, async () => {
        const plan = planCorrelation({ stations: 19, polarisations: 2, channels: 3, type });
        await agree(plan, [whole(fullScaleSpectra(plan, 333, randomStream(13, type)), 333)]);
      });
    }

    for (const type of ['ci8', 'ci4', 'cf32'] as const) {
      theCase(`flagged inputs leave the sums, ${type}`, async () => {
        const flaggedInputs = new Uint8Array(10);
        for (const input of [1, 4, 5]) flaggedInputs[input] = 1; // Y of station 0, all of station 2
        const plan = planCorrelation({ stations: 5, polarisations: 2, channels: 2, type, flaggedInputs });
        const spectra = randomSpectra(plan, 41, randomStream(14, type));
        // A flagged input may have any values, NaN included.
        if (type === 'cf32') spectra.fill(NaN, 4 * 41 * 2, 6 * 41 * 2);
        const { visibilities, counts } = await agree(plan, [whole(spectra, 41)]);
        const b10 = baselineIndex(1, 0);
        assert.deepEqual([...visibilities.slice((b10 * 4 + 1) * 2, (b10 * 4 + 1) * 2 + 2)], [0, 0]);
        assert.equal(counts[b10], 41);
        assert.equal(counts[baselineIndex(2, 0)], 0);
      });

      theCase(`gaps are counted out, ${type}`, async () => {
        const plan = planCorrelation({ stations: 5, polarisations: 2, channels: 4, type });
        const stream = randomStream(15, type);
        const gaps = [
          gapOf([0, 4], [2, 4], [10, 30]),
          gapOf([1, 3], [2, 6], [25, 40]),
          gapOf([3, 4], [0, 10], [0, 60]),
        ];
        const spectra = randomSpectra(plan, 60, stream);
        zeroGaps(spectra, { type, inputs: plan.inputs, samples: 60 }, gaps);
        const { counts } = await agree(plan, [
          { spectra, samples: 60, gaps },
          whole(randomSpectra(plan, 9, stream), 9),
        ]);
        // Station 1 lacks 20 of 69 samples in channel 0, samples 10…39 in channel 1.
        assert.equal(counts[baselineIndex(1, 0)], 49);
        assert.equal(counts[15 + baselineIndex(1, 0)], 39);
        assert.equal(counts[3 * 15 + baselineIndex(4, 3)], 9);
      });
    }

    theCase('half a station missing: products have counts of their own', async () => {
      const flaggedInputs = Uint8Array.of(0, 0, 0, 0, 0, 1);
      const plan = planCorrelation({
        stations: 3,
        polarisations: 2,
        channels: 3,
        type: 'ci8',
        flaggedInputs,
      });
      const stream = randomStream(8, 'halves');
      const gaps = [
        gapOf([0, 2], [1, 2], [3, 13]), // Y of station 0
        gapOf([1, 3], [1, 4], [10, 20]), // Y of station 0 again, and station 1
      ];
      const spectra = randomSpectra(plan, 40, stream);
      zeroGaps(spectra, { type: 'ci8', inputs: 6, samples: 40 }, gaps);
      const stations = [gapOf([0, 3], [0, 2], [0, 2])];
      const widened = randomSpectra(plan, 8, stream);
      zeroGaps(widened, { type: 'ci8', inputs: 6, samples: 8 }, stations);
      const { counts, productCounts } = await agree(plan, [
        { spectra, samples: 40, gaps },
        { spectra: widened, samples: 8, gaps: stations },
        whole(randomSpectra(plan, 5, stream), 5),
      ]);
      assert.ok(productCounts);
      const of = (c: number, i: number, j: number): readonly number[] => {
        const at = 4 * (6 * c + baselineIndex(i, j));
        return [...productCounts.subarray(at, at + 4)];
      };
      // Of 53 samples station 0 lacks 2 of both; its Y lacks 3…12 in channel 0, 3…19 in channel 1, 10…19 in channel 2.
      assert.deepEqual(of(0, 0, 0), [51, 41, 41, 41]);
      assert.deepEqual(of(1, 0, 0), [51, 34, 34, 34]);
      assert.deepEqual(of(2, 0, 0), [51, 41, 41, 41]);
      // Station 1 with station 0: X and Y of 1 lack 10…19, and Y of 0 as above.
      assert.deepEqual(of(1, 1, 0), [41, 34, 41, 34]);
      // Y of station 2 is flagged.
      assert.deepEqual(of(0, 2, 0), [51, 41, 0, 0]);
      assert.equal(counts[6 + baselineIndex(0, 0)], 51);
      assert.equal(counts[6 + baselineIndex(1, 0)], 41);
    });

    theCase('each integration starts from zero', async () => {
      const plan = planCorrelation({ stations: 3, polarisations: 1, channels: 2, type: 'ci8' });
      const block = backend().allocateSpectra({ type: 'ci8', channels: 2, inputs: 3, capacity: 4 });
      const correlator = await prepareCorrelator(plan, backend());
      await block.write(garbage(plan, 4), 4);
      await correlator.accumulate(block);
      const first = await correlator.finish();
      const nothing = await correlator.finish();
      assert.ok(nothing.visibilities.every((value) => value === 0));
      assert.ok(nothing.counts.every((value) => value === 0));
      assert.equal(nothing.samples, 0);
      await correlator.accumulate(block);
      assertSame(plan, await correlator.finish(), first, 'bits');
      await correlator.close();
      await block.close();
    });

    theCase('a block of another shape adds nothing', async () => {
      const plan = planCorrelation({ stations: 2, polarisations: 2, channels: 1, type: 'ci8' });
      const correlator = await prepareCorrelator(plan, backend());
      const other = backend().allocateSpectra({ type: 'ci8', channels: 2, inputs: 4, capacity: 4 });
      await assert.rejects(async () => correlator.accumulate(other), /2 channels of 4 inputs .* 1 of 4/);
      const { visibilities, samples } = await correlator.finish();
      assert.ok(visibilities.every((value) => value === 0));
      assert.equal(samples, 0);
      await correlator.close();
      await other.close();
    });
  });
}

export const whole = (spectra: SpectraCAT, samples: number): CorrelateBlock => ({
  spectra,
  samples,
  gaps: [],
});

const gapOf = (
  [firstChannel, endChannel]: [number, number],
  [firstInput, endInput]: [number, number],
  [firstSample, endSample]: [number, number],
): SpectraGap => ({ firstChannel, endChannel, firstInput, endInput, firstSample, endSample });

/**
 * Integers: the same bits. Floats, unless their bits must be the same too: a sum of n products in float32 rounds n times, each by up to 2⁻²⁴ of a
 * partial sum that √(V_ii V_jj) bounds; such errors add like a random walk, √n. Eight covers the two products
 * of each part, their own rounding, and four standard deviations.
 */
function assertSame(
  plan: CorrelatePlan,
  actual: CorrelationResult,
  expected: CorrelationResult,
  same: 'bits' | 'numbers',
): void {
  assert.equal(actual.samples, expected.samples);
  assert.deepEqual(actual.counts, expected.counts);
  assert.deepEqual(actual.productCounts, expected.productCounts);
  assert.equal(actual.visibilities.length, expected.visibilities.length);
  const slack =
    plan.type === 'cf32' && same === 'numbers' ? 8 * 2 ** -24 * Math.sqrt(expected.samples + 1) : 0;
  const products = plan.polarisations ** 2;
  const power = (c: number, s: number, p: number): number =>
    expected.visibilities[
      2 * ((c * plan.baselines + baselineIndex(s, s)) * products + p * (plan.polarisations + 1))
    ];
  for (let c = 0; c < plan.channels; c++) {
    for (let i = 0; i < plan.stations; i++) {
      for (let j = 0; j <= i; j++) {
        for (let product = 0; product < products; product++) {
          const [pi, pj] = [Math.floor(product / plan.polarisations), product % plan.polarisations];
          const tolerance = slack === 0 ? 0 : slack * Math.sqrt(power(c, i, pi) * power(c, j, pj));
          const at = 2 * ((c * plan.baselines + baselineIndex(i, j)) * products + product);
          for (const part of [0, 1]) {
            const [got, want] = [actual.visibilities[at + part], expected.visibilities[at + part]];
            assert.ok(
              Math.abs(got - want) <= tolerance,
              `channel ${c}, stations ${i}-${j}, product ${pi}${pj}, ${part === 0 ? 're' : 'im'}: ${got}, not ${want} ± ${tolerance}`,
            );
          }
        }
      }
    }
  }
}
