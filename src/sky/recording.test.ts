import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secondsBetween } from '../core/instant.js';
import { droppedGaps } from './simulate.js';
import { directionFromAltAz } from './frame.js';
import type { Interferer } from './interferers.js';
import { countsPerRootJy, quantise } from './quantise.js';
import { simulate } from './simulate.js';
import type { SimulationPlan } from './simulation-plan.js';
import {
  close,
  frame,
  planWith,
  power,
  ratio,
  record,
  spectrumOf,
  start,
  telescopeAt,
  turnsOf,
} from './simulate.testing.js';
import { sourceAt } from './source.js';

const pair = telescopeAt([
  [0, 0, 0],
  [3, 0, 0],
]);
const zenith = [sourceAt(frame, 90, 0, 100, 'x')];

/** The strongest bin of a DFT and its fraction of the total power. */
function peak(spectrum: Float64Array): { bin: number; part: number } {
  let [bin, most, sum] = [0, 0, 0];
  for (let k = 0; k < spectrum.length / 2; k++) {
    const size = spectrum[2 * k] ** 2 + spectrum[2 * k + 1] ** 2;
    sum += size;
    if (size > most) [bin, most] = [k, size];
  }
  return { bin, part: most / sum };
}

/** The rows of all blocks joined, [a][t]. */
async function rejoin(plan: SimulationPlan, blockSamples: number, threads = 1): Promise<number[][]> {
  const rows = Array.from({ length: plan.inputs }, (): number[] => []);
  let samples = 0;
  for await (const block of simulate(plan, blockSamples, { threads })) {
    close(secondsBetween(start, block.start), samples / plan.sampleRateHz, 1e-12);
    const row = block.voltages.length / plan.inputs;
    rows.forEach((whole, a) => whole.push(...block.voltages.subarray(a * row, (a + 1) * row)));
    samples += block.samples;
  }
  assert.equal(samples, plan.samples);
  return rows;
}

describe('the same seed', () => {
  const options = {
    telescope: { ...pair, polarisations: 2 as const },
    samples: 10_000,
    type: 'ci8' as const,
    sources: zenith,
    systemFluxJy: 10,
    dropFraction: 0.2,
  };

  it('gives the same bytes, however the recording is cut', async () => {
    const plan = planWith(options);
    const whole = await rejoin(plan, 10_000);
    for (const blockSamples of [777, 4096, 5000, 1_000_000]) {
      assert.deepEqual(await rejoin(planWith(options), blockSamples), whole, `${blockSamples}`);
    }
    const other = await rejoin(planWith({ ...options, seed: 8 }), 10_000);
    assert.notDeepEqual(other, whole);
  });

  it('gives the same bytes, and clips the same, however many threads make it', async () => {
    const telescope = {
      ...telescopeAt(Array.from({ length: 5 }, (_, n) => [7 * n, n, 0] as const)),
      polarisations: 2 as const,
    };
    const interferers = [
      { kind: 'tone', frequencyHz: 60.01e6, bandFluxJy: 3, directionEnu: { x: 0.6, y: 0, z: 0.8 } },
      { kind: 'pulsed', periodS: 1e-3, duty: 0.3, bandFluxJy: 20 },
    ] as const;
    for (const type of ['ci8', 'i16', 'cf32'] as const) {
      const plan = planWith({ ...options, telescope, interferers, type, gains: { logAmplitudeRms: 1.5 } });
      const alone = await rejoin(plan, 4000);
      // more threads than stations: five take part
      for (const threads of [2, 9]) assert.deepEqual(await rejoin(plan, 4000, threads), alone, `${threads}`);
      const clipped = [];
      for (const threads of [1, 3]) {
        const recording = simulate(plan, 4000, { threads });
        for await (const { samples } of recording) assert.ok(samples > 0);
        clipped.push(recording.clippedNumbers);
      }
      assert.equal(clipped[1], clipped[0]);
      assert.equal(clipped[0] > 0, type !== 'cf32');
    }
  });

  it('leaves no thread behind where a recording is left in the middle', async () => {
    const plan = planWith({ ...options, telescope: pair });
    for await (const block of simulate(plan, 100, { threads: 2 })) {
      assert.equal(block.samples, 100);
      break;
    }
    // A thread still running would keep this test's process alive: node --test would report it.
    assert.throws(() => simulate(plan, 100, { threads: 0 }), /threads is 0/);
  });

  it('begins a longer recording with the same samples', async () => {
    const floats = { ...options, type: 'cf32' as const };
    const short = await rejoin(planWith(floats), 10_000);
    const long = await rejoin(planWith({ ...floats, samples: 12_000 }), 12_000);
    assert.deepEqual(long[3].slice(0, 20_000), short[3]);
  });

  it('gives different noise to every input and chunk', async () => {
    const [x0, x1] = await record(planWith({ telescope: pair, samples: 8192, systemFluxJy: 1 }));
    let [cross, later] = [0, 0];
    for (let n = 0; n < 8192; n++) {
      cross += (x0[n] * x1[n]) / 4096;
      later += (x0[n] * x0[n + 8192]) / 4096;
    }
    // 8192 products of variance ¼: ± √8192 / 2 / 4096 = 0.011
    close(cross, 0, 0.06);
    close(later, 0, 0.06);
  });
});

