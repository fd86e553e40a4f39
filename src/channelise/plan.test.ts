import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant, secondsBetween } from '../core/instant.js';
import {
  binOfChannel,
  channelFrequenciesHz,
  channelWidthHz,
  outputFactor,
  planChannelise,
  spectrumTime,
  type ChanneliseOptions,
} from './plan.js';

const options: ChanneliseOptions = {
  channels: 4,
  taps: 2,
  window: { kind: 'rectangular' },
  inputs: 2,
  polarisations: 2,
  inputType: 'ci8',
  outputType: 'ci8',
  blockSamples: 10,
};

describe('channelise plan', () => {
  it('takes C samples a spectrum when complex, 2C when real', () => {
    const complex = planChannelise(options);
    assert.equal(complex.samplesPerSpectrum, 4);
    assert.equal(complex.capacity, 3); // ⌈10/4⌉
    assert.equal(complex.prototype.length, 8);
    assert.deepEqual(complex.output, { type: 'ci8', channels: 4, inputs: 2, capacity: 3 });
    const real = planChannelise({ ...options, inputType: 'i16' });
    assert.equal(real.samplesPerSpectrum, 8);
    assert.equal(real.capacity, 2);
    assert.equal(real.kernel.kind, 'float64');
    assert.equal(complex.kernel.kind, 'int16');
  });

  it('orders channels by rising frequency', () => {
    const bins = (channels: number, inputType: 'ci8' | 'i8'): number[] => {
      const plan = planChannelise({ ...options, channels, inputType });
      return Array.from({ length: channels }, (_, c) => binOfChannel(plan, c));
    };
    assert.deepEqual(bins(4, 'ci8'), [2, 3, 0, 1]);
    assert.deepEqual(bins(5, 'ci8'), [3, 4, 0, 1, 2]);
    assert.deepEqual(bins(4, 'i8'), [0, 1, 2, 3]);
  });

  it('knows frequencies and times', () => {
    const complex = planChannelise(options);
    assert.equal(channelWidthHz(complex, 400), 100);
    assert.deepEqual([...channelFrequenciesHz(complex, 1000, 400)], [800, 900, 1000, 1100]);
    const odd = planChannelise({ ...options, channels: 5 });
    assert.deepEqual([...channelFrequenciesHz(odd, 1000, 500)], [800, 900, 1000, 1100, 1200]);
    // Real at 800 Hz: the band is 1000 ± 200 Hz, C = 4 channels of 100 Hz from 800 Hz up.
    const real = planChannelise({ ...options, inputType: 'i8' });
    assert.equal(channelWidthHz(real, 800), 100);
    assert.deepEqual([...channelFrequenciesHz(real, 1000, 800)], [800, 900, 1000, 1100]);
    // Spectrum 3 weighs samples 12…19, whose middle is 15.5.
    const time = spectrumTime(complex, instant(100, 0.5), 3, 10);
    assert.ok(Math.abs(secondsBetween(instant(100, 0.5), time) - 1.55) < 1e-12);
  });

  it('by default white noise keeps its rms in units of full scale', () => {
    // One rectangular tap: h = 1/4 four times, Σh² = 1/4, so the gain is 2.
    const flat = { ...options, taps: 1 };
    assert.equal(planChannelise(flat).gains, 2);
    assert.equal(planChannelise({ ...flat, outputType: 'cf32' }).gains, 2);
    assert.equal(planChannelise({ ...flat, outputType: 'ci4' }).gains, (2 * 7) / 127);
    assert.equal(planChannelise({ ...flat, inputType: 'ci16' }).gains, (2 * 127) / 32767);
    assert.equal(planChannelise({ ...flat, inputType: 'cf32' }).gains, 2 * 127);
    assert.equal(planChannelise({ ...flat, inputType: 'ci16', outputType: 'cf32' }).gains, 2);
  });

  it('takes one gain or one for each input and channel', () => {
    const gains = Float64Array.from([1, 2, 3, 4, 5, 6, 7, 8]);
    const plan = planChannelise({ ...options, inputType: 'cf32', gains });
    assert.equal(outputFactor(plan, 1, 2), 7);
    assert.equal(outputFactor(planChannelise({ ...options, inputType: 'cf32', gains: 0.5 }), 1, 2), 0.5);
    const rounded = planChannelise({ ...options, gains });
    assert.equal(outputFactor(rounded, 0, 1), 2 * rounded.kernel.scale);
  });

  it('refuses what cannot be, with the value and the range', () => {
    const refused = (changes: Partial<ChanneliseOptions>, message: RegExp): void => {
      assert.throws(() => planChannelise({ ...options, ...changes }), message);
    };
    refused({ channels: 1 }, /channels is 1; give a whole number from 2 to 1048576/);
    refused({ taps: 0 }, /taps is 0; give a whole number from 1 to 256/);
    refused({ taps: 257 }, /taps is 257/);
    refused({ inputs: 3 }, /3 inputs cannot be stations of 2/);
    refused({ inputs: 0 }, /inputs is 0/);
    refused({ blockSamples: 0 }, /blockSamples is 0/);
    refused({ passbandChannels: 0 }, /the passband in channels \(front\.passband\) is 0/);
    refused({ inputFullScale: 0 }, /inputFullScale is 0/);
    refused({ coefficients: new Float64Array(8).fill(1) }, /both a window and coefficients/);
    refused({ gains: NaN }, /gain is NaN/);
    refused({ gains: 0 }, /gain is 0; give a finite number other than 0/);
    refused({ gains: new Float64Array(7) }, /7 gains .* need 8/);
    refused({ gains: new Float64Array(8).fill(Infinity, 5, 6) }, /gain of input 1, channel 1 is Infinity/);
  });
});
