import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../core/instant.js';
import type { NoiseChannel } from '../delay/index.js';
import { noiseAt, noiseGains, noiseLines, type TimedNoise } from './noise-source.js';
import type { Telescope } from '../telescope/telescope.js';

const channel = (lagSamples: number, phaseDeg: number): NoiseChannel => ({
  lagSamples,
  lagErrorSamples: 0.001,
  phaseDeg,
  phaseErrorDeg: 0.1,
  powerRatio: 4,
  coherence: 0.5,
  signalToNoise: 100,
});
const solved = (seconds: number, frequencyHz: number, second: NoiseChannel): TimedNoise => ({
  time: instant(seconds),
  frequencyHz,
  sampleRateHz: 8e6,
  frames: 3,
  solution: { samples: 1000, channels: [{ ...channel(0, 0), powerRatio: 1 }, second] },
});
const telescope = {
  name: 'two',
  polarisations: 1 as const,
  stations: [{ name: 'a' }, { name: 'b' }],
} as unknown as Telescope;

describe('the noise source of a receiver', () => {
  it('gives gains by hand: half the band away a sample late is half a turn', () => {
    const frequenciesHz = Float64Array.of(100e6, 104e6);
    const found = solved(10, 100e6, channel(1, 90));
    const { gains, solved: known } = noiseGains([found], { telescope, frequenciesHz, history: [] });
    // 2 e^(i 90°) at the tuning; 4 MHz of 8 MHz above it −180° more.
    const expected = [1, 0, 0, 2, 1, 0, 0, -2];
    expected.forEach((value, n) => {
      assert.ok(Math.abs(gains[n] - value) < 1e-12, `${n}: ${gains[n]}`);
    });
    assert.deepEqual([...known], [1, 1, 1, 1]);
  });

  it('leaves a channel without a common signal unsolved, and other tunings out', () => {
    const lost = solved(10, 100e6, { ...channel(NaN, NaN), lagErrorSamples: NaN, phaseErrorDeg: NaN });
    const frequenciesHz = Float64Array.of(100e6);
    assert.deepEqual([...noiseGains([lost], { telescope, frequenciesHz, history: [] }).solved], [1, 0]);
    assert.match(noiseLines(lost, undefined)[0], /channel 1: no common signal/);
    assert.deepEqual(noiseAt([lost, solved(11, 433e6, channel(0, 0))], frequenciesHz), [lost]);
  });

  it('reports lost coherence: a phase that jumped, round the circle too, and a lag', () => {
    const before = solved(10, 100e6, channel(0.3, 178));
    assert.equal(noiseLines(solved(20, 100e6, channel(0.31, -179)), before).length, 1);
    assert.match(noiseLines(solved(20, 100e6, channel(0.3, -160)), before)[1], /coherence was lost .*22°/);
    assert.match(noiseLines(solved(20, 100e6, channel(1.3, 178)), before)[1], /by 1\.00 samples/);
  });
});
