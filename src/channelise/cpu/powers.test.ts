import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { compiledLevels } from '../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../backend/cpu/library.js';
import { assertPowers, poisonPowers } from '../../backend/cpu/powers.testing.js';
import { allocateSpectra } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { randomStream } from '../../core/random.js';
import { delayModels } from '../../delay/index.js';
import { delaysOf, RATE_HZ } from '../delay-runs.testing.js';
import { prepareChanneliser } from '../index.js';
import { planChannelise, type ChanneliseOptions } from '../plan.js';
import { cut, fullScale, noise, withGaps } from '../samples.testing.js';

const library = loadNative();

describe(
  'powers beside what the cpu channeliser makes',
  { skip: 'what' in library ? library.what : false },
  () => {
    const levels = compiledLevels(library);

    /** The blocks' spectra equal those made without powers, powers are right, and some were made. */
    async function agree(
      options: ChanneliseOptions,
      blocks: readonly VoltageBlock[],
      threadCounts: readonly number[] = [2],
    ): Promise<void> {
      const plan = planChannelise(options);
      const delays =
        plan.mostDelaySamples === undefined
          ? undefined
          : delaysOf(plan, steadyDelays(plan.inputs)).from(0).delays;
      const garbage = allocateSpectra(plan.outputType, plan.channels, plan.inputs, plan.capacity).fill(85);
      for (const isa of levels) {
        const made: unknown[] = [];
        for (const threads of threadCounts) {
          const cpu = await openCpu({ isa, threads });
          const channelisers = [await prepareChanneliser(plan, cpu), await prepareChanneliser(plan, cpu)];
          const plain = cpu.allocateSpectra(plan.output);
          const out = cpu.allocateSpectra({ ...plan.output, powers: 256 });
          let seen = 0;
          const all: unknown[] = [];
          for (const block of blocks) {
            await channelisers[0].run(block, plain, delays);
            await out.write(garbage, plan.capacity);
            poisonPowers(out);
            await channelisers[1].run(block, out, delays);
            assert.equal(plain.powers, undefined);
            assert.deepEqual([out.samples, out.gaps], [plain.samples, plain.gaps]);
            const spectra = await out.read();
            assert.deepEqual(spectra, await plain.read());
            if (out.samples > 0 && (await assertPowers(out))) seen++;
            all.push(spectra);
          }
          assert.equal(channelisers[1].saturated, channelisers[0].saturated);
          // Elsewhere they are left to a pass over the block.
          const sums = plan.outputType === 'cf32' || isa === 'avx2' || isa === 'avx512' || isa === 'amx';
          assert.equal(seen > 0, sums, `${isa}, ${threads} threads`);
          made.push(all);
          for (const one of [...channelisers, plain, out]) await one.close();
          await cpu.close();
        }
        for (const other of made.slice(1)) assert.deepEqual(other, made[0]);
      }
    }

    const blocksOf = (options: ChanneliseOptions, lengths: readonly number[]): VoltageBlock[] => {
      const samples = lengths.reduce((sum, length) => sum + length, 0);
      return cut(
        noise(options.inputType, options.inputs, samples, randomStream(61, options.channels)),
        lengths,
      );
    };
    const base = { channels: 6, taps: 3, inputs: 20, polarisations: 2, blockSamples: 3000 } as const;

    for (const outputType of ['ci8', 'ci4', 'cf32'] as const)
      for (const inputType of ['ci8', 'i16', 'cf32'] as const)
        it(`${inputType} to ${outputType}, blocks of any length`, async () => {
          const options = { ...base, inputType, outputType } as const;
          await agree(options, blocksOf(options, [1700, 1501, 7, 1633]));
        });

    for (const outputType of ['ci8', 'cf32'] as const)
      it(`${outputType}: on any number of threads`, async () => {
        const options = { ...base, inputs: 38, inputType: 'ci8', outputType } as const;
        await agree(options, blocksOf(options, [2500, 2307]), [1, 2, 3, 5]);
      });

    for (const [channels, inputs] of [
      [2, 64],
      [64, 33],
      [97, 33],
      [256, 16],
    ] as const)
      it(`${channels} channels of ${inputs} inputs`, async () => {
        for (const outputType of ['ci8', 'cf32'] as const) {
          const sizes = {
            channels,
            taps: 1,
            inputs,
            polarisations: 1,
            blockSamples: 150 * channels,
          } as const;
          const options = { ...sizes, inputType: 'ci8', outputType } as const;
          await agree(options, blocksOf(options, [150 * channels]));
        }
      });

    it('at the rails: sums past 32 bits', async () => {
      const sizes = { ...base, taps: 1, gains: 1000, blockSamples: 2000 } as const;
      const options = { ...sizes, inputType: 'ci8', outputType: 'ci8' } as const;
      await agree(options, [fullScale('ci8', 20, 2000, randomStream(62))]);
    });

    it('with spectra missing', async () => {
      const options = { ...base, inputType: 'ci8', outputType: 'ci8' } as const;
      const [whole] = blocksOf(options, [2400]);
      const gap = (firstInput: number, firstSample: number, endSample: number) => ({
        firstInput,
        endInput: firstInput + 1,
        firstSample,
        endSample,
      });
      await agree(options, [withGaps(whole, [gap(3, 77, 95), gap(17, 100, 1800), gap(19, 2399, 2400)])]);
    });

    for (const outputType of ['ci8', 'ci4', 'cf32'] as const)
      it(`with delays, ${outputType}`, async () => {
        for (const channels of [6, 64]) {
          const sizes = { ...base, channels, blockSamples: 500 * channels, mostDelaySamples: 20 } as const;
          const options = { ...sizes, inputType: 'ci8', outputType } as const;
          await agree(options, blocksOf(options, [300 * channels, 205 * channels + 1]));
        }
      });

    it('are forgotten with the next thing written', async () => {
      const options = { ...base, inputType: 'ci8', outputType: 'cf32' } as const;
      const plan = planChannelise(options);
      const cpu = await openCpu({ threads: 1 });
      const channeliser = await prepareChanneliser(plan, cpu);
      const out = cpu.allocateSpectra({ ...plan.output, powers: 256 });
      for (const forget of [
        async () => {
          await out.write(allocateSpectra('cf32', 6, 20, 5), 5);
        },
        async () => {
          await Promise.resolve();
          out.addGaps([]);
        },
        async () => {
          await Promise.resolve();
          out.fill(7, []);
        },
      ]) {
        await channeliser.run(blocksOf(options, [2400])[0], out);
        assert.ok(out.powers);
        await forget();
        assert.equal(out.powers, undefined);
      }
      await channeliser.close();
      await out.close();
      await cpu.close();
    });
  },
);

/** Delays of any size, constant. */
function steadyDelays(inputs: number) {
  const models = delayModels(inputs);
  for (let input = 0; input < inputs; input++) {
    const delayS = (((input * 7) % 31) - 15.3) / RATE_HZ;
    models.load(input, { fromTick: 0n, delayS, delayRate: 0, phaseRad: input, phaseRateRadS: 1000 * input });
  }
  return models;
}
