import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../../core/axes.js';
import { parseInstant } from '../../../core/instant.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { openHdf5 } from '../../hdf5/read.js';
import { createUvh5 } from './write.js';

const STATIONS = 15;
const CHANNELS = 12_000;
const baselines = baselineCount(STATIONS);

describe('UVH5 of a large integration', () => {
  it('is written chunk by chunk, every row in its place', async () => {
    const values = new Float64Array(CHANNELS * baselines * 4 * 2);
    for (let at = 0; at < values.length; at++) values[at] = at % 1_000_003;
    const counts = Float64Array.from({ length: CHANNELS * baselines }, (_, cell) => 1 + (cell % 997));
    const flaggedInputs = new Uint8Array(2 * STATIONS);
    flaggedInputs[2 * 14 + 1] = 1;
    const stations = Array.from({ length: STATIONS }, (_, s) => ({
      name: `s${s}`,
      eastM: 3 * s,
      northM: s * s,
      upM: 0,
    }));
    const folder = temporaryFolder('uvh5-large');
    const path = join(folder, 'large.uvh5');
    const writer = await createUvh5(
      path,
      {
        telescope: {
          name: 'row',
          title: 'a row',
          site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 },
          stations,
          polarisations: 2,
          band: { lowHz: 50e6, highHz: 350e6 },
          recording: { centreFrequencyHz: 160e6, sampleRateHz: 12e6, channels: CHANNELS, bits: 8 },
          beamExponent: 1,
        },
        polarisations: 2,
        frequenciesHz: Float64Array.from({ length: CHANNELS }, (_, c) => 154e6 + 1e3 * c),
        channelWidthHz: 1e3,
        phaseCentre: { raDeg: 250, decDeg: -30 },
        object: 'a place',
        history: [],
      },
      { values: 'int32' },
    );
    const inMemory = (): number => process.memoryUsage().arrayBuffers;
    const before = inMemory();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, inMemory())), 1);
    await writer.append({
      start: parseInstant('2021-12-11T04:00:00'),
      durationS: 2,
      channels: CHANNELS,
      stations: STATIONS,
      polarisations: 2,
      visibilities: visibilitiesCBPP(values, CHANNELS, baselines, 2),
      counts: countsCB(counts, CHANNELS, baselines),
      flaggedInputs,
    });
    clearInterval(watch);
    await writer.finish();
    // The whole is 75 MB beside the integration; a chunk of each of the three arrays is less than 2²⁴ bytes.
    assert.ok(most - before < 3 * 2 ** 24, `${most - before} bytes more`);

    const file = await openHdf5(path);
    let row = 0;
    for (let one = 0; one < STATIONS; one++) {
      for (let two = one; two < STATIONS; two++, row++) {
        // Read at the chunk boundaries, and at some points between.
        if (row % 20 > 1 && row % 20 < 19) continue;
        const visdata = file.dataset('Data/visdata').rows(row, 1);
        const flags = file.dataset('Data/flags').rows(row, 1);
        const nsamples = file.dataset('Data/nsamples').rows(row, 1);
        for (const c of [0, 1, CHANNELS - 1]) {
          const cell = c * baselines + baselineIndex(two, one);
          // XX, YY, XY, YX of antennas 1 and 2: [p_i][p_j] of i = antenna 2, but conjugated for autocorrelations.
          const places = one === two ? [0, 3, 1, 2] : [0, 3, 2, 1];
          places.forEach((place, q) => {
            const from = 2 * (4 * cell + place);
            const at = 4 * c + q;
            assert.equal(visdata[2 * at], values[from], `row ${row}, channel ${c}, product ${q}`);
            assert.equal(visdata[2 * at + 1], (one === two ? -1 : 1) * values[from + 1]);
            assert.equal(nsamples[at], counts[cell]);
            const flagged = (two === 14 && (q === 1 || q === 2)) || (one === 14 && (q === 1 || q === 3));
            assert.equal(flags[at], flagged ? 1 : 0, `flag of row ${row}, product ${q}`);
          });
        }
      }
    }
    assert.equal(row, baselines);
    await file.close();
  });
});
