/** Shared cases for every channeliser, registered in each backend's own test file. The reference is the oracle. */
import assert from 'node:assert/strict';
import type { Backend } from '../backend/backend.js';
import { backendCases, type CaseOptions } from '../backend/cases.js';
import { openReference } from '../backend/reference.js';
import { allocateSpectra } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { randomStream } from '../core/random.js';
import { assertClose, type Channelised } from './compare.testing.js';
import { delayCases } from './delay-cases.js';
import { prepareChanneliser } from './index.js';
import { planChannelise, type ChanneliseOptions, type ChannelisePlan } from './plan.js';
import { cut, fullScale, noise, withGaps } from './samples.testing.js';

/** Runs the blocks one by one, with memory and history that were garbage beforehand. */
export async function channeliseBlocks(
  plan: ChannelisePlan,
  backend: Backend,
  blocks: readonly VoltageBlock[],
): Promise<Channelised> {
  const { channels, inputs, capacity, outputType } = plan;
  const out = backend.allocateSpectra(plan.output);
  const channeliser = await prepareChanneliser(plan, backend);
  const garbage = allocateSpectra(outputType, channels, inputs, capacity).fill(85);
  const earlier = fullScale(plan.inputType, inputs, plan.blockSamples, randomStream(666, 'garbage'));
  await channeliser.run(earlier, out);
  channeliser.reset();
  const made: Channelised['blocks'][number][] = [];
  for (const block of blocks) {
    await out.write(garbage, capacity);
    await channeliser.run(block, out);
    made.push({ samples: out.samples, gaps: out.gaps, spectra: await out.read() });
  }
  const { saturated, produced } = channeliser;
  await channeliser.close();
  await out.close();
  return { blocks: made, saturated, produced };
}

