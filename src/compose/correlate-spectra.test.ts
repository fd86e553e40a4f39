import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openCpu } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { openReference } from '../backend/reference.js';
import { baselineIndex, spectraCAT } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import type { SpectraGap } from '../core/gaps.js';
import { addSamples, instant, secondsBetween } from '../core/instant.js';
import { productCount } from '../core/product-counts.js';
import { randomStream } from '../core/random.js';
import { delayModels } from '../delay/index.js';
import type { CanonicalSpectra, SpectraRecording } from '../formats/index.js';
import { correlateSpectra } from './correlate.js';
import { sliceSpectra } from '../stages/index.js';
import { spectraInMemory } from '../stages/testing.js';

const RATE_HZ = 100;
const SAMPLES = 23;
const [CHANNELS, INPUTS] = [2, 4];
/** Y of station 1, in channel 1 only: across the end of the first integration and of the second block. */
const gap: SpectraGap = {
  firstChannel: 1,
  endChannel: 2,
  firstInput: 3,
  endInput: 4,
  firstSample: 8,
  endSample: 16,
};

const random = randomStream(5, 'spectra test');
const values = Int8Array.from({ length: 2 * CHANNELS * INPUTS * SAMPLES }, () => random.below(255) - 127);
for (let t = gap.firstSample; t < gap.endSample; t++) {
  const at = 2 * ((CHANNELS * INPUTS - 1) * SAMPLES + t);
  values.fill(0, at, at + 2);
}

const whole = (): CanonicalSpectra => ({
  samples: SAMPLES,
  spectra: spectraCAT(values.slice(), 'ci8', CHANNELS, INPUTS, SAMPLES),
  gaps: [gap],
  start: instant(50),
});

/** Two stations of two polarisations, handed out seven spectra at a time. */
const recording = (): SpectraRecording =>
  spectraInMemory(whole(), {
    type: 'ci8',
    inputs: INPUTS,
    polarisations: 2,
    spectrumRateHz: RATE_HZ,
    frequenciesHz: Float64Array.of(1e6, 1.001e6),
    chunk: 7,
  });

async function run(integrationS?: number) {
  const all: Integration[] = [];
  const settings = { backend: openReference(), integrationS };
  const tally = await correlateSpectra(recording(), settings, (one) => {
    all.push(one);
    return Promise.resolve();
  });
  return { all, tally };
}

/** Σ x_i conj(x_j) of two inputs in a channel over samples that both have. */
function sumOf(channel: number, a: number, b: number, first: number, end: number): [number, number, number] {
  let [re, im, count] = [0, 0, 0];
  for (let t = first; t < end; t++) {
    const gone = channel === 1 && t >= gap.firstSample && t < gap.endSample && (a === 3 || b === 3);
    if (gone) continue;
    const [x, y] = [a, b].map((input) => 2 * ((channel * INPUTS + input) * SAMPLES + t));
    re += values[x] * values[y] + values[x + 1] * values[y + 1];
    im += values[x + 1] * values[y] - values[x] * values[y + 1];
    count++;
  }
  return [re, im, count];
}

describe('from channelised data to integrations', () => {
  it('ends them where asked, in the middle of a block too, and loses no sample', async () => {
    const { all, tally } = await run(0.1);
    const ends = [0, 10, 20, 23];
    assert.equal(all.length, 3);
    all.forEach((one, n) => {
      const [first, end] = [ends[n], ends[n + 1]];
      assert.ok(Math.abs(one.durationS - (end - first) / RATE_HZ) < 1e-12);
      assert.ok(Math.abs(secondsBetween(addSamples(instant(50), first, RATE_HZ), one.start)) < 1e-12);
      assert.deepEqual([one.stations, one.polarisations, one.channels], [2, 2, 2]);
      for (let c = 0; c < CHANNELS; c++) {
        for (let a = 0; a < INPUTS; a++) {
          for (let b = 0; b <= a; b++) {
            const pair = c * 3 + baselineIndex(Math.floor(a / 2), Math.floor(b / 2));
            const at = 2 * (pair * 4 + 2 * (a % 2) + (b % 2));
            const count = productCount(one, pair, a % 2, b % 2);
            const found = [one.visibilities[at], one.visibilities[at + 1], count];
            assert.deepEqual(found, sumOf(c, a, b, first, end), `channel ${c}, inputs ${a} and ${b}`);
          }
        }
      }
    });
    assert.deepEqual([tally.samplesIn, tally.spectra], [23, 23]);
    // Eight of one input in one channel were missing; its partner keeps its own.
    assert.equal(tally.missingSamples, 8);
  });

  it('makes one of everything by default, and refuses less than a spectrum', async () => {
    const { all } = await run();
    assert.deepEqual(
      all.map(({ durationS }) => durationS),
      [0.23],
    );
    await assert.rejects(run(0.004), /0.004 s is shorter than one spectrum; give at least 0.01 s/);
  });
});

