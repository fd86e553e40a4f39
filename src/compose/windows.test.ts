/** Kurtosis windows are placed by the number of a spectrum in the whole source: other products and ranges do not move them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openCpu } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { openReference } from '../backend/reference.js';
import { allocateVoltages, spectraCAT } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import {
  fixedDelays,
  type RequestedDelays,
  planChannels,
  everySpectra,
  oneIntegration,
  type IntegrationClock,
  leastSpectraOf,
  type TimedSpectra,
  passing,
} from '../stages/index.js';
import { spectraInMemory, voltagesInMemory } from '../stages/testing.js';
import { timeRangesOf } from './image.js';
import { composeShare, observe, type FromIntegrations } from './compose.js';
import { spectraOfFront, spectraOfSource, type Front } from './front.js';

const [INPUTS, CHANNELS, WINDOW] = [4, 4, 32];
const kurtosis = { spectraPerWindow: WINDOW };

/** Noise, with pulses in one input: some windows are flagged, others are not. */
function frontOfVoltages(
  delays?: RequestedDelays,
  {
    blockS = 0.2,
    samples = 3000,
    outputType = 'ci8',
  }: { blockS?: number; samples?: number; outputType?: 'ci8' | 'cf32' } = {},
): Front {
  const voltages = allocateVoltages('ci8', INPUTS, samples);
  const random = randomStream(5, 'windows');
  for (let a = 0; a < INPUTS; a++)
    for (let t = 0; t < samples; t++) {
      const loud = a === 2 && t % 530 < 90 ? 60 : 20;
      for (const part of [0, 1])
        voltages[2 * (a * samples + t) + part] = Math.round(loud * random.gaussian());
    }
  const whole = { type: 'ci8', inputs: INPUTS, samples, voltages, gaps: [], start: instant(50) } as const;
  const source = voltagesInMemory(whole, { polarisations: 2, sampleRateHz: 1000, centreFrequencyHz: 1e6 });
  const channels = planChannels(source, {
    channels: CHANNELS,
    taps: 3,
    outputType,
    blockS,
    ...leastSpectraOf(kurtosis, { channels: CHANNELS, inputs: INPUTS }),
    mostDelaySamples: delays && 40,
  });
  return { source, channels, kurtosis, delays };
}

function frontOfSpectra(): Front {
  const [channels, samples] = [3, 700];
  const random = randomStream(6, 'windows');
  const values = new Int8Array(2 * channels * INPUTS * samples);
  for (let row = 0; row < channels * INPUTS; row++)
    for (let t = 0; t < samples; t++) {
      const loud = row === 5 && t % 130 < 22 ? 60 : 20;
      for (const part of [0, 1])
        values[2 * (row * samples + t) + part] = Math.round(loud * random.gaussian());
    }
  const source = spectraInMemory(
    { samples, spectra: spectraCAT(values, 'ci8', channels, INPUTS, samples), gaps: [], start: instant(50) },
    {
      type: 'ci8',
      inputs: INPUTS,
      polarisations: 2,
      spectrumRateHz: 100,
      chunk: 17,
      frequenciesHz: Float64Array.of(1e6, 1.1e6, 1.2e6),
    },
  );
  return { source, kurtosis };
}

/** Delays that change by a sample now and then, and are not undone: the sums stay whole numbers. */
const moving = (): RequestedDelays => {
  const fixed = fixedDelays(Float64Array.of(0, 0.001, 0.002, 0.003), 1000);
  const { delayModel } = fixed;
  const later = (tick: bigint): bigint => (tick / 76n + 1n) * 76n;
  return {
    ...fixed,
    delayModel: {
      ...delayModel,
      at: (input, tick) => {
        const piece = delayModel.at(input, tick);
        const step = Number((tick / 76n) % 3n);
        return { ...piece, delayS: piece.delayS + 0.001 * step, fromTick: (tick / 76n) * 76n };
      },
      nextAfter: later,
    },
  };
};

/** Tracked: a delay that drifts, and is rotated out spectrum by spectrum before rounding. */
const drifting = (): RequestedDelays => {
  const fixed = fixedDelays(Float64Array.of(0, 0.001, 0.002, 0.003), 1000);
  const { delayModel } = fixed;
  return {
    ...fixed,
    towards: 'a place',
    delayModel: {
      ...delayModel,
      at: (input, tick) => ({
        ...delayModel.at(input, tick),
        fromTick: 0n,
        delayRate: 3e-4 * input,
        phaseRad: 0.3,
        phaseRateRadS: 0.7123 * input,
      }),
    },
  };
};

const A = everySpectra(97);
const B = everySpectra(41);

async function joint(front: Front, backend: Backend, ...clocks: IntegrationClock[]) {
  const made: Integration[][] = clocks.map(() => []);
  const products = clocks.map((clock, n): FromIntegrations => ({
    from: 'integrations',
    clock,
    values: 'sums',
    stage: passing<Integration>((one) => {
      made[n].push(copied(one));
      return Promise.resolve();
    }),
  }));
  await observe({ front, products }, [backend]);
  return made[0];
}

const copied = (one: Integration): Integration => ({
  ...one,
  visibilities: one.visibilities.slice() as typeof one.visibilities,
  counts: one.counts.slice() as typeof one.counts,
  productCounts: one.productCounts?.slice() as typeof one.productCounts,
});

/** Sums and counts, by product. */
const numbersOf = (one: Integration): number[][] => [
  Array.from(one.visibilities, (value) => value + 0),
  Array.from(one.productCounts ?? Array.from(one.counts).flatMap((n) => [n, n, n, n])),
];

