import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gainsCA } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import type { GainsFile } from '../../formats/index.js';
import { gainsAtMoment } from './over-time.js';
import { fitDelays, oneGain } from './over-band.js';

const frequenciesHz = Float64Array.from({ length: 48 }, (_, c) => 1.39e9 + c * 250e3);

/** size·e^(i(φ − 2π(f − f₀)τ)) of each input. */
function gainsOf(
  inputs: readonly { readonly size: number; readonly phaseRad: number; readonly delayS: number }[],
) {
  const middleHz = (frequenciesHz[0] + frequenciesHz[47]) / 2;
  const gains = new Float64Array(2 * 48 * inputs.length);
  frequenciesHz.forEach((frequencyHz, c) => {
    inputs.forEach(({ size, phaseRad, delayS }, a) => {
      const angle = phaseRad - 2 * Math.PI * (frequencyHz - middleHz) * delayS;
      gains.set([size * Math.cos(angle), size * Math.sin(angle)], 2 * (c * inputs.length + a));
    });
  });
  return { gains: gainsCA(gains, 48, inputs.length), solved: new Uint8Array(48 * inputs.length).fill(1) };
}

it('delays come out to a millionth of a nanosecond, up to half a turn between channels', () => {
  const inputs = [
    { size: 1, phaseRad: 0, delayS: 0 },
    { size: 2.5, phaseRad: 3.1, delayS: 123.456789e-9 },
    { size: 0.3, phaseRad: -1, delayS: -1.9e-6 },
    { size: 1, phaseRad: 1, delayS: 0.7e-12 },
  ];
  const solved = gainsOf(inputs);
  const { delays, gains } = fitDelays(solved, frequenciesHz);
  delays.forEach(({ delayS, size, residual }, a) => {
    assert.ok(Math.abs(delayS - inputs[a].delayS) < 1e-15, `input ${a}: ${delayS}`);
    assert.ok(Math.abs(size - inputs[a].size) < 1e-9 && residual < 1e-9);
  });
  solved.gains.forEach((value, n) => {
    assert.ok(Math.abs(value - gains[n]) < 1e-8);
  });
});

it('an input with missing channels has a delay, one with a single channel none', () => {
  const solved = gainsOf([
    { size: 1, phaseRad: 0, delayS: 3e-9 },
    { size: 1, phaseRad: 0, delayS: 3e-9 },
  ]);
  for (let c = 0; c < 48; c++) {
    if (c % 3 === 0) solved.solved[2 * c] = 0;
    if (c !== 7) solved.solved[2 * c + 1] = 0;
  }
  const { delays, solved: known } = fitDelays(solved, frequenciesHz);
  assert.deepEqual(
    delays.map(({ input }) => input),
    [0],
  );
  assert.ok(Math.abs(delays[0].delayS - 3e-9) < 1e-15);
  assert.deepEqual([known[0], known[1]], [1, 0]);
});

it('one gain for the band is the mean of its channels', () => {
  const gains = gainsCA(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8), 2, 2);
  const { gains: one, solved } = oneGain({ gains, solved: Uint8Array.of(1, 1, 1, 0) }, 2);
  assert.deepEqual([...one], [3, 4, 3, 4, 3, 4, 3, 4]);
  assert.deepEqual([...solved], [1, 1, 1, 1]);
});

it('between two times gains are straight in size and phase, outside they stay', () => {
  const at = (seconds: number, size: number, deg: number) => ({
    time: instant(seconds),
    gains: gainsCA(
      Float64Array.of(size * Math.cos((deg * Math.PI) / 180), size * Math.sin((deg * Math.PI) / 180)),
      1,
      1,
    ),
    solved: Uint8Array.of(1),
    solutions: [],
  });
  const file: GainsFile = {
    telescope: 'one',
    stations: ['a'],
    polarisations: 1,
    frequenciesHz: Float64Array.of(1e9),
    referenceStation: 0,
    sources: [],
    history: [],
    ...at(100, 1, 170),
    later: [at(110, 3, -170), at(120, 3, -170)],
  };
  const read = (seconds: number): number[] => {
    const { gains } = gainsAtMoment(file, instant(seconds));
    return [Math.hypot(gains[0], gains[1]), (Math.atan2(gains[1], gains[0]) * 180) / Math.PI];
  };
  const near = (got: number[], wanted: number[]): void => {
    got.forEach((value, n) => {
      assert.ok(Math.abs(value - wanted[n]) < 1e-9, `${got.join()} not ${wanted.join()}`);
    });
  };
  near(read(50), [1, 170]);
  near(read(102.5), [1.5, 175]); // a quarter of 20°, the short way across 180°
  near(read(107.5), [2.5, -175]);
  near(read(110), [3, -170]);
  near(read(999), [3, -170]);
});
