import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allocateVoltages, spectraCAT, voltagesAT } from '../core/axes.js';
import type { VoltageGap } from '../core/gaps.js';
import { addSamples, parseInstant } from '../core/instant.js';
import { packNibbles } from '../core/nibbles.js';
import type { VoltageRecording } from '../formats/index.js';
import { spectraInMemory } from '../stages/testing.js';
import { lookAt, lookedBlocks, type LookedBlock } from './voltages.js';
import { histogramOf, inputSpectra, meanSpectrum, waterfallOf } from './waterfall.js';

const start = parseInstant('2026-01-01T00:00:00');
const RATE_HZ = 1e6;

/**
 * A recording in memory; samples inside a gap stay zero. A value that depends only on `a` fills an input at once, gaps
 * too.
 */
function recording(
  of: Pick<VoltageRecording, 'type' | 'inputs' | 'samples'> & Partial<Pick<VoltageRecording, 'bits'>>,
  value: (a: number, t: number, part: number) => number,
  gaps: readonly VoltageGap[] = [],
): VoltageRecording {
  const { type, inputs, samples } = of;
  const parts = type.startsWith('c') ? 2 : 1;
  const missing = (a: number, t: number): boolean =>
    gaps.some((g) => g.firstInput <= a && a < g.endInput && g.firstSample <= t && t < g.endSample);
  return {
    ...of,
    kind: 'voltages',
    path: 'memory',
    format: 'test',
    details: {},
    polarisations: 1,
    sampleRateHz: RATE_HZ,
    centreFrequencyHz: 100e6,
    start,
    blocks: async function* (blockSamples) {
      for (let first = 0; first < samples; first += blockSamples) {
        await Promise.resolve();
        const length = Math.min(blockSamples, samples - first);
        const elements = allocateVoltages(type, inputs, length);
        for (let a = 0; a < inputs; a++) {
          if (value.length === 1) elements.fill(value(a, 0, 0), a * length * parts, (a + 1) * length * parts);
          else
            for (let t = 0; t < length; t++)
              for (let part = 0; part < parts; part++)
                if (!missing(a, first + t))
                  elements[(a * length + t) * parts + part] = value(a, first + t, part);
        }
        yield {
          type,
          inputs,
          samples: length,
          voltages: voltagesAT(elements, type, inputs, length),
          gaps: gaps.flatMap((gap) => {
            const firstSample = Math.max(0, gap.firstSample - first);
            const endSample = Math.min(length, gap.endSample - first);
            return endSample > firstSample ? [{ ...gap, firstSample, endSample }] : [];
          }),
          start: addSamples(start, first, RATE_HZ),
        };
      }
    },
    close: () => Promise.resolve(),
  };
}

async function firstOf(file: VoltageRecording): Promise<LookedBlock> {
  for await (const block of lookedBlocks(file)) return block;
  throw new Error('no block');
}

describe('a look at a recording', () => {
  const gaps = [
    // Across the edge between two blocks of 65536 samples, and a separate one.
    { firstInput: 0, endInput: 2, firstSample: 65_000, endSample: 66_000 },
    { firstInput: 1, endInput: 2, firstSample: 3, endSample: 4 },
  ];

  it('counts what is missing once, joins it over blocks, and leaves it out of the rms', async () => {
    const file = recording(
      { type: 'ci8', inputs: 2, samples: 100_000 },
      (_a, _t, part) => (part === 0 ? 3 : -4),
      gaps,
    );
    const look = await lookAt(file);
    assert.equal(look.extent, 'whole');
    assert.equal(look.missing.samples, 2001);
    assert.equal(look.missing.gaps, 2);
    assert.deepEqual(
      look.missing.first.map((gap) => [gap.firstInput, gap.firstSample, gap.endSample]),
      [
        [1, 3, 4],
        [0, 65_000, 66_000],
      ],
    );
    // (9 + 16)/2 whichever samples are missing.
    assert.ok(Math.abs((look.rms ?? 0) - Math.sqrt(12.5)) < 1e-12);
    assert.deepEqual(look.rows[1].values.slice(2, 5), [{ re: 3, im: -4 }, null, { re: 3, im: -4 }]);
    assert.deepEqual(look.clipped, { numbers: 0, fraction: 0 });
  });

  it('reads the first block alone of a long recording by default', async () => {
    const long = { type: 'i8', inputs: 256, samples: 2 ** 18 } as const;
    const file = recording(long, (a) => a - 128, [
      { firstInput: 0, endInput: 1, firstSample: 200_000, endSample: 200_001 },
    ]);
    const look = await lookAt(file);
    assert.deepEqual([look.extent, look.samples, look.missing.samples], ['first block', 32_768, 0]);
    // −128, −127 and 127 are at full scale: three inputs of 256.
    assert.equal(look.clipped?.fraction, 3 / 256);
    const progress: number[] = [];
    const whole = await lookAt(file, {
      extent: 'whole',
      onProgress: ({ done, of = NaN }) => void progress.push(done / of),
    });
    assert.deepEqual(
      progress,
      Array.from({ length: 8 }, (_, k) => (k + 1) / 8),
    );
    assert.deepEqual([whole.extent, whole.samples, whole.missing.samples], ['whole', 2 ** 18, 1]);
  });

  it('takes full scale from the bits that were recorded', async () => {
    const narrow = recording({ type: 'ci8', inputs: 1, samples: 16, bits: 4 }, (_a, t) => t - 8);
    // −8, −7 and 7 of both parts.
    assert.equal((await lookAt(narrow)).clipped?.numbers, 6);
    const twoBits = recording({ type: 'f32', inputs: 1, samples: 16, bits: 2 }, (_a, t) => (t % 2 ? 1 : -1));
    assert.equal((await lookAt(twoBits)).clipped, undefined);
  });
});

