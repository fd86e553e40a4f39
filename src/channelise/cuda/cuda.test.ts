/**
 * The shared cases on a card, and the sizes that only its tiling could get wrong. Without a card all of it is skipped,
 * with a message; plan.test.ts has the tests that need none.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import { openReference } from '../../backend/reference.js';
import { randomStream } from '../../core/random.js';
import { channeliseBlocks, channeliseCases } from '../cases.js';
import { assertClose } from '../compare.testing.js';
import { delayShape } from '../delay-cases.js';
import { prepareCudaChanneliser } from './prepare.js';
import { planChannelise, type ChanneliseOptions } from '../plan.js';
import { cut, fullScale, noise, withGaps } from '../samples.testing.js';

const presence = describeCuda();
if (!presence.present) {
  it('the channeliser on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda', () => {
    channeliseCases(() => openCuda());
    sizes();
  });
}

function sizes(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());
  const one = { inputs: 1, polarisations: 1, inputType: 'ci8', outputType: 'ci8' } as const;

  // One block to a spectrum of 4096, inputs that open at every sample of 16 bytes, windows of few rows and many.
  for (const taps of [5, 8, 13, 16]) {
    const shape = { ...one, channels: 4096, taps, inputs: 12, blockSamples: 120_000, mostDelaySamples: 40 };
    delayShape(
      (name, body) => void it(name, body),
      () => backend,
      shape,
      37,
    );
  }

  const shapes: readonly (Omit<ChanneliseOptions, 'blockSamples'> & { readonly spectra: number })[] = [
    // Tensor cores: one window of taps and two, the ends of both, incomplete tiles, both output types.
    { ...one, channels: 1024, taps: 8, inputs: 3, spectra: 37 },
    { ...one, channels: 1024, taps: 1, spectra: 17 },
    { ...one, channels: 1024, taps: 13, outputType: 'ci4', spectra: 16 },
    { ...one, channels: 1024, taps: 14, spectra: 33 },
    { ...one, channels: 1024, taps: 16, inputs: 2, spectra: 50 },
    { ...one, channels: 1024, taps: 17, spectra: 40 },
    { ...one, channels: 1024, taps: 18, spectra: 20 },
    // One block to a spectrum of 4096: incomplete units, more of them than blocks, odd taps, taps that stay in L2.
    { ...one, channels: 4096, taps: 8, inputs: 3, spectra: 35 },
    { ...one, channels: 4096, taps: 8, inputs: 5, spectra: 900 },
    { ...one, channels: 4096, taps: 16, inputs: 2, spectra: 18 },
    { ...one, channels: 4096, taps: 1, outputType: 'ci4', spectra: 5 },
    { ...one, channels: 4096, taps: 11, spectra: 17 },
    { ...one, channels: 4096, taps: 17, inputs: 2, spectra: 40 },
    { ...one, channels: 4096, taps: 18, spectra: 6 },
    { ...one, channels: 4096, taps: 4, inputType: 'i8', spectra: 7 },
    // One pass: every radix, odd lengths, tiles of 2 to 64 spectra, incomplete rows, real samples.
    { ...one, channels: 132, taps: 8, inputs: 3, spectra: 75 },
    { ...one, channels: 143, taps: 5, inputs: 2, spectra: 40 },
    { ...one, channels: 1000, taps: 8, inputs: 2, spectra: 37 },
    { ...one, channels: 1536, taps: 3, spectra: 21 },
    { ...one, channels: 2048, taps: 8, inputs: 2, spectra: 35 },
    { ...one, channels: 2100, taps: 4, spectra: 19 },
    { ...one, channels: 1638, taps: 2, outputType: 'cf32', spectra: 11 }, // 14 · 13 · 9
    { ...one, channels: 1815, taps: 2, inputType: 'i8', spectra: 18 }, // 15 · 11 · 11
    { ...one, channels: 960, taps: 5, spectra: 20 },
    { ...one, channels: 2940, taps: 3, inputType: 'ci16', spectra: 9 },
    { ...one, channels: 512, taps: 8, inputType: 'i8', outputType: 'ci4', spectra: 70 },
    { ...one, channels: 75, taps: 7, inputType: 'i16', outputType: 'cf32', spectra: 70 },
    { ...one, channels: 4096, taps: 3, inputType: 'ci16', spectra: 17 },
    // Two passes.
    { ...one, channels: 8192, taps: 3, inputs: 2, spectra: 19 },
    { ...one, channels: 16384, taps: 4, spectra: 9 },
    { ...one, channels: 6561, taps: 2, inputType: 'i8', spectra: 4 },
    { ...one, channels: 12288, taps: 3, inputType: 'f32', outputType: 'cf32', spectra: 3 },
    { ...one, channels: 1023, taps: 3, spectra: 12 },
    { ...one, channels: 323, taps: 4, inputs: 2, spectra: 20 },
  ];
  for (const { spectra, ...options } of shapes) {
    const { channels, taps, inputType, outputType, inputs } = options;
    it(`${channels} channels, ${taps} taps, ${inputs} inputs of ${inputType} to ${outputType}, ${spectra} spectra`, async () => {
      const perSpectrum = inputType.startsWith('c') ? channels : 2 * channels;
      const samples = (spectra + taps - 1) * perSpectrum + 3;
      const plan = planChannelise({ ...options, blockSamples: samples });
      const whole = noise(inputType, inputs, samples, randomStream(41, channels, taps));
      const first = Math.floor(samples / 3);
      const blocks = cut(whole, [first]);
      const wanted = await channeliseBlocks(plan, openReference(), blocks);
      assertClose(plan, await channeliseBlocks(plan, backend, blocks), wanted);
    });
  }

  for (const channels of [1024, 4096]) {
    it(`${channels} channels: gains, full scale and gaps, and the general kernels agree`, async () => {
      const inputs = 4;
      const samples = channels * 30;
      const base = { ...one, inputs, polarisations: 2 as const, channels, taps: 8, blockSamples: samples };
      // Full scale keeps its rms with the nominal gain: up to 0.6 of that, one part in ten saturates.
      const nominal = planChannelise(base).gains;
      assert.ok(typeof nominal === 'number');
      const gains = Float64Array.from(
        { length: inputs * channels },
        (_, n) => (((n % 11) - 5) / 5) * 0.6 * nominal,
      );
      const plan = planChannelise({ ...base, gains });
      const whole = withGaps(fullScale('ci8', inputs, samples, randomStream(42)), [
        { firstInput: 1, endInput: 2, firstSample: 9 * channels + 5, endSample: 9 * channels + 6 },
      ]);
      const wanted = await channeliseBlocks(plan, openReference(), [whole]);
      const got = await channeliseBlocks(plan, backend, [whole]);
      assert.ok(wanted.saturated > 100, 'the case is meant to saturate');
      assertClose(plan, got, wanted);
      const general = await prepareCudaChanneliser(plan, backend, { kernels: 'general' });
      const out = backend.allocateSpectra(plan.output);
      await general.run(whole, out);
      assertClose(
        plan,
        {
          blocks: [{ samples: out.samples, gaps: out.gaps, spectra: await out.read() }],
          saturated: general.saturated,
          produced: general.produced,
        },
        wanted,
      );
      await general.close();
      await out.close();
    });
  }

  for (const channels of [1024, 4096]) {
    it(`${channels} channels: a gain that carries most values far past the rails`, async () => {
      const base = { ...one, inputs: 2, channels, taps: 8, blockSamples: 26 * channels };
      const nominal = planChannelise(base).gains;
      assert.ok(typeof nominal === 'number');
      const plan = planChannelise({ ...base, gains: 50 * nominal });
      const whole = noise('ci8', 2, base.blockSamples, randomStream(44, channels));
      const wanted = await channeliseBlocks(plan, openReference(), [whole]);
      assert.ok(wanted.saturated > channels * 2 * 19, 'the case is meant to saturate');
      assertClose(plan, await channeliseBlocks(plan, backend, [whole]), wanted);
    });
  }

  it('many blocks, one after another without a wait, are one stream; all is freed', async () => {
    const held = backend.session.held;
    const plan = planChannelise({ ...one, channels: 1024, taps: 8, inputs: 2, blockSamples: 20_000 });
    const whole = noise('ci8', 2, 150_000, randomStream(43));
    const inOne = await channeliseBlocks(planChannelise({ ...plan, blockSamples: 150_000 }), backend, [
      whole,
    ]);
    const pieces = await channeliseBlocks(
      plan,
      backend,
      cut(whole, [1, 20_000, 3, 19_999, 20_000, 20_000, 20_000, 20_000, 20_000]),
    );
    assert.equal(pieces.produced, inOne.produced);
    const wholeOut = inOne.blocks[0];
    let at = 0;
    for (const block of pieces.blocks) {
      for (let row = 0; row < 2048; row += 97) {
        const got = block.spectra.subarray(row * block.samples * 2, (row + 1) * block.samples * 2);
        const from = (row * wholeOut.samples + at) * 2;
        assert.deepEqual(got, wholeOut.spectra.subarray(from, from + got.length));
      }
      at += block.samples;
    }
    // Kernels and their memory live with the session; buffers, tables and events must not.
    const again = await prepareCudaChanneliser(plan, backend);
    const during = backend.session.held;
    await again.close();
    assert.ok(backend.session.held < during);
    assert.ok(backend.session.held >= held);
  });
}