describe('dead inputs', () => {
  it('hear next to nothing, and leave the others as they are', async () => {
    const nominal = await record(planWith({ telescope: pair, sources: zenith }));
    const [dead, other] = await record(planWith({ telescope: pair, sources: zenith, deadInputs: [0] }));
    assert.ok(power(dead, 2) < 1e-3 * power(other, 2));
    close(power(other, 2) / power(nominal[1], 2), 1, 1e-6);
    assert.throws(() => planWith({ telescope: pair, deadInputs: [2] }), /a dead input is 2/);
  });
});

describe('lost packets', () => {
  it('are zero, listed, and of whole stations', async () => {
    const telescope = { ...pair, polarisations: 2 as const };
    const plan = planWith({ telescope, samples: 20_000, systemFluxJy: 1, dropFraction: 0.3 });
    let missing = 0;
    for await (const { samples, voltages, gaps } of simulate(plan, 6000)) {
      const listed = new Uint8Array(4 * samples);
      for (const gap of gaps) {
        assert.ok(gap.firstInput % 2 === 0 && gap.endInput === gap.firstInput + 2);
        assert.ok(gap.firstSample < gap.endSample && gap.endSample <= samples);
        for (let a = gap.firstInput; a < gap.endInput; a++) {
          const row = listed.subarray(a * samples, (a + 1) * samples);
          assert.ok(row.subarray(gap.firstSample, gap.endSample).every((mark) => mark === 0));
          row.fill(1, gap.firstSample, gap.endSample);
        }
      }
      listed.forEach((mark, n) => {
        assert.equal(voltages[2 * n] === 0 && voltages[2 * n + 1] === 0, mark === 1);
        missing += mark;
      });
    }
    // 78 packets at 30 %: ± 5 % is one σ
    close(missing / 80_000, 0.3, 0.2);
    assert.ok(missing > 0);
  });

  it('are joined where they touch', () => {
    const drops = { seed: 1, dropFraction: 1, stations: 2, polarisations: 2 as const };
    assert.deepEqual(droppedGaps(drops, 100, 3000), [
      { firstInput: 0, endInput: 2, firstSample: 0, endSample: 3000 },
      { firstInput: 2, endInput: 4, firstSample: 0, endSample: 3000 },
    ]);
    assert.deepEqual(droppedGaps({ ...drops, dropFraction: 0 }, 0, 3000), []);
  });
});

