import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import type { VisibilityFile } from '../formats/index.js';
import { loadTelescope } from '../telescope/load.js';
import type { Telescope } from '../telescope/telescope.js';
import { combineBands } from './combine-bands.js';

const start = parseInstant('2026-11-16T00:00:00Z');
const array = async (name: string): Promise<Telescope> => {
  const found = await loadTelescope(name);
  return { ...found, stations: found.stations.slice(0, 2) };
};
const [sevilleta, plains] = [await array('lwasv'), await array('lwa1')];

/** One channel of two stations of one polarisation; times are [start, duration]. */
function part(
  path: string,
  lowHz: number,
  times: readonly (readonly [number, number])[],
  telescope = sevilleta,
): VisibilityFile {
  const one = ([at, durationS]: readonly [number, number]): Integration => ({
    start: addSeconds(start, at),
    durationS,
    channels: 1,
    stations: 2,
    polarisations: 1,
    visibilities: visibilitiesCBPP(new Float64Array(6).fill(1), 1, 3, 1),
    counts: countsCB(new Float64Array(3).fill(9), 1, 3),
    flaggedInputs: new Uint8Array(2),
  });
  return {
    kind: 'visibilities',
    path,
    format: 'uvh5',
    telescope,
    details: {},
    header: {
      telescope,
      polarisations: 1,
      frequenciesHz: Float64Array.of(lowHz),
      channelWidthHz: 1e3,
      phaseCentre: { raDeg: 0, decDeg: 0 },
      object: 'zenith',
      history: [],
    },
    integrationCount: times.length,
    // eslint-disable-next-line @typescript-eslint/require-await
    integrations: async function* () {
      yield* times.map(one);
    },
    close: () => Promise.resolve(),
  };
}

async function combined(...files: readonly VisibilityFile[]) {
  const bands = combineBands(files, []);
  const rows = [];
  for await (const { counts, durationS } of bands.integrations())
    rows.push([durationS, counts[0], counts[3]]);
  return { rows, absent: bands.absent.map(({ path, durationS, leftOutS }) => [path, durationS, leftOutS]) };
}

const halves = [[0, 0.5], [0.5, 0.5], [1, 0.5], [1.5, 0.5]] as const; // prettier-ignore

describe('parts of a band that are combined', () => {
  it('are of one site and of stations that stand in one place', () => {
    const low = part('low', 50e6, halves);
    assert.throws(() => combineBands([low, part('high', 51e6, halves, plains)], []), /high: is of a site 75\.2 km away from that of low/); // prettier-ignore
    const { stations, ...others } = sevilleta;
    const moved = { ...others, stations: [stations[0], { ...stations[1], upM: stations[1].upM + 2 }] };
    assert.throws(() => combineBands([low, part('high', 51e6, halves, moved)], []), /high: has \S+ 2\.0 m away from its position in low/); // prettier-ignore
  });

  it('are cut at the same times: other lengths and other beginnings are refused', async () => {
    const low = part('low', 50e6, halves);
    await assert.rejects(combined(low, part('high', 51e6, [[0, 1], [1, 1]])), /low: has integrations of 500 ms, one at 2026-11-16T00:00:00\.500Z, where high has one of 1\.0 s/); // prettier-ignore
    await assert.rejects(combined(low, part('high', 51e6, [[0.2, 0.5], [0.7, 0.5]])), /high: has integrations of 500 ms/); // prettier-ignore
  });

  it('may begin and end in the middle of an integration, with a warning', async () => {
    const { rows, absent } = await combined(
      part('low', 50e6, halves),
      part('high', 51e6, [[0.4, 0.1], [0.5, 0.5], [1, 0.5], [1.5, 0.3]]), // prettier-ignore
    );
    assert.deepEqual(rows, [[0.5, 9, 0], [0.5, 9, 9], [0.5, 9, 9], [0.5, 9, 0]]); // prettier-ignore
    assert.deepEqual(absent, [['high', 0.5, 0.1], ['high', 0.5, 0.3]]); // prettier-ignore
  });
});
