import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../core/axes.js';
import { instant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { randomStations, zenithAxes } from './cases.js';
import { imageVisibilities, planImage } from './index.js';

describe('the beam', () => {
  it('of stations on a slope and on hills is what a source at the centre looks like, by a direct Fourier sum', () => {
    // A slope of 10° and bumps of half a metre at 60 MHz: heights change phases by more than a radian.
    const stationsM = randomStations(5, 14, 30).map(({ x, y }, s) => ({
      x,
      y,
      z: Math.tan(Math.PI / 18) * x + 0.5 * Math.sin(3 * s),
    }));
    const frequencyHz = 60e6;
    const plan = planImage({
      pixels: 64,
      field: { kind: 'field', widthDeg: 60 },
      stationsM,
      axes: zenithAxes,
      frequenciesHz: Float64Array.of(frequencyHz),
      polarisations: 1,
      kernel: { kind: 'fitted', size: 7 },
    });
    const baselines = baselineCount(14);
    const counts = countsCB(
      Float64Array.from({ length: baselines }, (_, b) => 1 + (b % 4)),
      1,
      baselines,
    );
    const { beam } = imageVisibilities(plan, [
      {
        start: instant(0),
        durationS: 1,
        channels: 1,
        stations: 14,
        polarisations: 1,
        counts,
        visibilities: visibilitiesCBPP(new Float64Array(2 * baselines), 1, baselines, 1),
        flaggedInputs: new Uint8Array(14),
      },
    ]);
    // Σ w cos(2π f/c (r_i − r_j)·(ŝ − centre)) / Σ w over pairs of different stations
    const direct = (l: number, m: number): number => {
      const n = Math.sqrt(1 - l * l - m * m) - 1;
      let [sum, weights] = [0, 0];
      for (let i = 0; i < 14; i++) {
        for (let j = 0; j < i; j++) {
          const weight = counts[baselineIndex(i, j)];
          const [a, b] = [stationsM[i], stationsM[j]];
          const pathM = (a.x - b.x) * l + (a.y - b.y) * m + (a.z - b.z) * n;
          sum += weight * Math.cos((2 * Math.PI * frequencyHz * pathM) / SPEED_OF_LIGHT_M_PER_S);
          weights += weight;
        }
      }
      return sum / weights;
    };
    let worst = 0;
    assert.ok(beam);
    beam.forEach((value, at) => {
      if (Number.isNaN(value)) return;
      const [row, column] = [Math.floor(at / 64), at % 64];
      const wanted = direct((column - 32) * plan.pixelSize, (row - 32) * plan.pixelSize);
      worst = Math.max(worst, Math.abs(value - wanted));
    });
    // Kernels of 7 × 7 cells represent heights of this size to a few parts in a thousand; without the centre's phase
    // the beam would be wrong by more than half.
    assert.ok(worst < 0.02, `off by ${worst}`);
    assert.ok(Math.abs(beam[32 * 64 + 32] - 1) < 0.005, `${beam[32 * 64 + 32]} at its centre`);
  });
});