describe('channelised data whose delays are tracked', () => {
  /** Half a turn a second and more at 1 MHz: within an integration every spectrum has its own phase. */
  const delayModel = delayModels(INPUTS, Float64Array.of(0, 3e-7, 0, 0));
  for (let a = 0; a < INPUTS; a++) {
    const piece = { fromTick: 0n, delayS: 1e-7 * a, delayRate: 5e-7 * a, phaseRad: 0, phaseRateRadS: 0 };
    delayModel.load(a, piece);
    // A new piece, in the middle of a block and of an integration.
    delayModel.load(a, { ...piece, fromTick: 12n, delayRate: -1e-6, phaseRad: 0.5 * a });
  }
  const turnsAt = (channel: number, a: number, t: number): number => {
    const [from, rate, phase] = t < 12 ? [0, 5e-7 * a, 0] : [12, -1e-6, 0.5 * a];
    const delayS = 1e-7 * a + (a === 1 ? 3e-7 : 0) + ((t - from + 0.5) / RATE_HZ) * rate;
    return phase / (2 * Math.PI) - (channel === 0 ? 1e6 : 1.001e6) * delayS;
  };

  async function check(backend: Backend): Promise<void> {
    const all: Integration[] = [];
    const delays = { delayModel, tickRateHz: RATE_HZ, mostDelayS: 1e-6, mostApartS: 1e-6 };
    await correlateSpectra(recording(), { backend, delays, integrationS: 0.1 }, (one) => {
      all.push(one);
      return Promise.resolve();
    });
    const ends = [0, 10, 20, 23];
    for (const [n, one] of all.entries()) {
      for (let c = 0; c < CHANNELS; c++) {
        for (let a = 0; a < INPUTS; a++) {
          for (let b = 0; b <= a; b++) {
            let [re, im] = [0, 0];
            for (let t = ends[n]; t < ends[n + 1]; t++) {
              const [x, y] = sumOf(c, a, b, t, t + 1);
              const angle = 2 * Math.PI * (turnsAt(c, a, t) - turnsAt(c, b, t));
              re += x * Math.cos(angle) - y * Math.sin(angle);
              im += x * Math.sin(angle) + y * Math.cos(angle);
            }
            const pair = c * 3 + baselineIndex(Math.floor(a / 2), Math.floor(b / 2));
            const at = 2 * (pair * 4 + 2 * (a % 2) + (b % 2));
            const off = Math.hypot(one.visibilities[at] - re, one.visibilities[at + 1] - im);
            assert.ok(off < 0.5, `integration ${n}, channel ${c}, inputs ${a} and ${b}: off by ${off}`);
          }
        }
      }
    }
    assert.equal(all.length, 3);
    await backend.close();
  }

  it('is turned spectrum by spectrum before anything is summed', () => check(openReference()));
  const library = loadNative();
  it('the same by compiled kernels', { skip: 'what' in library ? library.what : false }, async () =>
    check(await openCpu({ threads: 2 })),
  );
});

describe('a part of channelised data', () => {
  const axes = { type: 'ci8', channels: CHANNELS, inputs: INPUTS, spectrumRateHz: RATE_HZ } as const;

  it('keeps its samples, its gaps and its time', () => {
    const part = sliceSpectra(whole(), axes, { first: 9, end: 11 });
    assert.equal(part.samples, 2);
    for (let row = 0; row < CHANNELS * INPUTS; row++) {
      const [from, to] = [2 * (row * SAMPLES + 9), 4 * row];
      assert.deepEqual([...part.spectra.subarray(to, to + 4)], [...values.subarray(from, from + 4)]);
    }
    assert.deepEqual(part.gaps, [{ ...gap, firstSample: 0, endSample: 2 }]);
    assert.ok(Math.abs(secondsBetween(instant(50.09), part.start)) < 1e-12);
  });

  it('leaves out gaps that end before it or begin after it', () => {
    assert.deepEqual(sliceSpectra(whole(), axes, { first: 16, end: 20 }).gaps, []);
    assert.deepEqual(sliceSpectra(whole(), axes, { first: 0, end: 8 }).gaps, []);
    const all = whole();
    assert.equal(sliceSpectra(all, axes, { first: 0, end: SAMPLES }), all);
  });

  it('come out in the nominal unit: the gain that a recording was rounded with is divided out again', async () => {
    const powersOf = async (more: Partial<SpectraRecording>, values?: 'sums'): Promise<Integration> => {
      const all: Integration[] = [];
      await correlateSpectra({ ...recording(), ...more }, { backend: openReference(), values }, (one) => {
        all.push(one);
        return Promise.resolve();
      });
      return all[0];
    };
    const plain = (await powersOf({})).visibilities;
    // One ratio for all inputs and channels: 2.374 multiplies powers by 5.64.
    const scaled = await powersOf({ gainRatio: 2.374 });
    scaled.visibilities.forEach((value, k) => {
      assert.ok(Math.abs(value * 2.374 ** 2 - plain[k]) <= 1e-9 * Math.abs(plain[k]));
    });
    // Equaliser gains [a][c]: input 1 of channel 1 was multiplied by 3, input 2 by 5.
    const levels = new Float64Array(INPUTS * CHANNELS).fill(1);
    [levels[1 * CHANNELS + 1], levels[2 * CHANNELS + 1]] = [3, 5];
    const equalised = (await powersOf({ levels })).visibilities;
    // Channel 1, baseline (1, 0), product (X of 1, Y of 0): inputs 2 and 1.
    const at = 2 * ((3 + baselineIndex(1, 0)) * 4 + 1);
    assert.ok(Math.abs(equalised[at] - plain[at] / 15) < 1e-9 * Math.abs(plain[at]));
    assert.deepEqual(equalised.subarray(0, 24), plain.subarray(0, 24));
    // Sums are unchanged.
    assert.deepEqual((await powersOf({ gainRatio: 2.374 }, 'sums')).visibilities, plain);
  });
});