async function inRanges(front: Front, backend: Backend, times: readonly number[], bands: readonly number[]) {
  const all = spectraOfSource(front);
  const { channels } = spectraOfFront(front);
  const ends = timeRangesOf(A, 0, all);
  const sums = ends.map(() => [
    new Array<number>(channels * 24).fill(0),
    new Array<number>(channels * 12).fill(0),
  ]);
  const cuts = [0, ...times, all];
  for (let t = 1; t < cuts.length; t++)
    for (let c = 1; c < bands.length; c++) {
      const range = {
        firstSpectrum: cuts[t - 1],
        endSpectrum: cuts[t],
        firstChannel: bands[c - 1],
        endChannel: bands[c],
      };
      const parts = timeRangesOf(A, range.firstSpectrum, range.endSpectrum);
      let at = 0;
      const emit = (one: Integration): Promise<void> => {
        const { first } = parts[at++];
        const n = ends.findIndex((one) => first >= one.first && first < one.end);
        const [values, counts] = numbersOf(one);
        values.forEach((value, k) => (sums[n][0][range.firstChannel * 24 + k] += value));
        counts.forEach((value, k) => (sums[n][1][range.firstChannel * 12 + k] += value));
        return Promise.resolve();
      };
      const share = await composeShare({ front }, backend, range, { sums: { cuts: A, emit } });
      await share.run();
      assert.equal(at, parts.length);
    }
  return sums;
}

/** Of the whole, as the correlator leaves them: not rotated back. */
async function raw(front: Front, backend: Backend, clock: IntegrationClock): Promise<Integration[]> {
  const made: Integration[] = [];
  const [endSpectrum, endChannel] = [spectraOfSource(front), spectraOfFront(front).channels];
  const range = { firstSpectrum: 0, endSpectrum, firstChannel: 0, endChannel };
  const emit = (one: Integration): Promise<void> => {
    made.push(copied(one));
    return Promise.resolve();
  };
  const share = await composeShare({ front }, backend, range, { sums: { cuts: clock, emit } });
  await share.run();
  return made;
}

const library = loadNative();
const backends = [
  ['reference', () => Promise.resolve(openReference())],
  ...('what' in library ? [] : [['cpu', () => openCpu({ threads: 2 })] as const]),
] as const;

for (const [kind, open] of backends)
  describe(`kurtosis windows, ${kind}`, () => {
    const cases = [
      ['voltages', () => frontOfVoltages()],
      ['voltages with delays that change', () => frontOfVoltages(moving())],
      ['spectra', frontOfSpectra],
    ] as const;
    for (const [name, make] of cases)
      it(`${name}: beside another product and in ranges the same samples are flagged`, async () => {
        const backend = await open();
        try {
          const alone = await joint(make(), backend, A);
          const counts = new Set(alone.flatMap(({ productCounts }) => [...(productCounts ?? [])]));
          assert.ok(counts.size > 2, 'nothing was flagged');
          const beside = await joint(make(), backend, A, B);
          assert.deepEqual(beside.map(numbersOf), alone.map(numbersOf));
          const last = make().source.kind === 'spectra' ? 3 : CHANNELS;
          for (const [times, bands] of [
            [
              [50, 97, 333],
              [0, last],
            ],
            [
              [101, 290, 291],
              [0, 1, last],
            ],
          ] as const)
            assert.deepEqual(await inRanges(make(), backend, times, bands), alone.map(numbersOf));
        } finally {
          await backend.close();
        }
      });

    it('tracked spectra are the same bits whatever the cuts, the blocks and the range', async () => {
      const backend = await open();
      const make = (blockS: number): Front =>
        frontOfVoltages(drifting(), { blockS, samples: 20_000, outputType: 'cf32' });
      const spectraOf = async (front: Front, clock: IntegrationClock): Promise<Map<number, number[]>> => {
        const made = new Map<number, number[]>();
        const stage = passing<TimedSpectra>(async ({ block, index }) => {
          const values = await block.read();
          for (let t = 0; t < block.samples; t++)
            made.set(
              index + t,
              Array.from(
                { length: 2 * CHANNELS * INPUTS },
                (_, n) => values[2 * ((n >> 1) * block.samples + t) + (n & 1)],
              ),
            );
        });
        await observe(
          { front: { ...front, kurtosis: undefined }, products: [{ from: 'spectra', clock, stage }] },
          [backend],
        );
        return made;
      };
      try {
        const alone = await spectraOf(make(2), oneIntegration);
        assert.deepEqual(await spectraOf(make(2), everySpectra(37)), alone);
        assert.deepEqual(await spectraOf(make(1.7), A), alone);
        const range = { firstSpectrum: 1333, endSpectrum: 2345, firstChannel: 0, endChannel: CHANNELS };
        const part = await spectraOf({ ...make(2), range }, A);
        assert.deepEqual([...part.keys()].at(0), 1333);
        assert.equal(part.size, 2345 - 1333);
        for (const [index, values] of part) assert.deepEqual(values, alone.get(index), `spectrum ${index}`);
      } finally {
        await backend.close();
      }
    });

    it('tracking and kurtosis: in ranges the same sums', async () => {
      const backend = await open();
      const make = (): Front => frontOfVoltages(drifting(), { blockS: 2, samples: 20_000 });
      try {
        const alone = (await raw(make(), backend, A)).map(numbersOf);
        const ranges = await inRanges(make(), backend, [50, 97, 1333, 2345, 4001], [0, 1, CHANNELS]);
        assert.deepEqual(ranges, alone);
      } finally {
        await backend.close();
      }
    });
  });
