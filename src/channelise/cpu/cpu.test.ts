import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backendCases } from '../../backend/cases.js';
import { openCpu } from '../../backend/cpu/cpu.js';
import { compiledLevels } from '../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../backend/cpu/library.js';
import { openReference } from '../../backend/reference.js';
import { allocateSpectra, type VoltageType } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import { channeliseBlocks, channeliseCases } from '../cases.js';
import { assertClose } from '../compare.testing.js';
import { delayShape } from '../delay-cases.js';
import { prepareChanneliser } from '../index.js';
import { planChannelise, type ChanneliseOptions } from '../plan.js';
import { cut, fullScale, noise } from '../samples.testing.js';

const library = loadNative();

/** Every radix alone and under others, radices without code of their own, padding, and convolutions. */
const lengths = [
  ...Array.from({ length: 39 }, (_, n) => n + 2),
  64,
  74,
  121,
  128,
  143,
  210,
  256,
  343,
  512,
  961,
  1000,
  1024,
  1201,
  2048,
];

describe('cpu channeliser', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      channeliseCases(() => openCpu({ isa, threads: 2 }));

      // Last passes of 4, 8 and 16 legs behind passes of every kind: 11·4, 8·8, 11·16, 8·16, 3·16, 8·8·8.
      backendCases(
        'delays by legs',
        () => openCpu({ isa, threads: 2 }),
        {},
        (theCase, backend) => {
          for (const channels of [44, 64, 176, 128, 48, 512]) {
            for (const outputType of ['ci4', 'cf32'] as const) {
              const sizes = { channels, taps: 2, inputs: 4, polarisations: 1, mostDelaySamples: 9 } as const;
              const types = { inputType: 'ci16', outputType } as const;
              delayShape(theCase, backend, { ...sizes, ...types, blockSamples: 7 * channels + 3 }, 14, 2e-9);
            }
          }
        },
      );

      const agree = async (options: ChanneliseOptions, lengthsOfBlocks: readonly number[]): Promise<void> => {
        const plan = planChannelise(options);
        const samples = lengthsOfBlocks.reduce((sum, length) => sum + length, 0);
        const whole = noise(options.inputType, options.inputs, samples, randomStream(41, options.channels));
        const blocks = cut(whole, lengthsOfBlocks);
        const cpu = await openCpu({ isa, threads: 2 });
        const made = await channeliseBlocks(plan, cpu, blocks);
        await cpu.close();
        assertClose(plan, made, await channeliseBlocks(plan, openReference(), blocks));
      };

      for (const inputType of ['ci8', 'i16'] satisfies VoltageType[]) {
        it(`transforms of any length, ${inputType}`, async () => {
          for (const channels of lengths) {
            const samples = 4 * channels * (inputType === 'i16' ? 2 : 1);
            const sizes = { channels, taps: 2, inputs: 1, polarisations: 1, blockSamples: samples } as const;
            await agree({ ...sizes, inputType, outputType: 'cf32' }, [samples]);
          }
        });
      }

      it('more spectra than lanes, more inputs than a tile, all types of samples', async () => {
        for (const inputType of ['i8', 'i16', 'f32', 'ci8', 'ci16', 'cf32'] satisfies VoltageType[]) {
          const sizes = { channels: 20, taps: 5, inputs: 18, polarisations: 2, blockSamples: 1777 } as const;
          await agree({ ...sizes, inputType, outputType: 'ci8' }, [1777, 3, 1600]);
        }
      });

      it('filters of any number of taps, their peak up, down or both', async () => {
        // 32767 is more than 257 times any byte, so that a kernel for bytes must negate such a filter, or reject it.
        const peaks = { up: [1], down: [-1], both: [1, -1] };
        for (const [name, ends] of Object.entries(peaks)) {
          for (const inputType of ['ci8', 'i8'] satisfies VoltageType[]) {
            for (const taps of [1, 3, 4, 5, 8, 12, 16, 33, 64]) {
              const samplesPerSpectrum = inputType === 'i8' ? 40 : 20;
              const random = randomStream(45, name, taps);
              const coefficients = Float64Array.from(
                { length: taps * samplesPerSpectrum },
                (_, n) => ends[n] ?? 1.99 * random.uniform() - 0.995,
              );
              const samples = (taps + 21) * samplesPerSpectrum;
              const sizes = {
                channels: 20,
                taps,
                inputs: 2,
                polarisations: 1,
                blockSamples: samples,
              } as const;
              const types = { inputType, outputType: 'cf32' } as const;
              await agree({ ...sizes, ...types, coefficients }, [samples]);
            }
          }
        }
      });

      it('any number of threads gives the same bits, block after block', async () => {
        const sizes = { channels: 12, taps: 4, inputs: 35, polarisations: 1, blockSamples: 1200 } as const;
        for (const outputType of ['ci8', 'cf32'] as const) {
          const plan = planChannelise({ ...sizes, inputType: 'ci8', outputType });
          const blocks = cut(noise('ci8', 35, 5000, randomStream(46)), [1200, 600, 5, 1195, 1200, 800]);
          const made = [];
          for (const threads of [1, 2, 5, 40]) {
            const cpu = await openCpu({ isa, threads });
            made.push(await channeliseBlocks(plan, cpu, blocks));
            await cpu.close();
          }
          for (const other of made.slice(1)) assert.deepEqual(other, made[0]);
        }
      });

      it('counts what passes the rails, far past 32 bits as well', async () => {
        const base = { channels: 4, taps: 1, inputs: 1, polarisations: 1, blockSamples: 80 } as const;
        const types = {
          inputType: 'ci8',
          outputType: 'ci8',
          coefficients: new Float64Array(4).fill(1),
        } as const;
        const block = fullScale('ci8', 1, 80, randomStream(42));
        block.voltages.fill(0);
        block.voltages[8] = 1; // real part of the first sample of spectrum 1: 1 in every channel
        block.voltages[16] = -1; // and of spectrum 2
        const cpu = await openCpu({ isa, threads: 1 });
        // 127.5 is halfway and is rounded to the even 128; 127.25 to 127; 2⁴⁰ exceeds 32-bit integers
        for (const [gain, passed] of [
          [127.25, 0],
          [127.5, 8],
          [2 ** 40, 8],
        ]) {
          const plan = planChannelise({ ...base, ...types, gains: gain });
          const { blocks, saturated } = await channeliseBlocks(plan, cpu, [block]);
          assert.equal(saturated, passed, `gain ${gain}`);
          // [c][t] of 4 × 20 spectra: spectra 0…2 of channel 2
          assert.deepEqual([...blocks[0].spectra.subarray(80, 86)], [0, 0, 127, 0, -127, 0]);
        }
        await cpu.close();
      });

      it('leaves zeros from the last spectrum to the end of its tile', async () => {
        const sizes = { channels: 8, taps: 2, inputs: 17, polarisations: 1, blockSamples: 800 } as const;
        const plan = planChannelise({ ...sizes, inputType: 'ci8', outputType: 'ci8' });
        const cpu = await openCpu({ isa, threads: 2 });
        const out = cpu.allocateSpectra(plan.output); // 100 spectra: two tiles of 64
        const garbage = allocateSpectra('ci8', 8, 17, 100).fill(85);
        for (const samples of [88, 528]) {
          await out.write(garbage, 100);
          const channeliser = await prepareChanneliser(plan, cpu);
          await channeliser.run(noise('ci8', 17, samples, randomStream(44)), out);
          const made = out.samples;
          assert.equal(made, samples / 8 - 1); // 10 spectra, then 65
          // Read past the end: the first 64, or all 100, of each row [c][a].
          const seen = made < 64 ? 64 : 100;
          out.fill(seen, []);
          const rows = await out.read();
          for (let row = 0; row < 8 * 17; row++) {
            const rest = rows.subarray((row * seen + made) * 2, (row + 1) * seen * 2);
            assert.ok(
              rest.every((part) => part === 0),
              `row ${row} after ${made}`,
            );
          }
          await channeliser.close();
        }
        await cpu.close();
      });

      it('refuses what is not a number, and goes on as if it had not been there', async () => {
        const sizes = { channels: 4, taps: 2, inputs: 2, polarisations: 1, blockSamples: 20 } as const;
        const plan = planChannelise({ ...sizes, inputType: 'cf32', outputType: 'cf32' });
        const cpu = await openCpu({ isa, threads: 2 });
        const channeliser = await prepareChanneliser(plan, cpu);
        const out = cpu.allocateSpectra(plan.output);
        const good = noise('cf32', 2, 20, randomStream(43));
        const bad = noise('cf32', 2, 20, randomStream(43));
        await channeliser.run(good, out);
        for (const value of [Infinity, -Infinity, NaN]) {
          bad.voltages[2 * (20 + 7) + 1] = value;
          const words = new RegExp(`input 1, sample 7 of the block is ${value};`);
          await assert.rejects(channeliser.run(bad, out), words);
        }
        await channeliser.run(good, out);
        const { blocks } = await channeliseBlocks(plan, cpu, [good, good]);
        assert.deepEqual(await out.read(), blocks[1].spectra);
        await cpu.close();
      });
    });
  }
});
