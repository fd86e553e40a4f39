import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../core/instant.js';
import { inputPowers } from './input-powers.js';
import type { LookedBlock } from './voltages.js';

const close = (a: number, b: number): void => {
  assert.ok(Math.abs(a - b) < 1e-9, `${a} ${b}`);
};

describe('inputs over time', () => {
  it('have the power of what arrived, and the share of what did not', () => {
    const samples = 480;
    // Two complex inputs; input 1 is three times as strong, and lacks samples 3 and 4: half of bin 1 and of bin 2.
    const elements = new Int8Array(2 * 2 * samples);
    for (let t = 0; t < samples; t++) {
      elements.set([3, 4], 2 * t);
      if (t < 3 || t > 4) elements.set([9, 12], 2 * (samples + t));
    }
    const block: LookedBlock = {
      start: instant(0),
      samples,
      channels: 1,
      inputs: 2,
      elements,
      gaps: [{ firstInput: 1, endInput: 2, firstChannel: 0, endChannel: 1, firstSample: 3, endSample: 5 }],
    };
    const { bins, powerDb, lost } = inputPowers({ type: 'ci8' }, block);
    assert.equal(bins, 240);
    // (9 + 16)/2 = 12.5, and nine times as much
    for (const bin of [0, 1, 2, 239]) close(powerDb[bin], 10 * Math.log10(12.5));
    for (const bin of [0, 1, 2, 239]) close(powerDb[240 + bin], 10 * Math.log10(112.5));
    assert.deepEqual([...lost.subarray(240, 244)], [0, 0.5, 0.5, 0]);
    assert.ok(lost.subarray(0, 240).every((fraction) => fraction === 0));
  });

  it('are over all channels, and nothing where nothing arrived', () => {
    const samples = 4;
    // [c][a][t], real: channel 0 of amplitude 1, channel 1 of amplitude 3; sample 2 is missing in both, 3 in channel 1.
    const elements = Float32Array.of(1, 1, 0, 1, 3, 3, 0, 0);
    const gap = { firstInput: 0, endInput: 1, firstChannel: 0, endChannel: 2, firstSample: 2, endSample: 3 };
    const block: LookedBlock = {
      start: instant(0),
      samples,
      channels: 2,
      inputs: 1,
      elements,
      gaps: [gap, { ...gap, firstChannel: 1, firstSample: 3, endSample: 4 }],
    };
    const { powerDb, lost } = inputPowers({ type: 'f32' }, block);
    close(powerDb[0], 10 * Math.log10((1 + 9) / 2));
    assert.ok(Number.isNaN(powerDb[2]));
    close(powerDb[3], 0);
    assert.deepEqual([...lost], [0, 0, 1, 0.5]);
  });
});
