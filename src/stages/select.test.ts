import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP, weightsCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import type { VisibilityFile } from '../formats/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { addIntegrations, chooseIntegration, longestSumS, SolutionSums, type SolutionSum } from './select.js';

/** All of it flagged. */
async function* nothing(file: VisibilityFile): AsyncGenerator<Integration> {
  for await (const each of file.integrations())
    yield { ...each, counts: countsCB(new Float64Array(1), 1, 1) };
}

const one = (unixSeconds: number, value: number): Integration => ({
  start: instant(unixSeconds),
  durationS: 2,
  channels: 1,
  stations: 1,
  polarisations: 1,
  visibilities: visibilitiesCBPP(Float64Array.of(value, 0), 1, 1, 1),
  counts: countsCB(Float64Array.of(4), 1, 1),
  flaggedInputs: new Uint8Array(1),
  passThrough: {
    means: visibilitiesCBPP(Float64Array.of(value / 4, 0), 1, 1, 1),
    weights: weightsCBPP(Float64Array.of(4), 1, 1, 1),
  },
});

const HZ = 150e6;

/** Two stations so far apart, east and west. */
const pair = (apartM: number): Telescope => ({
  name: 'pair',
  title: 'Two stations',
  site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
  stations: [
    { name: 'a', eastM: 0, northM: 0, upM: 0 },
    { name: 'b', eastM: apartM, northM: 0, upM: 0 },
  ],
  polarisations: 1,
  band: { lowHz: 1e8, highHz: 2e8 },
  recording: { centreFrequencyHz: HZ, sampleRateHz: 1e6, channels: 1, bits: 8 },
  beamExponent: 1,
});

/** Integrations of two seconds, one after the other, whose only visibility is their number. */
function fileOf(integrations: number, apartM: number): VisibilityFile {
  const telescope = pair(apartM);
  return {
    kind: 'visibilities',
    path: 'memory',
    format: 'test',
    details: {},
    telescope,
    header: {
      telescope,
      polarisations: 1,
      frequenciesHz: Float64Array.of(HZ),
      channelWidthHz: 1e4,
      phaseCentre: { raDeg: 0, decDeg: 0 },
      object: 'zenith',
      history: [],
    },
    integrationCount: integrations,
    integrations: async function* () {
      await Promise.resolve();
      for (let k = 0; k < integrations; k++) yield one(100 + 2 * k, k);
    },
    close: () => Promise.resolve(),
  };
}

/** All sums of a file whose integrations reuse their memory. */
async function summed(file: VisibilityFile, everyS?: number) {
  const sums = new SolutionSums({ telescope: file.telescope, frequenciesHz: Float64Array.of(HZ) }, everyS);
  const made: SolutionSum[] = [];
  for await (const each of file.integrations()) {
    made.push(...sums.add(each));
    each.visibilities.fill(Number.NaN);
    each.counts.fill(Number.NaN);
  }
  made.push(...sums.end());
  return { sums, made };
}

describe('sums for solutions', () => {
  const facts = ({ integration, used, until }: SolutionSum): readonly number[] => [
    integration.visibilities[0],
    used,
    until.unixSeconds - 100,
  ];

  it('end with their interval, or where the turning sky ends them; the interval ends when it does', async () => {
    // Intervals of 6 s: the sums of 0, 1, 2; of 3, 4, 5; and of the rest.
    const { made } = await summed(fileOf(8, 10), 6);
    assert.deepEqual(made.map(facts), [[3, 3, 6], [12, 3, 12], [13, 2, 18]]); // prettier-ignore
    // Integrations of 2 s belong to the interval of 5 s in which they begin; the first is over with the third.
    const uneven = await summed(fileOf(5, 10), 5);
    assert.deepEqual(uneven.made.map(facts), [[1, 2, 6], [7, 2, 10]]); // prettier-ignore
    // At 3 km a sum of one integration; it is complete with the second of the interval.
    const wide = await summed(fileOf(6, 3000), 6);
    assert.deepEqual(wide.made.map(facts), [[0, 1, 6], [3, 1, 12]]); // prettier-ignore
  });

  it('one of all data is complete when another integration would be too long', async () => {
    const { made, sums } = await summed(fileOf(20, 10));
    assert.deepEqual(made.map(facts), [[105, 15, 32]]);
    assert.deepEqual([sums.isOver, sums.seen], [true, 20]);
  });
});

describe('how long visibilities may be summed', () => {
  it('a tenth of the finest fringe, and never more than half a minute', () => {
    // λ/D = 1.99862 m / 3 km; the sky rotates by 7.29212e-5 rad a second.
    assert.ok(Math.abs(longestSumS(pair(3000), HZ) - 0.9136) < 1e-4);
    assert.equal(longestSumS(pair(10), HZ), 30);
  });

  it('the sum of a small array takes all that fits, of a wide one the first alone, and reports it', async () => {
    const all = await chooseIntegration(fileOf(5, 10), 'sum');
    assert.deepEqual([all.used, all.inFile, all.integration.visibilities[0]], [5, 5, 10]);
    const short = await chooseIntegration(fileOf(20, 10), 'sum');
    assert.deepEqual([short.used, short.inFile, short.integration.durationS], [15, 20, 30]);
    const first = await chooseIntegration(fileOf(5, 3000), 'sum');
    assert.deepEqual([first.used, first.inFile, first.integration.visibilities[0]], [1, 5, 0]);
  });

  it('begins with the first that has data, and so does every time range', async () => {
    const file = fileOf(9, 10);
    /** The first two are flagged completely, and the fourth to sixth, two solution intervals of three. */
    const flagged: VisibilityFile = {
      ...file,
      integrations: async function* () {
        let k = 0;
        for await (const each of file.integrations())
          yield [0, 1, 3, 4, 5].includes(k++)
            ? { ...each, counts: countsCB(new Float64Array(1), 1, 1) }
            : each;
      },
    };
    const sum = await chooseIntegration(flagged, 'sum');
    // Of number 2 and the last three.
    assert.deepEqual([sum.first, sum.used, sum.integration.counts[0]], [2, 7, 16]);
    const { sums, made } = await summed(flagged, 6);
    assert.deepEqual(
      made.map(({ integration, first, used, until }) => [
        integration.start.unixSeconds,
        first,
        used,
        until.unixSeconds,
      ]),
      // Of the last interval as far as the data go.
      [[104, 2, 1, 106], [112, 6, 3, 118]], // prettier-ignore
    );
    assert.equal(sums.empty, 1);
    const none = await chooseIntegration({ ...flagged, integrations: () => nothing(flagged) }, 'sum');
    assert.equal(none.integration.counts[0], 0);
  });

  it('one by its number, which must be there', async () => {
    const third = await chooseIntegration(fileOf(5, 10), 2);
    assert.deepEqual([third.first, third.used, third.integration.visibilities[0]], [2, 1, 2]);
    await assert.rejects(chooseIntegration(fileOf(1, 10), 1), /has 1 integration, so .* 1; give 0/);
    await assert.rejects(chooseIntegration(fileOf(5, 10), 7), /has 5 integrations.*from 0 to 4/);
  });
});

describe('adding integrations', () => {
  it('adds sums and counts, and forgets what files stated of each', () => {
    const sum = addIntegrations(one(100, 8), one(102, 20));
    assert.deepEqual([sum.visibilities[0], sum.counts[0], sum.durationS], [28, 8, 4]);
    assert.equal(sum.passThrough, undefined);
  });
});
