/** Powers beside what the channeliser makes on a card, against a plain count over its spectra. Skipped without one, saying so. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import {
  CELL_SPECTRA,
  powersBytesOf,
  type CudaSpectraBlock,
  type PowerCells,
} from '../../backend/cuda/spectra.js';
import { downloadInto, uploadInto } from '../../backend/cuda/transfer.js';
import { allocateSpectra } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import { randomStream } from '../../core/random.js';
import { planChannelise, type ChanneliseOptions } from '../plan.js';
import { cut, fullScale, noise, withGaps } from '../samples.js';
import { prepareCudaChanneliser } from './prepare.js';

const presence = describeCuda();
if (!presence.present)
  it('powers of the channeliser on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
else describe('powers beside what the channeliser makes on a card', powersOnCard);

/** Of powers.cuh. */
const S1_BITS = 20n;

/** cells : [t / 16][a][k low][k high], packed as powers.cuh does. */
async function expectedCells(block: CudaSpectraBlock, low: number): Promise<BigUint64Array> {
  const { shape, samples } = block;
  const { channels, inputs, type } = shape;
  const spectra = await block.read();
  const parts = type === 'ci4' ? [highNibble, lowNibble] : undefined;
  const partOf = (sample: number, part: number): number =>
    parts ? parts[part](spectra[sample]) : spectra[2 * sample + part];
  const high = channels / low;
  const cells = new BigUint64Array(Math.ceil(samples / CELL_SPECTRA) * inputs * channels);
  for (let c = 0; c < channels; c++) {
    for (let a = 0; a < inputs; a++) {
      for (let t = 0; t < samples; t++) {
        const sample = (c * inputs + a) * samples + t;
        const power = partOf(sample, 0) ** 2 + partOf(sample, 1) ** 2;
        const cell =
          (Math.floor(t / CELL_SPECTRA) * inputs + a) * channels + (c % low) * high + Math.floor(c / low);
        cells[cell] += (BigInt(power * power) << S1_BITS) + BigInt(power);
      }
    }
  }
  return cells;
}

function powersOnCard(): void {
  let cuda: CudaBackend;
  before(async () => {
    cuda = await openCuda();
  });
  after(() => cuda.close());

  /** Spectra are those made without powers, powers are theirs; `isMade` says whether there are any. */
  async function agree(
    options: ChanneliseOptions,
    blocks: readonly VoltageBlock[],
    isMade: boolean,
  ): Promise<void> {
    const plan = planChannelise(options);
    const { session } = cuda;
    const plain = cuda.allocateSpectra(plan.output);
    const shape = { ...plan.output, powers: true };
    const out = cuda.allocateSpectra(shape);
    const made = (): PowerCells | undefined => out.powers;
    const channelisers = [
      await prepareCudaChanneliser(plan, cuda),
      await prepareCudaChanneliser(plan, cuda, { powers: true }),
    ];
    const poison = new Uint8Array(powersBytesOf(shape)).fill(0x55);
    const garbage = allocateSpectra(plan.outputType, plan.channels, plan.inputs, plan.capacity).fill(85);
    for (const block of blocks) {
      await channelisers[0].run(block, plain);
      await out.write(garbage, plan.capacity);
      assert.equal(made(), undefined);
      if (out.powersRoom) await uploadInto(session, out.powersRoom, poison);
      await channelisers[1].run(block, out);
      assert.deepEqual([out.samples, out.gaps], [plain.samples, plain.gaps]);
      assert.deepEqual(await out.read(), await plain.read());
      assert.equal(plain.powers, undefined);
      if (out.samples === 0) continue;
      const powers = made();
      assert.equal(powers !== undefined, isMade);
      if (!powers || !out.powersRoom) continue;
      const expected = await expectedCells(out, powers.low);
      const cells = new BigUint64Array(expected.length);
      await downloadInto(session, out.powersRoom, cells);
      assert.deepEqual(cells, expected);
    }
    assert.equal(channelisers[1].saturated, channelisers[0].saturated);
    // Whoever has no room for them gets spectra all the same.
    channelisers[1].reset();
    await channelisers[1].run(blocks[0], plain);
    assert.equal(plain.powers, undefined);
    for (const one of [...channelisers, plain, out]) await one.close();
  }

  const one = { polarisations: 1, inputType: 'ci8', outputType: 'ci8' } as const;
  const shapes = [
    { ...one, channels: 1024, taps: 8, inputs: 3, spectra: 37, isMade: true },
    { ...one, channels: 1024, taps: 16, inputs: 2, spectra: 48, isMade: true },
    { ...one, channels: 1024, taps: 8, inputs: 2, outputType: 'ci4' as const, spectra: 17, isMade: true },
    { ...one, channels: 4096, taps: 8, inputs: 3, spectra: 35, isMade: true },
    { ...one, channels: 4096, taps: 11, inputs: 2, outputType: 'ci4' as const, spectra: 16, isMade: true },
    { ...one, channels: 256, taps: 4, inputs: 3, spectra: 33, isMade: false },
    { ...one, channels: 1024, taps: 4, inputs: 2, outputType: 'cf32' as const, spectra: 20, isMade: false },
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
