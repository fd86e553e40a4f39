import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { voltagesAT, type SpectraElements, type VoltageElements, type VoltageType } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { channeliseBlocks, channeliseCases } from './cases.js';
import { prepareChanneliser } from './index.js';
import { planChannelise, type ChanneliseOptions } from './plan.js';
import { halfToEven } from '../core/round-up.js';
import { noise } from './samples.testing.js';

channeliseCases(() => Promise.resolve(openReference()));

const block = (type: VoltageType, inputs: number, elements: VoltageElements): VoltageBlock => {
  const samples = elements.length / inputs / (type.startsWith('c') ? 2 : 1);
  return {
    type,
    inputs,
    samples,
    voltages: voltagesAT(elements, type, inputs, samples),
    gaps: [],
    start: instant(0),
  };
};

/** One block through a fresh channeliser. */
async function channelise(
  options: Omit<ChanneliseOptions, 'blockSamples'>,
  elements: VoltageElements,
): Promise<{ spectra: SpectraElements; samples: number; saturated: number }> {
  const voltages = block(options.inputType, options.inputs, elements);
  const plan = planChannelise({ ...options, blockSamples: voltages.samples });
  const { blocks, saturated } = await channeliseBlocks(plan, openReference(), [voltages]);
  return { ...blocks[0], saturated };
}

/** amplitude · e^(i(2π f t + phase)), f in cycles a sample. */
function tone(samples: number, frequency: number, amplitude: number, phase = 0): Float32Array {
  return Float32Array.from({ length: 2 * samples }, (_, n) => {
    const angle = 2 * Math.PI * frequency * Math.floor(n / 2) + phase;
    return amplitude * (n % 2 === 0 ? Math.cos(angle) : Math.sin(angle));
  });
}

