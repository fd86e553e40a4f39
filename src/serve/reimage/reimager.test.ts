import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openBackend } from '../../backend/select.js';
import type { Backend } from '../../backend/backend.js';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { instant } from '../../core/instant.js';
import type { Telescope } from '../../telescope/telescope.js';
import { openPage, type Page } from '../index.js';
import { KeptIntegrations } from './kept-integrations.js';

/** Five antennas from west to east: one baseline of 8 m, and short ones. */
const telescope: Telescope = {
  name: 'row',
  title: 'A row',
  site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1400 },
  stations: [0, 1, 2, 3, 8].map((eastM, s) => ({ name: `s${s}`, eastM, northM: 0, upM: 0 })),
  polarisations: 1,
  band: { lowHz: 10e6, highHz: 88e6 },
  recording: { centreFrequencyHz: 60e6, sampleRateHz: 200, channels: 1, bits: 8 },
  beamExponent: 0,
};
const stations = telescope.stations.length;

/** Every pair measures the same: a point source at the zenith. */
function integrationAt(unixS: number): Integration {
  const baselines = baselineCount(stations);
  const visibilities = new Float64Array(2 * baselines);
  for (let i = 0; i < stations; i++) for (let j = 0; j <= i; j++) visibilities[2 * baselineIndex(i, j)] = 100;
  return {
    start: instant(unixS),
    durationS: 2,
    channels: 1,
    stations,
    polarisations: 1,
    visibilities: visibilitiesCBPP(visibilities, 1, baselines, 1),
    counts: countsCB(new Float64Array(baselines).fill(100), 1, baselines),
    flaggedInputs: new Uint8Array(stations),
  };
}

let page: Page;
let backend: Backend;
before(async () => {
  backend = await openBackend('reference');
  page = await openPage({
    host: '127.0.0.1',
    port: 0,
    stop: () => undefined,
    say: () => undefined,
    facts: { description: 'a test', backend: 'reference', version: '0', isLive: true, folder: '.' },
  });
});
after(async () => {
  await page.close();
  await backend.close();
});

interface Head {
  readonly time: string;
  readonly weight: string;
  readonly shape: readonly number[];
}
/** A refusal has no values, only its text. */
async function imagedAgain(query: string): Promise<{ head?: Head; values: Float32Array; why: string }> {
  const response = await fetch(`${page.url}api/v1/images/again?${query}`);
  if (!response.ok) return { values: new Float32Array(), why: await response.text() };
  const bytes = await response.arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as Head;
  return { head, values: new Float32Array(bytes, 8 + 8 * Math.ceil(length / 8)), why: '' };
}
const made = async (query: string): Promise<{ head: Head; values: Float32Array }> => {
  const asked = imagedAgain(query);
  // Not before the chain has finished an integration.
  for (let isMade = false; !isMade;) {
    await page.reImager.work();
    isMade = await Promise.race([
      asked.then(() => true),
      new Promise<boolean>((resolve) => setTimeout(resolve, 5, false)),
    ]);
  }
  const { head, values, why } = await asked;
  assert.ok(head, why);
  return { head, values };
};

describe('a picture made again', () => {
  it('is refused before there is anything to make it from, and by name', async () => {
    assert.match((await imagedAgain('unixS=1&weight=natural')).why, /no images are made/);
    assert.match((await imagedAgain('unixS=1&weight=briggs')).why, /wide/);
    assert.match((await imagedAgain('unixS=1&weight=heavy')).why, /is no weighting/);
    assert.match((await imagedAgain('weight=natural')).why, /is no number/);
  });
  it('is of the nearest integration, with the weights that were asked for', async () => {
    page.state.begin({
      shown: {
        backend,
        telescope,
        frequenciesHz: Float64Array.of(60e6),
        integrationS: 2,
        imaging: {
          everyS: 2,
          by: 'visibilities',
          weight: 'natural',
          image: { pixels: 32, field: { kind: 'all-sky' }, kernelSize: 7 },
        },
      },
      channelWidthHz: 1e5,
      spectrumRateHz: 50,
      sources: [],
    });
    assert.match((await imagedAgain('unixS=1&weight=natural')).why, /no integration was kept yet/);
    for (const unixS of [1000, 1002, 1004]) page.state.integration(integrationAt(1_781_000_000 + unixS));
    const natural = await made('unixS=1781001003.2&weight=natural');
    assert.equal(natural.head.time, '2026-06-09T10:30:03.000Z');
    assert.deepEqual([natural.head.weight, natural.head.shape], ['natural', [32, 32]]);
    const uniform = await made('unixS=1781001003.2&weight=uniform');
    // A point source at the zenith is 1 at the centre with any weights; one pixel away, a sharper beam is lower.
    const middle = 16 * 32 + 16;
    for (const { values } of [natural, uniform])
      assert.ok(Math.abs(values[middle] - 1) < 0.03, String(values.slice(middle - 3, middle + 5)));
    assert.ok(uniform.values[middle + 3] < natural.values[middle + 3] - 0.01);
  });
});

describe('kept integrations', () => {
  it('stay within their memory over all of the run, and know the nearest', () => {
    const kept = new KeptIntegrations(10 * (15 * 8 + 30 * 8));
    for (let k = 0; k < 100; k++) kept.add(integrationAt(1000 + 2 * k));
    assert.ok(kept.all.length <= 10 && kept.all.length >= 5, `${kept.all.length}`);
    assert.equal(kept.all[0].unixS, 1001);
    assert.ok(Math.abs((kept.at(1150)?.unixS ?? 0) - 1150) < 32);
    assert.equal(new KeptIntegrations().at(0), undefined);
    const small = new KeptIntegrations(100);
    small.add(integrationAt(0));
    assert.deepEqual([small.all.length, small.isTooLarge], [0, true]);
  });
});
