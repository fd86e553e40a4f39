/** Several cards, with the processor in place of each: their joint results equal those of one, bit for bit. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { loadNative } from '../backend/cpu/library.js';
import { openBackend } from '../backend/select.js';
import { spectraCAT, voltagesAT } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { parsePhaseCentre } from '../sky/phase-centre.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import {
  planChannels,
  planFineChannels,
  streamsOf,
  fixedDelays,
  mostDelaySamples,
  requestDelays,
  channelRanges,
  JointParts,
} from '../stages/index.js';
import { correlateSpectra, correlateVoltages } from './correlate.js';
import { spectraInMemory, voltagesInMemory } from '../stages/testing.js';

const INPUTS = 6;
const SAMPLES = 2000;
const start = parseInstant('2026-11-16T04:00:00Z');
const random = randomStream(3, 'cards');
const numbers = (length: number): Int8Array<ArrayBuffer> =>
  Int8Array.from({ length }, () => random.below(255) - 127);
const voltages = voltagesInMemory(
  {
    type: 'ci8',
    inputs: INPUTS,
    samples: SAMPLES,
    start,
    voltages: voltagesAT(numbers(2 * INPUTS * SAMPLES), 'ci8', INPUTS, SAMPLES),
    gaps: [{ firstInput: 2, endInput: 3, firstSample: 100, endSample: 431 }],
  },
  { polarisations: 2, sampleRateHz: 40_000, centreFrequencyHz: 60e6 },
);
const spectra = spectraInMemory(
  {
    samples: 300,
    start,
    spectra: spectraCAT(numbers(2 * 5 * INPUTS * 300), 'ci8', 5, INPUTS, 300),
    gaps: [{ firstChannel: 1, endChannel: 4, firstInput: 0, endInput: 2, firstSample: 17, endSample: 29 }],
  },
  {
    type: 'ci8',
    inputs: INPUTS,
    polarisations: 2,
    spectrumRateHz: 10_000,
    chunk: 70,
    frequenciesHz: Float64Array.of(60e6, 60.01e6, 60.02e6, 60.03e6, 60.04e6),
  },
);
const plan = planChannels(voltages, { channels: 7, taps: 4, outputType: 'ci8' });
const settings = { integrationS: 0.01, flaggedInputs: Uint8Array.of(0, 0, 0, 1, 0, 0) };

/** So many of a kind, opened and closed. */
async function withCards<Result>(
  kind: 'reference' | 'cpu',
  count: number,
  work: (cards: readonly Backend[]) => Promise<Result>,
): Promise<Result> {
  const cards = await Promise.all(Array.from({ length: count }, () => openBackend(kind, { threads: 1 })));
  try {
    return await work(cards);
  } finally {
    for (const card of cards) await card.close();
  }
}

/** Kept: backends fill their arrays anew. */
const keeping = (into: Integration[]) => (one: Integration) => {
  into.push({ ...one, visibilities: one.visibilities.slice() as never, counts: one.counts.slice() as never });
  return Promise.resolve();
};

const kinds = (['reference', 'cpu'] as const).filter(
  (kind) => kind === 'reference' || !('what' in loadNative()),
);

