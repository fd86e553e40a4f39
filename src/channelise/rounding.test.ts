import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rounding } from './rounding.js';

const near = (value: number, wanted: number, within: number): void => {
  assert.ok(Math.abs(value - wanted) <= within, `${value} is not ${wanted}`);
};

void it('of two levels is what everyone knows: 2/π', () => {
  // With a rail of 1 and a very large rms only the sign is left.
  near(rounding(1e6, 1).efficiency, 2 / Math.PI, 1e-6);
});

void it('of fine levels adds a twelfth of a level to the power and takes as much of the efficiency', () => {
  const { efficiency, powerBias } = rounding(10, 127);
  near(powerBias, 1 / 12 / 100, 1e-9);
  near(efficiency, 1 / (1 + 1 / 12 / 100), 1e-9);
});

void it('of 15 levels: by numerical integration over the staircase', () => {
  for (const rms of [0.3, 1, 2.5, 2.95, 6]) {
    let [cross, square] = [0, 0];
    const steps = 400_000;
    for (let n = 0; n < steps; n++) {
      const x = ((n + 0.5) / steps) * 10;
      const weight = (2 * Math.exp((-x * x) / 2) * (10 / steps)) / Math.sqrt(2 * Math.PI);
      const level = Math.min(7, Math.round(rms * x));
      cross += weight * x * level;
      square += weight * level * level;
    }
    const { efficiency, powerBias } = rounding(rms, 7);
    near(efficiency, cross ** 2 / square, 2e-5);
    near(powerBias, square / rms ** 2 - 1, 2e-5);
  }
});

void it('of what is below half a level leaves nothing', () => {
  near(rounding(0.1, 7).efficiency, 0, 0.01);
});
