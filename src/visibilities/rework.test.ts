/** Parts and averages of visibilities, compared with hand calculations. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot } from '../core/vector.js';
import type { VisibilityFile } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { reworkVisibilities, type Rework } from './rework.js';

const telescope: Telescope = {
  name: 'three',
  title: 'three in a field',
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 },
  stations: [
    { name: 'one', eastM: 0, northM: 0, upM: 0 },
    { name: 'two', eastM: 3000, northM: -300, upM: 5 },
    { name: 'three', eastM: -700, northM: 2000, upM: -10 },
  ],
  polarisations: 2,
  band: { lowHz: 50e6, highHz: 350e6 },
  recording: { centreFrequencyHz: 160e6, sampleRateHz: 1e6, channels: 4, bits: 8 },
  beamExponent: 1,
};
const frequenciesHz = Float64Array.of(150e6, 150.1e6, 150.2e6, 150.3e6);
const start = parseInstant('2021-12-11T04:00:00');
const phaseCentre = skyFrame(telescope.site, start).zenith;
const baselines = baselineCount(3);

/** V_ij of a source with 1, 2, 3, 4 in its products at the phase centre, ten samples each. */
function integrationAt(k: number, sized = 1): Integration {
  const begin = addSeconds(start, 10 * k);
  const { n } = skyFrame(telescope.site, addSeconds(begin, 5)).tangentAxes(phaseCentre);
  const delayS = telescope.stations.map(
    ({ eastM, northM, upM }) => dot(n, { x: eastM, y: northM, z: upM }) / SPEED_OF_LIGHT_M_PER_S,
  );
  const values = new Float64Array(4 * baselines * 8);
  for (let c = 0; c < 4; c++)
    for (let i = 0; i < 3; i++)
      for (let j = 0; j <= i; j++)
        for (let pair = 0; pair < 4; pair++) {
          const phase = 2 * Math.PI * frequenciesHz[c] * (delayS[i] - delayS[j]);
          const at = 2 * ((c * baselines + baselineIndex(i, j)) * 4 + pair);
          values[at] = 10 * sized * (pair + 1) * Math.cos(phase);
          values[at + 1] = 10 * sized * (pair + 1) * Math.sin(phase);
        }
  return {
    start: begin,
    durationS: 10,
    channels: 4,
    stations: 3,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, 4, baselines, 2),
    counts: countsCB(new Float64Array(4 * baselines).fill(10), 4, baselines),
    flaggedInputs: new Uint8Array(6),
  };
}

const file = (all: readonly Integration[]): VisibilityFile => ({
  kind: 'visibilities',
  path: 'made',
  format: 'made',
  telescope,
  details: {},
  integrationCount: all.length,
  header: {
    telescope,
    polarisations: 2,
    frequenciesHz,
    channelWidthHz: 1e5,
    phaseCentre,
    object: 'a place',
    history: [],
  },
  integrations: async function* () {
    await Promise.resolve();
    yield* all;
  },
  close: () => Promise.resolve(),
});
async function done(
  all: readonly Integration[],
  work: Rework,
): Promise<{ made: VisibilityFile; out: Integration[] }> {
  const made = reworkVisibilities(file(all), work);
  const out: Integration[] = [];
  for await (const one of made.integrations()) out.push(one);
  return { made, out };
}
const near = (got: number, wanted: number, what: string): void => {
  assert.ok(Math.abs(got - wanted) < 1e-6, `${what} is ${got}, should be ${wanted}`);
};

