import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { spectraCAT, voltagesAT, type SpectraType } from '../core/axes.js';
import type { Integration, VoltageBlock } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import type { Recording, VoltageRecording } from '../formats/index.js';
import {
  planChannels,
  integrationClock,
  oneIntegration,
  type IntegrationClock,
  type TimedSpectra,
  passing,
  type Emit,
} from '../stages/index.js';
import { correlateSpectra, correlateVoltages } from './correlate.js';
import { composeShare } from './compose.js';
import { spectraOfFront, spectraOfSource } from './front.js';
import type { SpectraRange } from './range.js';
import { timeRangesOf } from './image.js';
import { spectraInMemory, voltagesInMemory } from '../stages/testing.js';

const RATE_HZ = 1000;
const SAMPLES = 411;

/** Two stations of two polarisations; strong enough to saturate, and with gaps. */
function voltages(): VoltageRecording {
  const random = randomStream(9, 'parts test');
  const values = Int8Array.from({ length: 4 * SAMPLES * 2 }, () => random.below(255) - 127);
  values.fill(0, 2 * (2 * SAMPLES + 100), 2 * (2 * SAMPLES + 131));
  values.fill(0, 2 * (4 * SAMPLES - 3));
  const whole: VoltageBlock = {
    type: 'ci8',
    inputs: 4,
    samples: SAMPLES,
    voltages: voltagesAT(values, 'ci8', 4, SAMPLES),
    gaps: [
      { firstInput: 2, endInput: 3, firstSample: 100, endSample: 131 },
      { firstInput: 3, endInput: 4, firstSample: SAMPLES - 3, endSample: SAMPLES },
    ],
    start: instant(50),
  };
  return voltagesInMemory(whole, { polarisations: 2, sampleRateHz: RATE_HZ, centreFrequencyHz: 1e6 });
}

function spectra(type: 'ci8' | 'cf32'): Recording {
  const random = randomStream(10, 'parts test');
  const [channels, inputs, samples] = [3, 4, 60];
  const length = 2 * channels * inputs * samples;
  const values =
    type === 'ci8'
      ? Int8Array.from({ length }, () => random.below(255) - 127)
      : Float32Array.from({ length }, () => random.gaussian());
  const gap = { firstChannel: 1, endChannel: 3, firstInput: 0, endInput: 2, firstSample: 17, endSample: 29 };
  return spectraInMemory(
    {
      samples,
      spectra: spectraCAT(values, type, channels, inputs, samples),
      gaps: [gap],
      start: instant(50),
    },
    {
      type,
      inputs,
      polarisations: 2,
      spectrumRateHz: 100,
      chunk: 7,
      frequenciesHz: Float64Array.of(1e6, 1.1e6, 1.2e6),
    },
  );
}

type Plan = ReturnType<typeof planChannels> | undefined;

const spectraOf = (source: Recording, channels: Plan): number => spectraOfSource({ source, channels });

const clockOf = (of: { integrationS: number }, source: Recording, channels: Plan): IntegrationClock =>
  integrationClock(of, spectraOfFront({ source, channels }).grid);

async function correlatePart(
  source: Recording,
  channels: Plan,
  { integrationS, flaggedInputs, backend }: typeof settings & { integrationS: number },
  range: SpectraRange,
  emit: Emit<Integration>,
) {
  const clock = clockOf({ integrationS }, source, channels);
  const front = { source, channels, flaggedInputs };
  const share = await composeShare({ front, flaggedInputs }, backend, range, {
    sums: { cuts: clock, emit },
  });
  return share.run();
}

const settings = { backend: openReference(), flaggedInputs: Uint8Array.of(0, 1, 0, 0) };

/** The sum of every part of a cut, and the counts. */
async function inParts(
  recording: Recording,
  cuts: { readonly spectra: readonly number[]; readonly channels: readonly number[] },
  integrationS: number,
  outputType: SpectraType,
) {
  const plan =
    recording.kind === 'voltages' ? planChannels(recording, { channels: 4, taps: 3, outputType }) : undefined;
  const all = spectraOf(recording, plan);
  const clock = clockOf({ integrationS }, recording, plan);
  const ends = timeRangesOf(clock, 0, all);
  const channels = plan ? 4 : 3;
  const sums = ends.map(() => new Float64Array(channels * 3 * 4 * 2).fill(-0));
  const counts = ends.map(() => new Float64Array(channels * 3));
  const counted = { missingSamples: 0, saturated: 0 };
  const times = [...cuts.spectra, all];
  for (let t = 1; t < times.length; t++) {
    for (let c = 1; c < cuts.channels.length; c++) {
      const [firstChannel, endChannel] = [cuts.channels[c - 1], cuts.channels[c]];
      const shareRange = { firstSpectrum: times[t - 1], endSpectrum: times[t], firstChannel, endChannel };
      const parts = timeRangesOf(clock, shareRange.firstSpectrum, shareRange.endSpectrum);
      let at = 0;
      const account = await correlatePart(
        recording,
        plan,
        { ...settings, integrationS },
        shareRange,
        (one) => {
          const { first } = parts[at++];
          const n = ends.findIndex((range) => first >= range.first && first < range.end);
          one.visibilities.forEach((value, k) => (sums[n][firstChannel * 24 + k] += value));
          one.counts.forEach((value, k) => (counts[n][firstChannel * 3 + k] += value));
          return Promise.resolve();
        },
      );
      assert.equal(at, parts.length);
      counted.missingSamples += account.missingSamples;
      counted.saturated += account.saturated;
    }
  }
  return { sums, counts, counted };
}

