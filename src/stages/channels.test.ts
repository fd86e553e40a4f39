import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../core/instant.js';
import type { VoltageRecording } from '../formats/index.js';
import { planChannels, nominalSpectra, type ChannelSettings } from './channels.js';

const recording = (of: Pick<VoltageRecording, 'type' | 'bits'>): VoltageRecording => ({
  kind: 'voltages',
  path: 'memory',
  format: 'test',
  details: {},
  inputs: 2,
  polarisations: 1,
  samples: 1000,
  sampleRateHz: 1e6,
  centreFrequencyHz: 1e8,
  start: instant(0),
  // eslint-disable-next-line @typescript-eslint/require-await -- nothing is read
  blocks: async function* () {
    yield* [];
  },
  close: () => Promise.resolve(),
  ...of,
});
const gainOf = (of: Pick<VoltageRecording, 'type' | 'bits'>): number => {
  const { gains } = planChannels(recording(of), { channels: 16, taps: 4, outputType: 'ci8' });
  assert.ok(typeof gains === 'number');
  return gains;
};

describe('channels of a recording', () => {
  it('take full scale from the bits that were recorded', () => {
    const whole = gainOf({ type: 'ci8' });
    assert.equal(gainOf({ type: 'ci8', bits: 8 }), whole);
    // 7 in four bits is as strong as 127 in eight.
    assert.ok(Math.abs(gainOf({ type: 'ci8', bits: 4 }) / whole - 127 / 7) < 1e-12);
  });

  it('are made as asked: gain, window, passband, or a filter of one’s own', () => {
    const plan = (more: Partial<ChannelSettings>) =>
      planChannels(recording({ type: 'cf32' }), { channels: 4, taps: 2, outputType: 'cf32', ...more });
    assert.equal(plan({ gain: 0.25 }).gains, 0.25);
    const nominal = plan({}).prototype;
    assert.notDeepEqual(plan({ window: { kind: 'rectangular' } }).prototype, nominal);
    assert.notDeepEqual(plan({ passbandChannels: 0.8 }).prototype, nominal);
    const coefficients = Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    assert.deepEqual(plan({ coefficients }).prototype, coefficients);
    assert.throws(() => plan({ coefficients, window: { kind: 'hann' } }), /both a window and coefficients/);
  });

  it('come in blocks of a few megabytes, of at least a filter’s length', () => {
    const blockOf = (type: VoltageRecording['type'], inputs: number, channels: number) =>
      planChannels({ ...recording({ type }), inputs }, { channels, taps: 8, outputType: 'ci8' }).blockSamples;
    // 2²⁵ bytes for 2 inputs of 4 bytes at most are 2²² samples, whole spectra of 16 (complex) or 32 (real).
    assert.equal(blockOf('ci8', 2, 16), 2 ** 22);
    assert.equal(blockOf('i8', 2, 16), 2 ** 22);
    assert.equal(blockOf('ci8', 2, 1000), Math.floor(2 ** 22 / 1000) * 1000);
    // A thousand inputs of a million channels: eight spectra, the filter's own length, are more than that.
    assert.equal(blockOf('ci8', 1000, 2 ** 20), 8 * 2 ** 20);
  });

  it('stay floats where the recording is of floats, whose level is unknown', () => {
    assert.equal(nominalSpectra(recording({ type: 'f32', bits: 2 })), 'cf32');
    assert.equal(nominalSpectra(recording({ type: 'cf32' })), 'cf32');
    assert.equal(nominalSpectra(recording({ type: 'ci16' })), 'ci8');
  });
});