describe('a look at channelised samples of four bits', () => {
  it('takes both nibbles with their signs', async () => {
    // Samples −7 + 3i, 7 − 7i and 0 − i: three parts at the rails, squares 58, 98 and 1.
    const bytes = Uint8Array.of(packNibbles(-7, 3), packNibbles(7, -7), packNibbles(0, -1));
    const look = await lookAt(
      spectraInMemory(
        { samples: 3, spectra: spectraCAT(bytes, 'ci4', 1, 1, 3), gaps: [], start },
        {
          type: 'ci4',
          inputs: 1,
          polarisations: 1,
          spectrumRateHz: 10,
          chunk: 3,
          frequenciesHz: Float64Array.of(1e6),
        },
      ),
    );
    assert.equal(look.clipped?.numbers, 3);
    assert.ok(Math.abs((look.rms ?? NaN) - Math.sqrt((58 + 98 + 1) / 6)) < 1e-12, `${look.rms ?? 'none'}`);
    assert.deepEqual(look.rows[0].values.slice(0, 2), [
      { re: -7, im: 3 },
      { re: 7, im: -7 },
    ]);
  });
});

describe('waterfalls', () => {
  it('put a tone into its column, noise of rms 1 at 0 dB, and nothing where a sample is missing', async () => {
    // 250 kHz above the centre of a band 1 MHz wide: three quarters up.
    const tone = recording({ type: 'cf32', inputs: 1, samples: 4096 }, (_a, t, part) =>
      part === 0 ? Math.cos((Math.PI / 2) * t) : Math.sin((Math.PI / 2) * t),
    );
    const block = await firstOf(tone);
    const fall = waterfallOf(tone, block, 0);
    assert.deepEqual([fall.rows, fall.columns], [64, 64]);
    const row = Array.from(fall.powerDb.subarray(0, 64));
    assert.equal(row.indexOf(Math.max(...row)), 48);
    assert.equal(fall.frequenciesHz[48], 100.25e6);
    const spectrum = meanSpectrum(inputSpectra(tone, block));
    assert.equal(spectrum[192], 0);
    assert.ok(spectrum[128] < -60, 'the window keeps the tone out of other columns');

    const signs = (_a: number, t: number, part: number): number =>
      Math.imul(t * 2 + part + 1, 0x9e37_79b1) & 0x1_0000 ? 1 : -1;
    const noise = recording({ type: 'ci8', inputs: 1, samples: 4096 }, signs, [
      { firstInput: 0, endInput: 1, firstSample: 100, endSample: 101 },
    ]);
    const noisy = waterfallOf(noise, await firstOf(noise), 0);
    assert.ok(Array.from(noisy.powerDb.subarray(64, 128)).every(Number.isNaN), 'samples 64 to 127');
    const seen = Array.from(noisy.powerDb).filter((value) => !Number.isNaN(value));
    const mean = seen.reduce((sum, value) => sum + 10 ** (value / 10), 0) / seen.length;
    // A mean of 4032 powers, each with an uncertainty equal to itself.
    assert.ok(Math.abs(10 * Math.log10(mean)) < 0.4, `${mean}`);
  });

  it('histograms count every number that arrived', async () => {
    const file = recording({ type: 'i8', inputs: 2, samples: 100 }, (a, t) => (a === 1 && t < 25 ? -2 : 3), [
      { firstInput: 1, endInput: 2, firstSample: 50, endSample: 100 },
    ]);
    const { values, fractions } = histogramOf(file, await firstOf(file), 1);
    assert.deepEqual([...values], [-2, -1, 0, 1, 2, 3]);
    assert.deepEqual([...fractions], [0.5, 0, 0, 0, 0, 0.5]);
  });
});
