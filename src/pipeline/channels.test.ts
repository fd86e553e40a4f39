import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../core/instant.js';
import type { VoltageRecording } from '../formats/format.js';
import { planChannels, usualSpectra } from './channels.js';

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
    // 7 of four bits is as loud as 127 of eight.
    assert.ok(Math.abs(gainOf({ type: 'ci8', bits: 4 }) / whole - 127 / 7) < 1e-12);
  });

  it('stay floats where the recording is of floats, whose level nothing tells', () => {
    assert.equal(usualSpectra(recording({ type: 'f32', bits: 2 })), 'cf32');
    assert.equal(usualSpectra(recording({ type: 'cf32' })), 'cf32');
    assert.equal(usualSpectra(recording({ type: 'ci16' })), 'ci8');
  });
});
