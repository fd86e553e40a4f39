/**
 * Powers summed by the channeliser on a card, against a plain count over its spectra. Skipped without a card, with a
 * message.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import { powersBytesOf, type PowerCells } from '../../backend/cuda/power-cells.js';
import type { CudaSpectraBlock } from '../../backend/cuda/spectra.js';
import type { CudaSession } from '../../backend/cuda/session.js';
import { plainSums, sumsOfCells } from '../../backend/cuda/testing/power-sums.js';
import { downloadInto, uploadInto } from '../../backend/cuda/transfer.js';
import { allocateSpectra } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { randomStream } from '../../core/random.js';
import { cutEvenly, SUMMED_AT_ONCE } from '../../core/windows.js';
import { planChannelise, type ChanneliseOptions } from '../plan.js';
import { cut, fullScale, noise, withGaps } from '../samples.testing.js';
import { prepareCudaChanneliser } from './prepare.js';

const presence = describeCuda();
if (!presence.present)
  it('powers of the channeliser on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
else describe('powers beside what the channeliser makes on a card', powersOnCard);

/** A flagger's windows have so many spectra. */
const WINDOW = 128;
/** sums : [w][c][a][S1, S2] that the channeliser stored beside the block. */
async function madeSums(
  session: CudaSession,
  { shape, powersBuffer }: CudaSpectraBlock,
  powers: PowerCells,
): Promise<Float64Array> {
  const { channels, inputs } = shape;
  assert.ok(powersBuffer);
  const places = new Int32Array(channels);
  await downloadInto(session, powers.channels, places);
  assert.deepEqual(
    places.toSorted(),
    places.map((_, c) => c),
  );
  const words = new BigUint64Array(powers.cells * inputs * channels);
  await downloadInto(session, powersBuffer, words);
  return sumsOfCells(words, shape, powers, places);
}