export function channeliseCases(open: () => Promise<Backend>, options: CaseOptions = {}): void {
  backendCases('every channeliser', open, options, (theCase, backend) => {
    const agree = async (plan: ChannelisePlan, blocks: readonly VoltageBlock[]): Promise<Channelised> => {
      const made = await channeliseBlocks(plan, backend(), blocks);
      assertClose(plan, made, await channeliseBlocks(plan, openReference(), blocks));
      return made;
    };
    /** Noise for `spectra` spectra and a bit, in unequal blocks. */
    const shape = (shapeOptions: ChanneliseOptions, spectra: number, window = 'hann'): void => {
      const { channels, taps, inputs, inputType, outputType, blockSamples } = shapeOptions;
      const name = `${channels} channels, ${taps} taps of ${window}, ${inputs} inputs, ${inputType} to ${outputType}, blocks up to ${blockSamples}`;
      theCase(name, async () => {
        const plan = planChannelise(shapeOptions);
        const stream = randomStream(31, name);
        const samples = (spectra + taps - 1) * plan.samplesPerSpectrum + 1;
        await agree(plan, unevenly(noise(inputType, inputs, samples, stream), blockSamples));
      });
    };

    for (const inputType of ['i8', 'i16', 'f32', 'ci8', 'ci16', 'cf32'] as const) {
      for (const outputType of ['ci8', 'ci4', 'cf32'] as const) {
        shape({ ...two, channels: 32, taps: 4, inputType, outputType, blockSamples: 300 }, 40);
      }
    }
    shape({ ...one, channels: 2, taps: 1, blockSamples: 1 }, 9);
    shape({ ...one, channels: 3, taps: 5, inputs: 3, blockSamples: 7, inputType: 'i8' }, 50);
    shape({ ...one, channels: 97, taps: 3, inputs: 33, blockSamples: 1000 }, 3);
    shape({ ...two, channels: 100, taps: 8, inputs: 38, blockSamples: 900 }, 4);
    shape({ ...two, channels: 16, taps: 64, blockSamples: 5000, inputType: 'i16' }, 30);
    shape({ ...one, channels: 6, taps: 129, blockSamples: 1000 }, 20);
    shape({ ...two, channels: 4, taps: 255, blockSamples: 700, inputType: 'i8' }, 9);
    shape({ ...two, channels: 132, taps: 8, blockSamples: 900 }, 20);
    shape({ ...one, channels: 143, taps: 3, blockSamples: 1500 }, 18);
    shape({ ...one, channels: 1000, taps: 4, blockSamples: 5000 }, 5);
    shape({ ...one, channels: 1024, taps: 4, blockSamples: 5000 }, 3);
    shape(
      { ...one, channels: 8, taps: 16, blockSamples: 3, window: { kind: 'kaiser', beta: 8 } },
      6,
      'Kaiser',
    );

    const shapes = randomStream(32, 'shapes');
    for (let n = 0; n < 8; n++) {
      const polarisations = shapes.below(2) === 0 ? 1 : 2;
      shape(
        {
          channels: 2 + shapes.below(70),
          taps: 1 + shapes.below(12),
          window: { kind: (['rectangular', 'hann', 'hamming', 'blackman'] as const)[n % 4] },
          polarisations,
          inputs: polarisations * (1 + shapes.below(5)),
          inputType: (['i8', 'ci8', 'i16', 'ci16', 'f32', 'cf32'] as const)[shapes.below(6)],
          outputType: (['ci8', 'ci4', 'cf32'] as const)[shapes.below(3)],
          blockSamples: 50 + shapes.below(400),
        },
        10,
        'some window',
      );
    }

    for (const taps of [64, 256]) {
      theCase(`full scale, ${taps} taps of one sign`, async () => {
        // Sums of 256 · 128 · 32767: more than 24 bits, within 32.
        const coefficients = new Float64Array(taps * 8).fill(1);
        const samples = 8 * (taps + 16);
        const base = { ...one, channels: 8, taps, coefficients, blockSamples: samples };
        const plan = planChannelise({ ...base, gains: 1 / taps });
        await agree(plan, [fullScale('ci8', 1, samples, randomStream(33))]);
        const flat = fullScale('ci8', 1, samples, randomStream(33));
        flat.voltages.fill(-128);
        // All in the zero frequency: 8T·(−128)(1 + i), of which 1/8T is −128 and saturates at −127, twice for each of
        // 17 spectra.
        const { blocks, saturated } = await agree(planChannelise({ ...base, gains: 1 / (8 * taps) }), [flat]);
        assert.equal(saturated, 2 * 17);
        assert.deepEqual([...blocks[0].spectra.subarray(4 * 2 * 17, 4 * 2 * 17 + 2)], [-127, -127]);
      });
    }

    theCase('a gain for each input and channel', async () => {
      const gains = Float64Array.from({ length: 4 * 12 }, (_, n) => (n % 7) - 3);
      const plan = planChannelise({ ...two, channels: 12, taps: 4, gains, blockSamples: 400 });
      await agree(plan, [noise('ci8', 4, 400, randomStream(34))]);
    });

    for (const outputType of ['ci8', 'cf32'] as const) {
      theCase(`a stream cut anywhere gives the same, ${outputType}`, async () => {
        const plan = planChannelise({ ...two, channels: 6, taps: 3, outputType, blockSamples: 200 });
        const whole = withGaps(noise('ci8', 4, 200, randomStream(35)), [gapOf([1, 2], [77, 95])]);
        const inOne = await agree(plan, [whole]);
        for (const lengths of [
          [0, 1, 5, 6, 7, 80, 3],
          [18],
          [17, 19],
          Array.from({ length: 199 }, () => 1),
        ]) {
          const inPieces = await channeliseBlocks(plan, backend(), cut(whole, lengths));
          assert.deepEqual(joined(plan, inPieces), joined(plan, inOne), `cut at ${lengths.join()}`);
          assert.equal(inPieces.produced, 31); // ⌊200/6⌋ − 3 + 1
          assert.equal(inPieces.saturated, inOne.saturated);
        }
      });
    }

    theCase('a spectrum is missing if any of its samples is', async () => {
      // Sample 9 of input 1: spectra 1 (samples 4…11) and 2 (8…15), of that input, or of both of station 0.
      for (const gapsCover of ['inputs', 'stations'] as const) {
        const plan = planChannelise({ ...two, channels: 4, taps: 2, gains: 4, blockSamples: 40, gapsCover });
        const whole = withGaps(fullScale('ci8', 4, 40, randomStream(36)), [gapOf([1, 2], [9, 10])]);
        const { blocks } = await agree(plan, [whole]);
        const [{ gaps, spectra, samples }] = blocks;
        const firstInput = gapsCover === 'inputs' ? 1 : 0;
        assert.deepEqual(gaps, [
          { firstChannel: 0, endChannel: 4, firstInput, endInput: 2, firstSample: 1, endSample: 3 },
        ]);
        for (let row = 0; row < 16; row++) {
          const zeros = spectra
            .subarray((row * samples + 1) * 2, (row * samples + 3) * 2)
            .every((x) => x === 0);
          assert.equal(zeros, row % 4 < 2 && row % 4 >= firstInput, `row ${row}`);
        }
      }
    });

    theCase('a block that does not fit leaves the stream as it was', async () => {
      const plan = planChannelise({ ...one, channels: 4, taps: 2, blockSamples: 16 });
      const channeliser = await prepareChanneliser(plan, backend());
      const out = backend().allocateSpectra(plan.output);
      const good = noise('ci8', 1, 6, randomStream(37));
      await channeliser.run(good, out);
      const refused = async (block: VoltageBlock, message: RegExp): Promise<void> => {
        await assert.rejects(async () => channeliser.run(block, out), message);
      };
      await refused(noise('ci8', 1, 17, randomStream(37)), /samples in the block is 17/);
      await refused(noise('ci16', 1, 6, randomStream(37)), /1 inputs of ci16, the plan 1 of ci8/);
      await refused({ ...good, gaps: [gapOf([0, 1], [0, 7])] }, /endSample is 7/);
      await channeliser.run(good, out);
      assert.equal(channeliser.produced, 2);
      const expected = await channeliseBlocks(plan, backend(), [good, good]);
      assert.deepEqual(await out.read(), expected.blocks[1].spectra);
      await channeliser.close();
      await out.close();
    });

    delayCases(theCase, backend);
  });
}

