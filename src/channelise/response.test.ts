import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { channeliseBlocks } from './cases.js';
import { planChannelise, type ChanneliseOptions } from './plan.js';
import { filterResponse } from './response.js';
import { streamOf } from './samples.testing.js';

const options: ChanneliseOptions = {
  channels: 256,
  taps: 8,
  window: { kind: 'hann' },
  inputs: 1,
  polarisations: 1,
  inputType: 'cf32',
  outputType: 'cf32',
  blockSamples: 1,
};
const near = (actual: number, expected: number, tolerance: number): void => {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual}, not ${expected} ± ${tolerance}`);
};

describe('filter response', () => {
  it('a plain DFT loses the textbook 3.92 dB at a channel’s edge', () => {
    const response = filterResponse(planChannelise({ ...options, taps: 1, window: { kind: 'rectangular' } }));
    // 1/(P sin(π/2P)) → 2/π for long transforms
    near(response.dftEdgeLossDb, 20 * Math.log10(Math.PI / 2), 1e-3);
    assert.equal(response.dftEdgeLossDb.toFixed(2), '3.92');
    // One rectangular tap is the plain DFT.
    near(response.edgeLossDb, response.dftEdgeLossDb, 1e-9);
    near(response.dftScallopingDb[50], -response.dftEdgeLossDb, 1e-9);
    near(response.dftScallopingDb[0], 0, 1e-12);
    near(response.dftScallopingDb[100], 0, 1e-12);
    // Midway between channels the DFT's k-th neighbour has a response of 1/(π(k + ½)): at 4.5 that is −23.0 dB.
    const at = response.leakageOffsetChannels.indexOf(4.5);
    near(response.dftLeakageDb[at], -20 * Math.log10(Math.PI * 4.5), 0.01);
  });

  it('of few channels is that of the ring they make: a channel does not leak into itself', () => {
    const nominal = filterResponse(planChannelise({ ...options, channels: 64 })).leakageBeyondDb;
    for (const channels of [3, 5, 8, 15]) {
      const { leakageBeyondDb, dftLeakageBeyondDb } = filterResponse(
        planChannelise({ ...options, channels }),
      );
      assert.ok(leakageBeyondDb < nominal + 6, `${channels} channels: ${leakageBeyondDb} dB`);
      assert.ok(dftLeakageBeyondDb < -9, `${channels} channels: ${dftLeakageBeyondDb} dB`);
    }
  });

  it('finds the loudest of many narrow lobes, which rounded taps make of a long filter', () => {
    for (const [channels, taps] of [
      [8, 256],
      [7, 200],
      [1000, 3],
    ]) {
      const plan = planChannelise({ ...options, channels, taps, inputType: 'ci8' });
      const h = Float64Array.from(plan.kernel.taps);
      const level = (offset: number): number => {
        let [re, im] = [0, 0];
        h.forEach((tap, n) => {
          re += tap * Math.cos((2 * Math.PI * offset * n) / channels);
          im += tap * Math.sin((2 * Math.PI * offset * n) / channels);
        });
        return Math.hypot(re, im);
      };
      const step = 1 / (8 * taps);
      let loudest = 0;
      for (let offset = 1.5; offset <= Math.min(8, channels / 2); offset += step)
        loudest = Math.max(loudest, level(offset));
      near(filterResponse(plan).leakageBeyondDb, 20 * Math.log10(loudest / level(0)), 0.2);
    }
  });

  it('is refused for a filter that passes nothing where it should', () => {
    const coefficients = Float64Array.from({ length: 8 }, (_, n) => (n < 4 ? 1 : -1));
    const { inputs, polarisations, inputType, outputType, blockSamples } = options;
    const others = { inputs, polarisations, inputType, outputType, blockSamples };
    const plan = planChannelise({ ...others, channels: 4, taps: 2, coefficients });
    assert.throws(() => filterResponse(plan), /deaf at the middle of a channel/);
  });

  it('has a curve through all that, fine enough for every lobe', () => {
    const { curveOffsetChannels: x, ...response } = filterResponse(planChannelise(options));
    // Eight taps make eight lobes a channel, with eight points each.
    assert.deepEqual([x[0], x[1], x[x.length - 1]], [0, 1 / 64, 8]);
    near(response.curveDb[0], 0, 1e-9);
    near(response.curveDb[32], -response.edgeLossDb, 1e-9);
    for (const offset of [0.5, 1.5, 7.5]) {
      const at = response.leakageOffsetChannels.indexOf(offset);
      near(response.curveDb[64 * offset], response.leakageDb[at], 1e-9);
      near(response.dftCurveDb[64 * offset], response.dftLeakageDb[at], 1e-9);
    }
    // A long DFT's response to a tone δ channels away is sinc δ.
    near(
      response.dftCurveDb[80],
      20 * Math.log10(Math.abs(Math.sin(1.25 * Math.PI) / (1.25 * Math.PI))),
      1e-3,
    );
  });

  it('the polyphase filter is flatter inside its channel and quieter outside', () => {
    const response = filterResponse(planChannelise(options), { steps: 100, neighbours: 12 });
    // A quarter of a channel off: sinc(1/4) = −0.91 dB for the DFT, almost nothing for eight taps.
    near(response.dftScallopingDb[25], 20 * Math.log10(Math.SQRT1_2 / (Math.PI / 4)), 1e-3);
    assert.ok(response.scallopingDb[25] > -0.1);
    // The sinc's passband ends on the channel's edge: half the amplitude, 6.02 dB.
    near(response.edgeLossDb, 20 * Math.log10(2), 0.05);
    // Two channels and more away from the tone.
    response.leakageOffsetChannels.forEach((offset, n) => {
      if (Math.abs(offset) < 2) return;
      assert.ok(response.leakageDb[n] < -60, `${response.leakageDb[n]} dB at ${offset}`);
      assert.ok(response.dftLeakageDb[n] > -45);
    });
  });

  it('a passband wider than the channel loses less than the DFT everywhere', () => {
    const response = filterResponse(planChannelise({ ...options, passbandChannels: 1.25 }));
    response.scallopingDb.forEach((level, n) => {
      assert.ok(level >= response.dftScallopingDb[n] - 0.1, `${level} dB at step ${n}`);
    });
    assert.ok(response.edgeLossDb < 1.5);
  });

  it('taps rounded to 16 bits keep the leakage below −80 dB', () => {
    const exact = filterResponse(planChannelise({ ...options, window: { kind: 'kaiser', beta: 9 } }));
    const rounded = filterResponse(
      planChannelise({ ...options, window: { kind: 'kaiser', beta: 9 }, inputType: 'ci8' }),
    );
    exact.leakageDb.forEach((level, n) => {
      // Rounding adds at most ½·√(T·P/6)/32767 of a tap's weight: some −100 dB relative to the sum.
      assert.ok(Math.max(level, -80) - Math.max(rounded.leakageDb[n], -80) < 0.1);
    });
  });

  it('real sampling has the same shape', () => {
    const complex = filterResponse(planChannelise(options));
    const real = filterResponse(planChannelise({ ...options, channels: 128, inputType: 'f32' }));
    real.scallopingDb.forEach((level, n) => {
      near(level, complex.scallopingDb[n], 1e-9);
    });
  });

  it('is what a tone through the channeliser meets', async () => {
    // A tone 0.3 channels above the centre of channel 16 + 3 of 32.
    const plan = planChannelise({ ...options, channels: 32, gains: 1, blockSamples: 32 * 8 });
    const tone = streamOf('cf32', 1, 32 * 8, () => 0);
    for (let t = 0; t < tone.samples; t++) {
      tone.voltages[2 * t] = Math.cos((2 * Math.PI * 3.3 * t) / 32);
      tone.voltages[2 * t + 1] = Math.sin((2 * Math.PI * 3.3 * t) / 32);
    }
    const { blocks } = await channeliseBlocks(plan, openReference(), [tone]);
    const [re, im] = blocks[0].spectra.subarray(19 * 2, 19 * 2 + 2);
    near(20 * Math.log10(Math.hypot(re, im)), filterResponse(plan).scallopingDb[30], 1e-4);
  });
});