function powersOnCard(): void {
  let cuda: CudaBackend;
  before(async () => {
    cuda = await openCuda();
  });
  after(() => cuda.close());

  /** Spectra equal those made without powers, powers are right; `isMade` is whether there are any. */
  async function agree(
    options: ChanneliseOptions,
    blocks: readonly VoltageBlock[],
    isMade: boolean,
  ): Promise<void> {
    const plan = planChannelise(options);
    const { session } = cuda;
    const plain = cuda.allocateSpectra(plan.output);
    const shape = { ...plan.output, powers: WINDOW };
    const out = cuda.allocateSpectra(shape);
    const made = (): PowerCells | undefined => out.powers;
    const channelisers = [
      await prepareCudaChanneliser(plan, cuda),
      await prepareCudaChanneliser(plan, cuda, { powers: WINDOW }),
    ];
    const poison = new Uint8Array(powersBytesOf(shape)).fill(0x55);
    const garbage = allocateSpectra(plan.outputType, plan.channels, plan.inputs, plan.capacity).fill(85);
    for (const block of blocks) {
      await channelisers[0].run(block, plain);
      await out.write(garbage, plan.capacity);
      assert.equal(made(), undefined);
      if (out.powersBuffer) await uploadInto(session, out.powersBuffer, poison);
      await channelisers[1].run(block, out);
      assert.deepEqual([out.samples, out.gaps], [plain.samples, plain.gaps]);
      assert.deepEqual(await out.read(), await plain.read());
      assert.equal(plain.powers, undefined);
      if (out.samples === 0) continue;
      const powers = made();
      assert.equal(powers !== undefined, isMade);
      if (!powers || !out.powersBuffer) continue;
      const sums = await madeSums(session, out, powers);
      const edges = cutEvenly(out.samples, powers.cells / powers.perWindow, SUMMED_AT_ONCE);
      const expected = plainSums(await out.read(), plan.output, edges);
      if (plan.outputType === 'cf32') {
        const isNear = (sum: number, n: number): boolean => Math.abs(sum - expected[n]) <= 2e-6 * expected[n];
        assert.ok(sums.every(isNear), `sum ${sums.findIndex((sum, n) => !isNear(sum, n))}`);
      } else assert.deepEqual(sums, expected);
    }
    assert.equal(channelisers[1].saturated, channelisers[0].saturated);
    // Blocks without memory for powers get spectra all the same.
    channelisers[1].reset();
    await channelisers[1].run(blocks[0], plain);
    assert.equal(plain.powers, undefined);
    for (const one of [...channelisers, plain, out]) await one.close();
  }

  const one = { polarisations: 1, inputType: 'ci8', outputType: 'ci8' } as const;
  const float = { ...one, outputType: 'cf32' } as const;
  const shapes: readonly (Omit<ChanneliseOptions, 'blockSamples'> & { spectra: number; isMade: boolean })[] =
    [
      { ...one, channels: 1024, taps: 8, inputs: 3, spectra: 290, isMade: true },
      { ...one, channels: 1024, taps: 16, inputs: 2, spectra: 48, isMade: true },
      { ...one, channels: 1024, taps: 8, inputs: 2, outputType: 'ci4', spectra: 167, isMade: true },
      { ...one, channels: 4096, taps: 8, inputs: 3, spectra: 215, isMade: true },
      { ...one, channels: 4096, taps: 11, inputs: 2, outputType: 'ci4', spectra: 16, isMade: true },
      // General kernels: one pass, another number of threads, real samples, two passes; rows too long for two threads.
      { ...one, channels: 256, taps: 4, inputs: 3, spectra: 333, isMade: true },
      { ...one, channels: 1000, taps: 4, inputs: 2, outputType: 'ci4', spectra: 201, isMade: true },
      { ...one, channels: 512, taps: 4, inputs: 3, inputType: 'i8', spectra: 210, isMade: true },
      { ...one, channels: 8192, taps: 3, inputs: 2, spectra: 45, isMade: true },
      { ...one, channels: 4096, taps: 3, inputs: 1, inputType: 'i16', spectra: 33, isMade: true },
      { ...one, channels: 64, taps: 4, inputs: 3, spectra: 133, isMade: false },
      { ...float, channels: 1024, taps: 4, inputs: 2, spectra: 137, isMade: true },
      { ...float, channels: 256, taps: 8, inputs: 3, spectra: 64, isMade: true },
      { ...float, channels: 1000, taps: 4, inputs: 2, inputType: 'ci16', spectra: 41, isMade: true },
      { ...float, channels: 4095, taps: 4, inputs: 1, inputType: 'cf32', spectra: 50, isMade: true },
      { ...float, channels: 512, taps: 4, inputs: 2, inputType: 'i8', spectra: 20, isMade: false },
      { ...float, channels: 8192, taps: 4, inputs: 1, spectra: 20, isMade: false },
    ];
  for (const { spectra, isMade, ...shape } of shapes) {
    const { channels, taps, inputs, inputType, outputType } = shape;
    const samples = (spectra + taps - 1) * channels;
    const options = { ...shape, blockSamples: samples };
    it(`${channels} channels, ${taps} taps to ${outputType}: noise, in blocks of any length`, async () => {
      const random = randomStream(62, channels + taps);
      const whole = noise(inputType, inputs, 2 * samples, random);
      await agree(options, cut(whole, [samples, 5 * channels + 7, samples - 5 * channels - 7]), isMade);
    });
    it(`${channels} channels, ${taps} taps to ${outputType}: at the rails, and with spectra missing`, async () => {
      const gap = { firstInput: 0, endInput: 1, firstSample: 20 * channels, endSample: 23 * channels };
      await agree(options, [fullScale(inputType, inputs, samples, randomStream(64))], isMade);
      await agree(options, [withGaps(noise(inputType, inputs, samples, randomStream(63)), [gap])], isMade);
    });
  }
}