for (const kind of kinds)
  describe(`two and three cards, each a ${kind} backend`, () => {
    it('correlate voltages as one', async () => {
      const whole: Integration[] = [];
      const account = await withCards(kind, 1, ([backend]) =>
        correlateVoltages(voltages, plan, { ...settings, backend }, keeping(whole)),
      );
      assert.ok(whole.length >= 4);
      for (const count of [2, 3]) {
        const parts: Integration[] = [];
        const counted = await withCards(kind, count, (cards) =>
          correlateVoltages(
            ...([voltages, plan, { ...settings, backend: cards[0], backends: cards }] as const),
            keeping(parts),
          ),
        );
        assert.deepEqual(parts, whole);
        const { missingSamples, saturated, integrations, spectra: made } = counted;
        assert.deepEqual(
          [missingSamples, saturated, integrations, made],
          [account.missingSamples, account.saturated, account.integrations, account.spectra],
        );
      }
    });

    it('flag, delay and correct for rounding as one', async () => {
      const fixedS = Float64Array.from({ length: INPUTS }, (_, a) => a * 3.3e-5);
      const delays = fixedDelays(fixedS, voltages.sampleRateHz);
      const delayed = planChannels(voltages, {
        channels: 7,
        taps: 4,
        outputType: 'ci8',
        leastSpectra: 32,
        mostDelaySamples: mostDelaySamples(delays),
      });
      const asked = { ...settings, delays, vanVleck: {}, kurtosis: { spectraPerWindow: 32, sigmas: 3 } };
      const made = await Promise.all(
        [1, 2].map(async (count) => {
          const all: Integration[] = [];
          await withCards(kind, count, (cards) =>
            correlateVoltages(
              ...([voltages, delayed, { ...asked, backend: cards[0], backends: cards }] as const),
              keeping(all),
            ),
          );
          return all;
        }),
      );
      assert.ok(made[0].length >= 4);
      assert.deepEqual(made[1], made[0]);
    });

    it('track, and make finer channels, as one', async () => {
      const telescope = selectStations(await loadTelescope('lwasv'), 3);
      const { sampleRateHz: tickRateHz } = voltages;
      const track = parsePhaseCentre('CygA', 'test');
      const ticking = { start, tickRateHz, lastsS: SAMPLES / tickRateHz };
      const delays = requestDelays({ track }, telescope, ticking);
      assert.ok(delays?.towards !== undefined);
      const tracked = planChannels(voltages, {
        channels: 7,
        taps: 4,
        outputType: 'cf32',
        mostDelaySamples: mostDelaySamples(delays),
      });
      const streams = streamsOf(spectra);
      const finer = { inputs: INPUTS, channels: planFineChannels(spectra, 4) };
      const fine = planChannels(streams, { channels: 4, taps: 4, outputType: 'ci8' });
      const runs = [
        (cards: readonly Backend[], into: Integration[]) =>
          correlateVoltages(
            ...([voltages, tracked, { ...settings, delays, backend: cards[0], backends: cards }] as const),
            keeping(into),
          ),
        (cards: readonly Backend[], into: Integration[]) =>
          correlateVoltages(
            ...([streams, fine, { ...settings, finer, backend: cards[0], backends: cards }] as const),
            keeping(into),
          ),
      ];
      for (const correlate of runs) {
        const [one, two]: Integration[][] = [[], []];
        await withCards(kind, 1, (cards) => correlate(cards, one));
        await withCards(kind, 2, (cards) => correlate(cards, two));
        assert.ok(one.length >= 2);
        assert.deepEqual(two, one);
      }
    });

    it('correlate what came channelised as one', async () => {
      const whole: Integration[] = [];
      const account = await withCards(kind, 1, ([backend]) =>
        correlateSpectra(spectra, { ...settings, backend }, keeping(whole)),
      );
      const parts: Integration[] = [];
      const counted = await withCards(kind, 2, (cards) =>
        correlateSpectra(spectra, { ...settings, backend: cards[0], backends: cards }, keeping(parts)),
      );
      assert.deepEqual(parts, whole);
      assert.equal(counted.missingSamples, account.missingSamples);
    });
  });

describe('channels of several cards', () => {
  it('are shared evenly, each once', () => {
    assert.deepEqual(channelRanges(8, 2), [{ first: 0, end: 4 }, { first: 4, end: 8 }]); // prettier-ignore
    assert.deepEqual(channelRanges(5, 3), [{ first: 0, end: 2 }, { first: 2, end: 3 }, { first: 3, end: 5 }]); // prettier-ignore
    assert.throws(() => channelRanges(2, 3), /3 cards for 2 channels/);
  });

  it('fail together', async () => {
    const joint = new JointParts<number>(2, () => Promise.resolve());
    const waits = (async () => {
      await joint.emit(0)(1);
      await joint.emit(0)(2);
    })();
    const fails = (async () => {
      await joint.emit(1)(1);
      throw new Error('out of memory');
    })();
    await assert.rejects(joint.all([waits, fails]), /out of memory/);
    assert.ok(joint.signal.aborted);
  });
});
