import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineIndex, countsCB, spectraCAT, visibilitiesCBPP, voltagesAT } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, instant } from '../core/instant.js';
import type { VisibilityFile, VisibilityHeader } from '../formats/index.js';
import { trio } from '../formats/testing/trio.js';
import { spectraInMemory, voltagesInMemory } from '../stages/testing.js';
import { describeFile } from './inspect.js';
import { lookAtVisibilities } from './visibilities.js';

const [CHANNELS, BASELINES] = [2, 6];
const header: VisibilityHeader = {
  telescope: trio,
  polarisations: 2,
  frequenciesHz: Float64Array.of(100e6, 101e6),
  channelWidthHz: 1e6,
  phaseCentre: { raDeg: 80, decDeg: -26 },
  object: 'a field',
  history: [],
};

/** Every mean of product (p_i, p_j) of baseline b in channel c is (100 b + 10 p_i + p_j) · (c + 1), and −i. */
function integration(count: number, flags: readonly number[] = []): Integration {
  const visibilities = visibilitiesCBPP(new Float64Array(CHANNELS * BASELINES * 8), CHANNELS, BASELINES, 2);
  for (let c = 0; c < CHANNELS; c++) {
    for (let b = 0; b < BASELINES; b++) {
      for (let pair = 0; pair < 4; pair++) {
        const at = 2 * ((c * BASELINES + b) * 4 + pair);
        visibilities[at] = count * (100 * b + 10 * (pair >> 1) + (pair & 1)) * (c + 1);
        visibilities[at + 1] = -count;
      }
    }
  }
  return {
    start: instant(50),
    durationS: 4,
    channels: CHANNELS,
    stations: 3,
    polarisations: 2,
    visibilities,
    counts: countsCB(new Float64Array(CHANNELS * BASELINES).fill(count), CHANNELS, BASELINES),
    flaggedInputs: Uint8Array.from({ length: 6 }, (_, a) => (flags.includes(a) ? 1 : 0)),
  };
}

const fileOf = (all: readonly Integration[], changes: Partial<VisibilityHeader> = {}): VisibilityFile => ({
  kind: 'visibilities',
  path: 'memory',
  format: 'test',
  details: {},
  telescope: trio,
  header: { ...header, ...changes },
  integrationCount: all.length,
  integrations: async function* () {
    for (const one of all) yield await Promise.resolve(one);
  },
  close: () => Promise.resolve(),
});

