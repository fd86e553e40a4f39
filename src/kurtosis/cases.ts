/**
 * Shared cases for every flagger, registered in each backend's own test file. The reference is the oracle, and masks
 * are equal bit for bit.
 */
import assert from 'node:assert/strict';
import type { Backend } from '../backend/backend.js';
import { backendCases, type CaseOptions } from '../backend/cases.js';
import { openReference } from '../backend/reference.js';
import { allocateSpectra, type SpectraCAT } from '../core/axes.js';
import type { SpectraGap } from '../core/gaps.js';
import { randomStream } from '../core/random.js';
import { prepareFlagger } from './index.js';
import { WIDER, type Decision } from './decision.js';
import { planKurtosis, type KurtosisOptions, type KurtosisPlan } from './plan.js';
import { noisySpectra, without, type Strength } from './samples.testing.js';

interface Flagged {
  readonly decision: Decision;
  readonly gaps: readonly SpectraGap[];
  readonly spectra: SpectraCAT;
}

/** Flags blocks in memory that was garbage beforehand. */
export async function flagBlocks(
  plan: KurtosisPlan,
  backend: Backend,
  blocks: readonly {
    readonly spectra: SpectraCAT;
    readonly samples: number;
    readonly gaps: readonly SpectraGap[];
  }[],
): Promise<Flagged[]> {
  const { type, channels, inputs } = plan;
  const capacity = Math.max(...blocks.map(({ samples }) => samples)) + 5;
  const block = backend.allocateSpectra({ type, channels, inputs, capacity });
  const flagger = await prepareFlagger(plan, backend);
  const garbage = allocateSpectra(type, channels, inputs, capacity).fill(85);
  const made: Flagged[] = [];
  for (const { spectra, samples, gaps } of blocks) {
    await block.write(garbage, capacity);
    await block.write(spectra, samples, gaps);
    const decision = await flagger.run(block);
    assert.equal(block.samples, samples);
    made.push({ decision, gaps: block.gaps, spectra: await block.read() });
  }
  await flagger.close();
  await block.close();
  return made;
}

/** Pulses in one input's channel, a carrier in another's, and a signal that all inputs receive in channel 2. */
const interference: Strength = (c, a, t) => {
  if (c === 0 && a === 1) return { noise: t % 40 < 4 ? 4 : 1, carrier: 0 };
  if (c === 1 && a === 0) return { noise: 0.3, carrier: 1.5 };
  if (c === 2) return { noise: t % 100 < 8 ? 3 : 1, carrier: 0 };
  // Too weak for one window of one input.
  if (c === 7) return { noise: t % 64 < 8 ? 1.5 : 1, carrier: 0 };
  return { noise: 1, carrier: 0 };
};