describe('interferers', () => {
  const tone = (frequencyHz: number, more: object = {}): Interferer => ({
    kind: 'tone',
    frequencyHz,
    bandFluxJy: 9,
    ...more,
  });

  it('put a tone at its frequency, in step from chunk to chunk', async () => {
    // A centre that is no multiple of half the sample rate: with one, a wrong sign would alias to the correct bin.
    const centreFrequencyHz = 60.1e6;
    // ±513 bins of 1.6 MHz / 8192 = 195.3125 Hz: 256½ cycles per chunk, so that a phase error between chunks would
    // split the line.
    const offsetHz = 513 * 195.3125;
    for (const [frequencyHz, bin] of [
      [centreFrequencyHz + offsetHz, 513],
      [centreFrequencyHz - offsetHz, 8192 - 513],
    ]) {
      const interferers = [tone(frequencyHz)];
      const plan = planWith({ telescope: pair, samples: 8192, centreFrequencyHz, interferers });
      const [row] = await record(plan);
      const found = peak(spectrumOf(row, plan));
      assert.equal(found.bin, bin);
      close(found.part, 1, 1e-6);
      close(power(row, 2), 9, 1e-4);
    }
    // Real at 3.2 MHz: 60.2 MHz is 0.9 MHz above the lower edge, bin 2304 of 8192, and its mirror holds the rest.
    const plan = planWith({
      telescope: pair,
      samples: 8192,
      type: 'f32',
      sampleRateHz: 3.2e6,
      centreFrequencyHz,
      interferers: [tone(60.2e6)],
    });
    const [row] = await record(plan);
    const found = peak(spectrumOf(row, plan).subarray(0, 8192));
    assert.equal(found.bin, 2304);
    close(found.part, 1, 1e-6);
    close(power(row, 1), 9, 1e-4);
  });

  it('come from their direction', async () => {
    const directionEnu = directionFromAltAz(0, 90);
    const plan = planWith({ telescope: pair, interferers: [tone(60.1e6, { directionEnu })] });
    const [x0, x1] = (await record(plan)).map((row) => spectrumOf(row, plan));
    // 3 m / c · 60.1 MHz = 0.601416 turns
    close(turnsOf(ratio(x1, x0, 256)), 0.601416 - 1, 2e-6);
    const pulsed = { kind: 'pulsed', periodS: 62.5e-6, duty: 0.25, bandFluxJy: 4, directionEnu } as const;
    const pulsedPlan = planWith({ telescope: pair, interferers: [pulsed] });
    const [z0, z1] = (await record(pulsedPlan)).map((row) => spectrumOf(row, pulsedPlan));
    close(turnsOf(ratio(z1, z0, 256)), 0.601416 - 1, 2e-6);
    const common = planWith({ telescope: pair, interferers: [tone(60.1e6)] });
    const [y0, y1] = await record(common);
    assert.deepEqual(y0, y1);
  });

  it('pulse when they should', async () => {
    // 100 samples a period, on for the first 25
    const interferers = [{ kind: 'pulsed', periodS: 62.5e-6, duty: 0.25, bandFluxJy: 4 } as const];
    for (const type of ['cf32', 'f32'] as const) {
      const plan = planWith({ telescope: pair, type, interferers, samples: 40_000 });
      const [row] = await record(plan);
      const numbers = type === 'cf32' ? 2 : 1;
      const [on, off]: [number[], number[]] = [[], []];
      row.forEach((value, n) => (Math.floor(n / numbers) % 100 < 25 ? on : off).push(value));
      // 10,000 samples: 1 % (complex) or 1.4 % (real)
      close(power(on, numbers), 4, 0.25, type);
      // Complex: rounding only. Real: the zero-frequency bin that is left out, 2/4096 of the mean.
      assert.ok(power(off, numbers) < (type === 'cf32' ? 1e-12 : 0.01), `${power(off, numbers)}`);
    }
  });

  it('are refused when they cannot be', () => {
    const refused = (interferer: Interferer, reason: RegExp): void => {
      assert.throws(() => planWith({ telescope: pair, interferers: [interferer] }), reason);
    };
    refused(tone(61e6), /tone interferer: frequency in Hz is 61000000; give a number from 59200000/);
    refused(tone(60e6, { directionEnu: { x: 1, y: 1, z: 0 } }), /not a unit vector/);
    refused({ kind: 'pulsed', periodS: 1, duty: 1.5, bandFluxJy: 1 }, /pulsed interferer: duty is 1.5/);
    // A period shorter than two samples cannot be switched on and off.
    refused({ kind: 'pulsed', periodS: 1e-6, duty: 0.5, bandFluxJy: 1 }, /period in seconds is 0.000001/);
    refused(tone(60e6, { bandFluxJy: -1 }), /power in Jy over the band is -1/);
  });
});