describe('parts of visibilities', () => {
  it('takes channels, antennas, one product and a span of time', async () => {
    const all = [0, 1, 2].map((k) => integrationAt(k));
    const { made, out } = await done(all, {
      channels: [1, 2],
      stations: [0, 2],
      products: [-6],
      from: addSeconds(start, 12),
      to: addSeconds(start, 22),
    });
    assert.deepEqual([...made.header.frequenciesHz], [150.1e6, 150.2e6]);
    assert.deepEqual([made.header.polarisations, made.header.products], [1, [-6]]);
    assert.deepEqual(
      made.telescope.stations.map(({ name }) => name),
      ['one', 'three'],
    );
    assert.equal(out.length, 1);
    for (const part of [0, 1]) {
      // YY of (three, one) in channel 2 is the last of four products.
      const from = 2 * ((2 * baselines + baselineIndex(2, 0)) * 4 + 3) + part;
      near(out[0].visibilities[2 * (3 + baselineIndex(1, 0)) + part], all[1].visibilities[from], 'the value');
    }
    assert.equal(out[0].counts[3], 10);
  });

  it('takes pairs alone, and takes flags out', async () => {
    const { out } = await done([integrationAt(0)], { pairs: [[2, 1]] });
    // Stations two and three are 0 and 1 here.
    assert.deepEqual([...(out[0].pairs ?? [])], [0, 1, 0]);
    const flagged = { ...integrationAt(0), flaggedInputs: Uint8Array.of(1, 1, 0, 0, 0, 0) };
    const unflagged = await done([flagged], { unflag: true });
    assert.deepEqual([...unflagged.out[0].flaggedInputs], [0, 0, 0, 0, 0, 0]);
    assert.equal(unflagged.out[0].counts[baselineIndex(1, 0)], 10);
  });

  it('averages with fringes stopped: a source at the centre keeps its size, and its phase is that of the mean', async () => {
    const { made, out } = await done(
      [0, 1, 2, 3].map((k) => integrationAt(k)),
      { averageS: 20, averageChannels: 2 },
    );
    assert.deepEqual([...made.header.frequenciesHz], [150.05e6, 150.25e6]);
    near(made.header.channelWidthHz, 2e5, 'the width');
    assert.equal(out.length, 2);
    const { n } = skyFrame(telescope.site, addSeconds(start, 10)).tangentAxes(phaseCentre);
    const delayS = telescope.stations.map(
      ({ eastM, northM, upM }) => dot(n, { x: eastM, y: northM, z: upM }) / SPEED_OF_LIGHT_M_PER_S,
    );
    for (const [i, j] of [
      [1, 0],
      [2, 1],
    ])
      for (const c of [0, 1]) {
        const at = 2 * (c * baselines + baselineIndex(i, j)) * 4 + 4;
        // Two times, two channels, ten samples each: forty of size 3.
        assert.equal(out[0].counts[c * baselines + baselineIndex(i, j)], 40);
        const phase = 2 * Math.PI * made.header.frequenciesHz[c] * (delayS[i] - delayS[j]);
        near(out[0].visibilities[at] / 40, 3 * Math.cos(phase), `re of ${i}, ${j}`);
        near(out[0].visibilities[at + 1] / 40, 3 * Math.sin(phase), `im of ${i}, ${j}`);
      }
    assert.equal(out[0].durationS, 20);
  });

  it('averages what is missing to 0, which is missing', async () => {
    const all = [0, 1].map((k) => {
      const one = integrationAt(k);
      // The pair of one and two is missing in channel 2.
      one.counts[2 * baselines + 1] = 0;
      one.visibilities.fill(0, 8 * (2 * baselines + 1), 8 * (2 * baselines + 2));
      return one;
    });
    const {
      out: [mean],
    } = await done(all, { averageS: 20 });
    const at = 4 * (2 * baselines + 1);
    assert.deepEqual(
      [...(mean.passThrough?.means.subarray(2 * at, 2 * at + 8) ?? [])].map(Math.abs),
      [0, 0, 0, 0, 0, 0, 0, 0],
    );
    assert.equal(Math.abs(mean.passThrough?.weights[at] ?? Number.NaN), 0);
    assert.equal(mean.passThrough?.weights[at + 4], 20);
  });

  it('refuses what does not divide', async () => {
    await assert.rejects(done([integrationAt(0)], { averageChannels: 3 }), /4 channels do not divide into 3/);
    await assert.rejects(
      done([integrationAt(0)], { products: [-1] }),
      /names none that the file holds; choose among XX/,
    );
  });

  it('averages at a new phase centre where one is given, not at the old one', async () => {
    // The source is at the file's own centre; the file names another, 20 degrees away.
    const elsewhere = { raDeg: phaseCentre.raDeg + 20, decDeg: phaseCentre.decDeg };
    const from = file([0, 1, 2, 3].map((k) => integrationAt(k)));
    const there = { ...from, header: { ...from.header, phaseCentre: elsewhere } };
    const made = reworkVisibilities(there, { averageS: 40, averageChannels: 4, phaseCentre });
    assert.deepEqual(made.header.phaseCentre, phaseCentre);
    let count = 0;
    for await (const { visibilities, counts } of made.integrations()) {
      // XX of each pair is 1 per sample, whatever the fringe phase.
      for (let b = 0; b < baselines; b++)
        near(Math.hypot(visibilities[8 * b], visibilities[8 * b + 1]) / counts[b], 1, `|V| of ${b}`);
      count++;
    }
    assert.equal(count, 1);
  });
});