describe('a look at visibilities', () => {
  it('has the first means, product by product', async () => {
    const look = await lookAtVisibilities(fileOf([integration(10)]));
    assert.deepEqual(
      look.rows.map(({ stations, product }) => `${stations.join()} ${product}`),
      ['0,0', '1,0', '1,1'].flatMap((pair) =>
        ['XX', 'XY', 'YX', 'YY'].map((product) => `${pair} ${product}`),
      ),
    );
    // Stations 1 and 0 are baseline 1; YX is 110, and twice that in channel 1.
    assert.deepEqual(look.rows[6].values, [
      { re: 110, im: -1 },
      { re: 220, im: -1 },
    ]);
    assert.deepEqual([look.start, look.durationS], [instant(50), 4]);
    assert.deepEqual(look.counts, [10, 10]);
    assert.deepEqual(look.missing, { values: 0, fraction: 0 });
    const circular = await lookAtVisibilities(fileOf([integration(10)], { feeds: 'circular' }));
    assert.deepEqual(
      circular.rows.slice(0, 4).map(({ product }) => product),
      ['RR', 'RL', 'LR', 'LL'],
    );
  });

  it('counts what has no weight over all integrations, and how many samples the others have', async () => {
    const first = integration(10, [1]);
    const second = { ...integration(30), start: addSeconds(instant(50), 4) };
    second.counts[BASELINES + baselineIndex(2, 1)] = 0;
    const look = await lookAtVisibilities(fileOf([first, second]));
    assert.equal(look.integrations, 2);
    assert.equal(look.extent, 'whole');
    // Input 1 has weight in the second.
    assert.deepEqual(look.flaggedInputs, []);
    // Input 1, Y of station 0: of 00 three of four products, of 10 and 20 two, in both channels: 2·(3 + 2 + 2); in the
    // second integration the four of one pair in one channel.
    assert.deepEqual(look.missing, { values: 14 + 4, fraction: 18 / 96 });
    assert.deepEqual(look.counts, [10, 30]);
    assert.deepEqual(look.rows[1], {
      stations: [0, 0],
      product: 'XY',
      values: [null, null],
      flagged: [0, 1],
    });
  });

  it('calls flagged what has no weight in any integration, and absent what no row is of', async () => {
    // Station 2 joins in the second integration; Y of station 0 is flagged throughout, X of station 1 only in the
    // first.
    const alone = Uint8Array.from({ length: BASELINES }, (_, b) => (b < baselineIndex(2, 0) ? 1 : 0));
    const first = { ...integration(10, [1, 2, 4, 5]), pairs: alone };
    const second = integration(10, [1]);
    const whole = await lookAtVisibilities(fileOf([first, second]));
    assert.deepEqual([whole.flaggedInputs, whole.absentInputs], [[1], []]);
    const one = await lookAtVisibilities(fileOf([first]));
    assert.deepEqual(
      [one.flaggedInputs, one.absentInputs],
      [
        [1, 2],
        [4, 5],
      ],
    );
  });

  it('has the most common length of integrations, and the shortest and longest where they differ', async () => {
    const lasting = (durationS: number): Integration => ({ ...integration(10), durationS });
    const cut = await lookAtVisibilities(fileOf([lasting(1.5), lasting(4), lasting(4), lasting(2)]));
    assert.deepEqual([cut.durationS, cut.durationRangeS], [4, [1.5, 4]]);
    const alike = await lookAtVisibilities(fileOf([lasting(4 - 1e-9), lasting(4)]));
    assert.deepEqual([alike.durationS, alike.durationRangeS], [4, undefined]);
    // The file's index also covers integrations that are not read.
    const many = {
      ...fileOf([lasting(1.5)]),
      integrationCount: 2 ** 20,
      durationsS: Float64Array.of(1.5, 4, 4),
    };
    const indexed = await lookAtVisibilities(many);
    assert.equal(indexed.extent, 'first integration');
    assert.deepEqual([indexed.durationS, indexed.durationRangeS], [4, [1.5, 4]]);
  });

  it('shows the band by autocorrelations, by all pairs where there are none, and nothing of nothing', async () => {
    // Means over autocorrelations double from channel 0 to 1: −3 dB and 0.
    const { spectrumDb } = await lookAtVisibilities(fileOf([integration(10)]));
    assert.ok(Math.abs(spectrumDb[0] + 10 * Math.log10(2)) < 0.01 && spectrumDb[1] === 0);
    const crossOnly = integration(10);
    for (let c = 0; c < CHANNELS; c++)
      for (let s = 0; s < 3; s++) crossOnly.counts[c * BASELINES + baselineIndex(s, s)] = 0;
    const cross = await lookAtVisibilities(fileOf([crossOnly]));
    assert.ok(Math.abs(cross.spectrumDb[0] + 10 * Math.log10(2)) < 0.01);
    assert.deepEqual(cross.rows[0].stations, [1, 0]);
    const empty = { ...integration(10), counts: countsCB(new Float64Array(12), CHANNELS, BASELINES) };
    const nothing = await lookAtVisibilities(fileOf([empty]));
    assert.deepEqual(nothing.missing, { values: 48, fraction: 1 });
    assert.equal(nothing.counts, undefined);
    assert.ok(nothing.rows.every(({ values }) => values.every((value) => value === null)));
  });
});

describe('what a file holds', () => {
  it('is given alike for voltages, spectra and visibilities', () => {
    const start = instant(50);
    const block = {
      ...({ type: 'i8', inputs: 2, samples: 10, gaps: [], start } as const),
      voltages: voltagesAT(new Int8Array(20), 'i8', 2, 10),
    };
    const real = voltagesInMemory(block, {
      polarisations: 1,
      sampleRateHz: 8e6,
      centreFrequencyHz: 60e6,
      bits: 4,
    });
    const { lowestHz, highestHz, durationS, stations, bits, rateHz } = describeFile(real);
    // A real band is half as wide as its sample rate.
    assert.deepEqual(
      [lowestHz, highestHz, durationS, stations, bits, rateHz],
      [58e6, 62e6, 10 / 8e6, 2, 4, 8e6],
    );
    const spectra = describeFile(
      spectraInMemory(
        { samples: 5, spectra: spectraCAT(new Uint8Array(40), 'ci4', 2, 4, 5), gaps: [], start },
        {
          type: 'ci4',
          inputs: 4,
          polarisations: 2,
          spectrumRateHz: 20,
          chunk: 5,
          frequenciesHz: Float64Array.of(1e6, 2e6),
        },
      ),
    );
    assert.deepEqual(
      [
        spectra.lowestHz,
        spectra.highestHz,
        spectra.durationS,
        spectra.stations,
        spectra.bits,
        spectra.channels,
      ],
      [1e6, 2e6, 0.25, 2, 4, 2],
    );
    const { telescope, integrations, inputs, channelWidthHz, phaseCentre } = describeFile(
      fileOf([integration(1)]),
    );
    assert.deepEqual(telescope, {
      name: 'trio',
      title: trio.title,
      site: trio.site,
      stations: ['s0', 's1', 's2'],
    });
    assert.deepEqual([integrations, inputs, channelWidthHz, phaseCentre], [1, 6, 1e6, header.phaseCentre]);
  });
});