describe('quantising', () => {
  it('puts the rms at 20 of 127 of full scale', async () => {
    const levels = { i8: 20, ci8: 20, i16: 5160.2, ci16: 5160.2 };
    for (const [type, level] of Object.entries(levels) as ['i8' | 'ci8' | 'i16' | 'ci16', number][]) {
      const plan = planWith({ telescope: pair, samples: 16_384, type, sources: zenith, systemFluxJy: 77 });
      const rows = await record(plan);
      for (const row of rows) close(Math.sqrt(power(row, 1)) / level, 1, 0.03, type);
    }
    // The beam applies to a source low in the sky: 400 Jy · cos²(60°) + 77 Jy.
    const telescope = { ...pair, beamExponent: 1 };
    const sources = [sourceAt(frame, 30, 45, 400, 'low')];
    const low = planWith({ telescope, samples: 16_384, type: 'ci8', sources, systemFluxJy: 77 });
    for (const row of await record(low)) close(Math.sqrt(power(row, 1)), 20, 0.6);
    // Interferers count too: a tone always, a pulse while it is on.
    const levelOf = (interferer: Interferer): number =>
      planWith({ telescope: pair, type: 'ci8', interferers: [interferer] }).countsPerRootJy;
    close(levelOf({ kind: 'tone', frequencyHz: 60e6, bandFluxJy: 8 }), 20 / Math.sqrt(4), 1e-12);
    const pulsed = { kind: 'pulsed', periodS: 1e-3, duty: 0.25, bandFluxJy: 8 } as const;
    close(levelOf(pulsed), 20 / Math.sqrt(1), 1e-12);
    // 177 Jy in each real sample; half of it in each part of a complex one
    close(countsPerRootJy('i8', 177), 20 / Math.sqrt(177), 1e-12);
    close(countsPerRootJy('ci8', 177), 20 / Math.sqrt(88.5), 1e-12);
    assert.equal(countsPerRootJy('cf32', 177), 1);
  });

  it('rounds half to even, clips at ±127 and counts what is there', () => {
    const values = Float64Array.of(0.5, 1.5, -2.5, 127.4, -127.6, 300);
    const target = new Int8Array(7).fill(99);
    const quantiser = { type: 'ci8', countsPerRootJy: 1 } as const;
    assert.equal(quantise(values, 3, quantiser, target, 1), 3);
    assert.deepEqual([...target], [99, 0, 2, -2, 127, -127, 127]);
    // Real: twice the real parts
    const real = new Int8Array(3);
    assert.equal(quantise(values, 3, { type: 'i8', countsPerRootJy: 1 }, real, 0), 1);
    assert.deepEqual([...real], [1, -5, -127]);
  });

  it('reports how much was clipped', async () => {
    const gains = { logAmplitudeRms: 1.5 };
    const telescope = telescopeAt(Array.from({ length: 12 }, () => [0, 0, 0] as const));
    const plan = planWith({ telescope, type: 'ci8', systemFluxJy: 1, gains, dropFraction: 0.3 });
    const recording = simulate(plan, 1000);
    let [atLimit, beyond] = [0, 0];
    for await (const { voltages } of recording) {
      for (const value of voltages) {
        if (Math.abs(value) === 127) atLimit++;
        if (value === -128) beyond++;
      }
    }
    assert.ok(atLimit > 0);
    assert.equal(recording.clippedNumbers, atLimit);
    assert.equal(beyond, 0);
  });
});

describe('a plan', () => {
  it('refuses what cannot be', () => {
    const good = { telescope: pair, sources: zenith, systemFluxJy: 1 };
    assert.throws(() => planWith({ ...good, samples: 0 }), /simulate: samples is 0/);
    assert.throws(() => planWith({ ...good, systemFluxJy: Number.NaN }), /\(--noise\) is NaN/);
    assert.throws(() => planWith({ ...good, dropFraction: 1.1 }), /\(--drop\) is 1.1/);
    assert.throws(() => planWith({ ...good, centreFrequencyHz: 1e5 }), /reaches below zero/);
    assert.throws(() => planWith({ ...good, sources: [...zenith, ...zenith] }), /two sources are called 'x'/);
    assert.throws(() => planWith({ ...good, telescope: telescopeAt([]) }), /stations is 0/);
    assert.throws(() => simulate(planWith(good), 0), /blockSamples is 0/);
    const wide = telescopeAt([
      [0, 0, 0],
      [1e6, 0, 0],
    ]);
    assert.throws(() => planWith({ ...good, telescope: wide }), /a delay of 5337 samples/);
  });

  it('chooses chunks a thousand delays long', () => {
    const chunkFor = (eastM: number): number =>
      planWith({
        telescope: telescopeAt([
          [0, 0, 0],
          [eastM, 0, 0],
        ]),
        systemFluxJy: 1,
      }).grid.chunkSamples;
    // 1.6 MHz: 3 km is 16.01 samples
    assert.equal(chunkFor(3), 4096);
    assert.equal(chunkFor(3000), 16_384);
    assert.equal(chunkFor(30_000), 65_536);
  });
});