async function inOne(recording: Recording, integrationS: number, outputType: SpectraType) {
  const all: Integration[] = [];
  const keep = (one: Integration): Promise<void> => {
    all.push(one);
    return Promise.resolve();
  };
  const tally =
    recording.kind === 'voltages'
      ? await correlateVoltages(
          recording,
          planChannels(recording, { channels: 4, taps: 3, outputType }),
          { ...settings, integrationS },
          keep,
        )
      : await correlateSpectra(recording, { ...settings, integrationS }, keep);
  return { all, tally };
}

describe('parts of a correlation', () => {
  const cases = [
    ['voltages, in one part', voltages, { spectra: [0], channels: [0, 4] }],
    ['voltages, cut within integrations', voltages, { spectra: [0, 1, 13, 40, 99], channels: [0, 4] }],
    ['voltages, cut in channels too', voltages, { spectra: [0, 50], channels: [0, 1, 4] }],
    ['spectra, cut everywhere', () => spectra('ci8'), { spectra: [0, 5, 18, 19, 41], channels: [0, 2, 3] }],
  ] as const;
  for (const [name, make, cuts] of cases) {
    it(`add up to the whole, bit for bit: ${name}`, async () => {
      const integrationS = 0.08;
      const { all, tally } = await inOne(make(), integrationS, 'ci8');
      const { sums, counts, counted } = await inParts(make(), cuts, integrationS, 'ci8');
      assert.ok(all.length > 4);
      all.forEach((one, n) => {
        assert.deepEqual(
          sums[n],
          Float64Array.from(one.visibilities, (value) => value + 0),
          `sums of ${n}`,
        );
        assert.deepEqual(counts[n], Float64Array.from(one.counts), `counts of ${n}`);
      });
      assert.equal(counted.missingSamples, tally.missingSamples);
      assert.equal(counted.saturated, tally.saturated);
      assert.ok(counted.missingSamples > 0);
    });
  }

  it('floats are the same where no integration is cut', async () => {
    for (const make of [voltages, () => spectra('cf32')]) {
      const { all } = await inOne(make(), 0.08, 'cf32');
      const perIntegration = make === voltages ? 20 : 8;
      const channels = make === voltages ? [0, 3, 4] : [0, 1, 3];
      const cuts = { spectra: [0, perIntegration, 3 * perIntegration], channels };
      const { sums } = await inParts(make(), cuts, 0.08, 'cf32');
      all.forEach((one, n) => {
        assert.deepEqual(
          sums[n],
          Float64Array.from(one.visibilities, (value) => value + 0),
        );
      });
    }
  });
});

describe('parts of channelised data', () => {
  it('are the spectra of the whole', async () => {
    const recording = voltages();
    const plan = planChannels(recording, { channels: 4, taps: 3, outputType: 'ci8' });
    const all = spectraOf(recording, plan);
    const read = async (cuts: readonly number[]): Promise<number[]> => {
      const rows: number[][] = Array.from({ length: 4 * 4 }, () => []);
      for (let t = 1; t < cuts.length; t++) {
        const shareRange = {
          firstSpectrum: cuts[t - 1],
          endSpectrum: cuts[t],
          firstChannel: 0,
          endChannel: 4,
        };
        const stage = passing<TimedSpectra>(async ({ block, index }) => {
          const { samples } = block;
          const made = await block.read();
          assert.equal(index, rows[0].length / 2);
          rows.forEach((row, n) => row.push(...made.subarray(2 * n * samples, 2 * (n + 1) * samples)));
        });
        const products = [{ from: 'spectra', clock: oneIntegration, stage }] as const;
        const front = { source: recording, channels: plan };
        await (await composeShare({ front }, settings.backend, shareRange, { products })).run();
      }
      return rows.flat();
    };
    const whole = await read([0, all]);
    assert.equal(whole.length, 2 * 16 * all);
    assert.deepEqual(await read([0, 7, 8, 60, all]), whole);
  });
});