const float = { inputs: 1, polarisations: 1, inputType: 'cf32', outputType: 'cf32', gains: 1 } as const;
const near = (actual: number, expected: number, tolerance: number, what = ''): void => {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what} ${actual}, not ${expected} ± ${tolerance}`);
};

const assertParts = (actual: SpectraElements, expected: readonly number[]): void => {
  assert.equal(actual.length, expected.length);
  expected.forEach((value, n) => {
    near(actual[n], value, 1e-15, `[${n}]`);
  });
};

describe('reference channeliser', () => {
  it('an impulse, two channels, two taps, by hand', async () => {
    // y[n] = h[n]·x[2k + n] + h[2 + n]·x[2k + 2 + n]; bins (y₀ + y₁, y₀ − y₁); channel 0 is bin 1, channel 1 bin 0.
    const options = { ...float, channels: 2, taps: 2, coefficients: Float64Array.from([1, 2, 3, 4]) };
    // x₂ = 1: spectrum 0 has y = (3, 0), spectrum 1 y = (1, 0).
    const even = await channelise(options, Float32Array.from([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]));
    assert.equal(even.samples, 2); // ⌊6/2⌋ − 2 + 1
    assertParts(even.spectra, [3, 0, 1, 0, 3, 0, 1, 0]);
    // x₃ = i: spectrum 0 has y = (0, 4i), spectrum 1 y = (0, 2i): channel 0 gets −y₁, channel 1 +y₁.
    const odd = await channelise(options, Float32Array.from([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]));
    assertParts(odd.spectra, [0, -4, 0, -2, 0, 4, 0, 2]);
  });

  it('a step in time turns the phase backwards: x(t) = δ(t − 1) gives e^(−2πi bin/4)', async () => {
    const options = { ...float, channels: 4, taps: 1, coefficients: Float64Array.from([1, 1, 1, 1]) };
    const { spectra } = await channelise(options, Float32Array.from([0, 0, 1, 0, 0, 0, 0, 0]));
    // Bins 2, 3, 0, 1: −1, i, 1, −i
    assertParts(spectra, [-1, 0, 0, 1, 1, 0, 0, -1]);
  });

  it('a rising tone e^(+2πi f t) lands in its own channel with its own amplitude', async () => {
    for (const channels of [8, 9]) {
      for (let step = -Math.floor(channels / 2); step < channels / 2; step++) {
        const samples = channels * 6;
        const { spectra } = await channelise(
          { ...float, channels, taps: 4, window: { kind: 'hann' } },
          tone(samples, step / channels, 0.5),
        );
        for (let c = 0; c < channels; c++) {
          const magnitude = Math.hypot(spectra[c * 3 * 2], spectra[c * 3 * 2 + 1]);
          const home = c === step + Math.floor(channels / 2);
          // Four taps of Hann leak a few thousandths of a tone into the neighbouring channels.
          near(magnitude, home ? 0.5 : 0, home ? 1e-6 : 4e-3, `tone ${step}, channel ${c}:`);
        }
      }
    }
  });

  it('a real tone lands in its own channel with half its amplitude and its phase', async () => {
    const channels = 8;
    for (let bin = 1; bin < channels; bin++) {
      const voltages = Float32Array.from({ length: 48 }, (_, t) =>
        Math.cos((2 * Math.PI * bin * t) / 16 + 0.3),
      );
      const { spectra, samples } = await channelise(
        { ...float, inputType: 'f32', channels, taps: 1, window: { kind: 'rectangular' } },
        voltages,
      );
      assert.equal(samples, 3);
      for (let c = 0; c < channels; c++) {
        near(spectra[c * 6], c === bin ? 0.5 * Math.cos(0.3) : 0, 1e-7, `bin ${bin}, channel ${c}, re`);
        near(spectra[c * 6 + 1], c === bin ? 0.5 * Math.sin(0.3) : 0, 1e-7, `bin ${bin}, channel ${c}, im`);
      }
    }
  });

  it('one rectangular tap is the plain DFT', async () => {
    const channels = 10;
    const voltages = noise('ci16', 2, 30, randomStream(41));
    const plan = planChannelise({
      channels,
      taps: 1,
      window: { kind: 'rectangular' },
      inputs: 2,
      polarisations: 1,
      inputType: 'ci16',
      outputType: 'cf32',
      gains: channels, // the prototype's sum is one, the DFT's C
      blockSamples: 30,
    });
    const { blocks } = await channeliseBlocks(plan, openReference(), [voltages]);
    for (let c = 0; c < channels; c++) {
      for (let a = 0; a < 2; a++) {
        for (let k = 0; k < 3; k++) {
          let [re, im] = [0, 0];
          for (let n = 0; n < channels; n++) {
            const angle = (-2 * Math.PI * (c - 5) * n) / channels;
            const [xr, xi] = [0, 1].map((part) => voltages.voltages[2 * (a * 30 + k * channels + n) + part]);
            re += xr * Math.cos(angle) - xi * Math.sin(angle);
            im += xr * Math.sin(angle) + xi * Math.cos(angle);
          }
          const at = 2 * ((c * 2 + a) * 3 + k);
          // float32 output: 2⁻²⁴ of values up to 10⁵
          near(blocks[0].spectra[at], re, 0.01, `channel ${c}, input ${a}, spectrum ${k}, re`);
          near(blocks[0].spectra[at + 1], im, 0.01, `channel ${c}, input ${a}, spectrum ${k}, im`);
        }
      }
    }
  });

  it('rounds halves to even', async () => {
    assert.deepEqual(
      [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.4999, 2.5001, -3.7, 127.5].map((x) => halfToEven(x) + 0),
      [0, 2, 2, 0, -2, -2, 2, 3, -4, 128],
    );
    // Impulses at sample 0 of each spectrum: both channels are x·gain = 0.5, 1.5, 2.5 and −0.5, −1.5, −2.5.
    const { spectra } = await channelise(
      {
        ...float,
        outputType: 'ci8',
        channels: 2,
        taps: 1,
        coefficients: Float64Array.from([1, 1]),
        gains: 0.5,
      },
      Float32Array.from([1, -1, 0, 0, 3, -3, 0, 0, 5, -5, 0, 0]),
    );
    assert.deepEqual([...spectra], [0, 0, 2, -2, 2, -2, 0, 0, 2, -2, 2, -2]);
  });

  it('stops at the rails and counts what did', async () => {
    const options = { ...float, channels: 2, taps: 1, coefficients: Float64Array.from([1, 1]) };
    // Both channels are 127.4 − 127.6i, then 300 + 5i: 127 and −128 → −127; 300 → 127 and 5. Two saturate in each.
    const input = Float32Array.from([127.4, -127.6, 0, 0, 300, 5, 0, 0]);
    const eight = await channelise({ ...options, outputType: 'ci8' }, input);
    assert.deepEqual([...eight.spectra], [127, -127, 127, 5, 127, -127, 127, 5]);
    assert.equal(eight.saturated, 4);
    const four = await channelise({ ...options, outputType: 'ci4', gains: 1 / 16 }, input);
    // 7.96 → 8 → 7, −7.98 → −8 → −7; 18.75 → 7, 0.31 → 0: three saturate in each channel.
    assert.deepEqual([...four.spectra], [0x79, 0x70, 0x79, 0x70]);
    assert.equal(four.saturated, 6);
  });

  it('white noise keeps its rms by default', async () => {
    for (const inputType of ['cf32', 'f32'] as const) {
      const stream = randomStream(42, inputType);
      const parts = inputType === 'cf32' ? 2 : 1;
      const voltages = Float32Array.from({ length: 16 * 1024 * parts }, () => stream.gaussian());
      const { spectra } = await channelise(
        { inputs: 1, polarisations: 1, inputType, outputType: 'cf32', channels: 16, taps: 4 },
        voltages,
      );
      let power = 0;
      for (const part of spectra) power += part * part;
      // Mean |X|² against ⟨|x|²⟩ = 2 or 1; 8,000 or more numbers, so 2 % is more than two standard errors.
      near(power / (spectra.length / 2) / parts, 1, 0.04, inputType);
    }
  });

  it('keeps inputs, channels and spectra in their places: [c][a][t]', async () => {
    // One tap of two samples, impulses at sample 0: both channels are x. Inputs 1, 2 · 3, 4 · 5, 6 over two spectra.
    const { spectra } = await channelise(
      {
        ...float,
        inputs: 3,
        channels: 2,
        taps: 1,
        coefficients: Float64Array.from([1, 1]),
        outputType: 'ci8',
      },
      Float32Array.from([1, 2, 3, 4, 5, 6].flatMap((x) => [x, 0, 0, 0])),
    );
    const re = [...spectra].filter((_, n) => n % 2 === 0);
    assert.deepEqual(re, [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
  });

  it('refuses what is no number, naming input and sample, and goes on as if it had not come', async () => {
    const plan = planChannelise({ ...float, inputs: 2, channels: 2, taps: 1, blockSamples: 4 });
    const backend = openReference();
    const channeliser = await prepareChanneliser(plan, backend);
    const out = backend.allocateSpectra(plan.output);
    const elements = new Float32Array(16);
    elements[8 + 2 * 2 + 1] = NaN;
    await assert.rejects(
      channeliser.run(block('cf32', 2, elements), out),
      /channelise: input 1, sample 2 of the block is NaN; mark what is missing/,
    );
    assert.equal(channeliser.produced, 0);
    await channeliser.run(block('cf32', 2, elements.fill(0)), out);
    assert.equal(channeliser.produced, 2);
  });
});
