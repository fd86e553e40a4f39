/** Simulated pulsars against delays computed by hand: arrival time at a frequency, duration and strength of a pulse. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { frequencyGrid } from './frequency-grid.js';
import { preparePulsedNoise } from './pulsars.js';
import { planWith, record, telescopeAt, frame } from './simulate.testing.js';
import { sourceAt } from './source.js';

/** Mean power of the bins from `first` on in each chunk. */
function powers(
  noise: ReturnType<typeof preparePulsedNoise>,
  [from, to]: readonly [number, number],
  chunks: readonly number[],
): number[] {
  return chunks.map((chunk) => {
    const [spectrum] = noise.draw(chunk);
    let sum = 0;
    for (let j = 2 * from; j < 2 * to; j++) sum += spectrum[j] ** 2;
    return sum / (to - from);
  });
}

// Chunks of 64 samples at 64 kHz: 1 ms. A pulse of 30 ms each 200 ms, DM 30 from 60 MHz to 60.064 MHz.
const grid = frequencyGrid({ type: 'ci8', centreFrequencyHz: 60.032e6, sampleRateHz: 64e3 }, 64);
const pulse = { periodS: 0.2, dm: 30, width: 0.15 };
const chunks = Array.from({ length: 400 }, (_, n) => n);

describe('a pulsar', () => {
  // 4149.378 s·MHz² · 30 · (1/60.008² − 1/60.064²): delays of 64.4 ms at the middle of the lowest quarter, 9.2 ms of
  // the highest.
  for (const [first, delayMs] of [
    [0, 64.398],
    [48, 9.193],
  ] as const)
    it(`arrives ${delayMs} ms late in the quarter of the band from bin ${first}`, () => {
      const noise = preparePulsedNoise({ name: 'p', pulse, fluxJy: () => 2, grid, seed: 3 });
      const made = powers(noise, [first, first + 16], chunks);
      const folded = Array.from({ length: 200 }, (_, n) => (made[n] + made[n + 200]) / 2);
      // Its middle, by the centre of gravity around the circle.
      let [re, im, total] = [0, 0, 0];
      folded.forEach((power, n) => {
        re += power * Math.cos((2 * Math.PI * (n + 0.5)) / 200);
        im += power * Math.sin((2 * Math.PI * (n + 0.5)) / 200);
        total += power;
      });
      const middleMs = (200 * ((Math.atan2(im, re) / (2 * Math.PI) + 1) % 1)) % 200;
      // A chunk of 64 samples leaks power from the other quarters, which arrive tens of milliseconds earlier or later.
      assert.ok(Math.abs(middleMs - (15 + delayMs)) < 1.5, `${middleMs} ms`);
      // The mean is its flux, in the scale of a chunk of N bins: S/N.
      assert.ok(Math.abs(total / 200 - 2 / 64) < 0.08 * (2 / 64), String(total / 200));
      // 30 ms plus the smearing over a quarter of the band: 18.4 ms. Outside, little more than that leakage is
      // received.
      const away = (n: number): number => Math.abs(((n + 0.5 - (15 + delayMs) + 300) % 200) - 100);
      const [on, off] = [(n: number) => away(n) < 5, (n: number) => away(n) > 27].map((is) => {
        const some = folded.filter((_, n) => is(n));
        return some.reduce((sum, one) => sum + one, 0) / some.length;
      });
      assert.ok(off < 0.04 * on, `${off} of ${on}`);
    });

  it('is the same whichever chunk is drawn first', () => {
    const of = (order: readonly number[]) => {
      const noise = preparePulsedNoise({ name: 'p', pulse, fluxJy: () => 2, grid, seed: 3 });
      return new Map(order.map((chunk) => [chunk, Array.from(noise.draw(chunk)[1])]));
    };
    const last = 5000;
    const [ahead, back] = [of([0, 1, last]), of([last, 1, 0])];
    for (const chunk of [0, 1, last]) assert.deepEqual(ahead.get(chunk), back.get(chunk));
  });

  it('has its mean flux in real and complex voltages', async () => {
    for (const type of ['cf32', 'f32'] as const) {
      const source = { ...sourceAt(frame, 90, 0, 50, 'p'), pulse: { periodS: 1e-3, dm: 1, width: 0.25 } };
      const plan = planWith({
        telescope: telescopeAt([[0, 0, 0]]),
        sources: [source],
        samples: 65_536,
        type,
      });
      const [row] = await record(plan);
      const mean = row.reduce((sum, value) => sum + value ** 2, 0) / 65_536 / plan.countsPerRootJy ** 2;
      assert.ok(Math.abs(mean / 50 - 1) < 0.05, `${type}: ${mean}`);
    }
  });

  it('that a transform cannot hold is refused', () => {
    const wide = frequencyGrid({ type: 'ci8', centreFrequencyHz: 60e6, sampleRateHz: 20e6 }, 4096);
    assert.throws(
      () => preparePulsedNoise({ name: 'p', pulse, fluxJy: () => 2, grid: wide, seed: 3 }),
      /spreads a pulse over 2\d\.\d s of this band/,
    );
  });
});