const one = { inputs: 1, polarisations: 1, inputType: 'ci8', outputType: 'ci8' } as const;
const two = { inputs: 4, polarisations: 2, inputType: 'ci8', outputType: 'ci8' } as const;

const gapOf = ([firstInput, endInput]: [number, number], [firstSample, endSample]: [number, number]) => ({
  firstInput,
  endInput,
  firstSample,
  endSample,
});

/** Blocks of 1, most, none, a third, most, most, … samples. */
function unevenly(whole: VoltageBlock, most: number): VoltageBlock[] {
  const rest = Array.from({ length: Math.ceil(whole.samples / most) }, () => most);
  return cut(whole, [1, most, 0, Math.ceil(most / 3), ...rest]);
}

/** The spectra of all blocks in order, as lists by channel and input, with missing ones marked. */
function joined(plan: ChannelisePlan, { blocks }: Channelised): (number | 'missing')[][] {
  const parts = plan.outputType === 'ci4' ? 1 : 2;
  return Array.from({ length: plan.channels * plan.inputs }, (_, row) =>
    blocks.flatMap(({ samples, spectra, gaps }) => {
      const values: (number | 'missing')[] = [
        ...spectra.subarray(row * samples * parts, (row + 1) * samples * parts),
      ];
      const input = row % plan.inputs;
      for (const gap of gaps) {
        if (input < gap.firstInput || input >= gap.endInput) continue;
        values.fill('missing', gap.firstSample * parts, gap.endSample * parts);
      }
      return values;
    }),
  );
}