export function kurtosisCases(open: () => Promise<Backend>, options: CaseOptions = {}): void {
  backendCases('every flagger', open, options, (theCase, backend) => {
    const agree = async (
      asked: KurtosisOptions,
      lengths: readonly number[],
      gapsOf: (samples: number) => readonly SpectraGap[] = () => [],
      strength: Strength = interference,
    ): Promise<Flagged[]> => {
      const plan = planKurtosis(asked);
      const random = randomStream(41, JSON.stringify(asked));
      const blocks = lengths.map((samples) => {
        const shape = { ...asked, samples };
        const gaps = gapsOf(samples);
        return { samples, gaps, spectra: without(noisySpectra(shape, random, strength), shape, gaps) };
      });
      const made = await flagBlocks(plan, backend(), blocks);
      const expected = await flagBlocks(plan, openReference(), blocks);
      assert.deepEqual(made, expected);
      return made;
    };

    for (const type of ['ci8', 'ci4', 'cf32'] as const) {
      for (const polarisations of [1, 2] as const) {
        theCase(`${type}, ${polarisations} polarisations: masks bit for bit, zeros and gaps`, async () => {
          const shape = { type, channels: 5, inputs: 6 * polarisations, polarisations };
          const [first] = await agree({ ...shape, spectraPerWindow: 128 }, [256, 401, 90, 24, 23, 3]);
          // All inputs receive it in channel 2.
          const { mask, edges } = first.decision;
          assert.equal(edges.length, 3);
          // Four bits clip strong signals, and see less of them.
          const least = type === 'ci4' ? 2 : 6;
          const { inputs } = shape;
          assert.ok(
            mask.subarray(2 * inputs, 3 * inputs).filter((one) => one === 1).length >= least * polarisations,
          );
          assert.ok(first.gaps.some(({ firstChannel, endChannel }) => firstChannel <= 2 && endChannel > 2));
        });
      }
    }

    theCase('more inputs than a tile holds, windows of many tiles, one of real numbers', async () => {
      await agree(
        { type: 'ci8', channels: 3, inputs: 38, polarisations: 2, spectraPerWindow: 300, realChannels: 1 },
        [1000, 64],
      );
    });

    theCase(
      'carriers of one and of all inputs beside bursts, kept and flagged, and a burst of one polarisation',
      async () => {
        const strength: Strength = (c, a, t) => ({
          noise: t % 512 < 20 && (t < 2048 || a % 2 === 1) ? 6 : 1,
          carrier: c === 5 || (c === 9 && a === 3) ? 2 : 0,
        });
        for (const bursts of ['keep', 'take'] as const) {
          const [{ decision }] = await agree(
            {
              type: 'cf32',
              channels: 12,
              inputs: 10,
              polarisations: 2,
              spectraPerWindow: 128,
              bursts,
              realChannels: 1,
            },
            [4096],
            () => [],
            strength,
          );
          assert.deepEqual(decision.everywhere, [0, 4, 8, 12, 16, 20, 24, 28]);
        }
      },
    );

    theCase('the mean over inputs, bursts taken, an input left out', async () => {
      const flaggedInputs = Uint8Array.of(0, 0, 1, 1, 0, 0, 1, 0);
      await agree(
        {
          type: 'ci8',
          channels: 4,
          inputs: 8,
          polarisations: 2,
          spectraPerWindow: 64,
          over: 'inputs',
          bursts: 'take',
          flaggedInputs,
        },
        [640],
      );
    });

    theCase('what no input shows alone, and whole stations where they are asked for', async () => {
      for (const takes of ['inputs', 'stations'] as const) {
        const [{ decision }] = await agree(
          { type: 'ci8', channels: 9, inputs: 12, polarisations: 2, spectraPerWindow: 64, takes },
          [64 * 12],
        );
        assert.ok(
          decision.codes.some((code) => (code & WIDER) !== 0),
          'together',
        );
        const pairs = Array.from({ length: decision.mask.length / 2 }, (_, n) =>
          decision.mask.subarray(2 * n, 2 * n + 2),
        );
        assert.equal(
          pairs.some(([x, y]) => x !== y),
          takes === 'inputs',
        );
      }
    });

    theCase('with gaps of every kind, overlapping ones too', async () => {
      const [made] = await agree(
        { type: 'ci8', channels: 4, inputs: 6, polarisations: 2, spectraPerWindow: 128 },
        [512],
        () => [
          { firstInput: 0, endInput: 2, firstChannel: 0, endChannel: 4, firstSample: 100, endSample: 180 },
          { firstInput: 0, endInput: 4, firstChannel: 1, endChannel: 3, firstSample: 150, endSample: 300 },
          { firstInput: 5, endInput: 6, firstChannel: 2, endChannel: 3, firstSample: 0, endSample: 120 },
        ],
      );
      const { lost } = made.decision;
      assert.ok(lost);
      // Window 0 of channel 0: inputs 0 and 1 lack 100…127. Of channel 1, window 1: they lack all of it, 2 and 3 from 150 on.
      assert.deepEqual([...lost.subarray(0, 6)], [28, 28, 0, 0, 0, 0]);
      assert.deepEqual([...lost.subarray((4 + 1) * 6, (4 + 1) * 6 + 6)], [128, 128, 106, 106, 0, 0]);
      assert.deepEqual([...lost.subarray(2 * 6, 2 * 6 + 6)], [28, 28, 0, 0, 0, 120]);
    });
  });
}
