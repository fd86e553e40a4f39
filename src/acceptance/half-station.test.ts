/** A recording without one polarisation of a station for a while: the other keeps its samples, in the file too. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { loadNative } from '../backend/cpu/library.js';
import { baselineIndex } from '../core/axes.js';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from '../formats/index.js';
import { corellaHere } from './corella.js';

const STATIONS = 3;
const INPUTS = 2 * STATIONS;
const CHANNELS = 4;
const TAPS = 2;
const SAMPLES = 400;
/** Y of station 1, and all of station 2. */
const gaps = [
  { input: 3, end: 4, first: 100, count: 50 },
  { input: 4, end: 6, first: 120, count: 90 },
];

void describe('half a station missing', () => {
  const folder = temporaryFolder('half-station');
  before(async () => {
    const random = randomStream(4, 'halves');
    const data = Int8Array.from({ length: 2 * INPUTS * SAMPLES }, () => Math.round(20 * random.gaussian()));
    await writeFile(join(folder, 'half.sigmf-data'), data);
    const meta = {
      global: {
        'core:datatype': 'ci8',
        'core:sample_rate': 1e5,
        'core:version': '1.0.0',
        'core:num_channels': INPUTS,
        'corella:polarisations': 2,
      },
      captures: [{ 'core:sample_start': 0, 'core:frequency': 58e6, 'core:datetime': '2026-06-01T04:00:00Z' }],
      annotations: gaps.map(({ input, end, first, count }) => ({
        'core:sample_start': first,
        'core:sample_count': count,
        'corella:missing': true,
        'corella:first_input': input,
        'corella:end_input': end,
      })),
    };
    await writeFile(join(folder, 'half.sigmf-meta'), JSON.stringify(meta));
    await writeFile(join(folder, 'array.csv'), 'name,east_m,north_m,up_m\na,0,0,0\nb,1,0,0\nc,0,2,0\n');
    const description = {
      name: 'three',
      title: 'three',
      positions: 'array.csv',
      polarisations: 2,
      beamExponent: 0,
      site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1000 },
      band: { lowHz: 30e6, highHz: 88e6 },
      recording: { centreFrequencyHz: 58e6, sampleRateHz: 1e5, channels: CHANNELS, bits: 8 },
    };
    await writeFile(join(folder, 'array.json'), JSON.stringify(description));
  });

  /** Spectrum k of input a is valid if none of its samples is missing. */
  const spectra = SAMPLES / CHANNELS - TAPS + 1;
  const isThere = (a: number, k: number): boolean =>
    !gaps.some(
      ({ input, end, first, count }) =>
        a >= input && a < end && first < (k + TAPS) * CHANNELS && first + count > k * CHANNELS,
    );

  const backends = ['reference', ...('what' in loadNative() ? [] : ['cpu'])];
  for (const backend of backends) {
    for (const out of ['half.uvh5', 'half.uvfits']) {
      void it(`${backend}: ${out} has every product's own weight, as a plain count has it`, async () => {
        const line = `correlate half.sigmf-meta --telescope array.json --channels ${CHANNELS} --taps ${TAPS} --integration 1min --backend ${backend} -o ${out} --overwrite`;
        const { code, stderr } = await corellaHere(folder, ...line.split(' '));
        assert.equal(code, 0, stderr);
        const file = await openFile(join(folder, out));
        assert.ok(file.kind === 'visibilities');
        for await (const { passThrough, channels } of file.integrations()) {
          assert.ok(passThrough);
          for (let c = 0; c < channels; c++)
            for (let i = 0; i < STATIONS; i++)
              for (let j = 0; j <= i; j++)
                for (let product = 0; product < 4; product++) {
                  const [x, y] = [2 * i + (product >> 1), 2 * j + (product & 1)];
                  let count = 0;
                  for (let k = 0; k < spectra; k++) if (isThere(x, k) && isThere(y, k)) count++;
                  const weight: number = passThrough.weights[4 * (6 * c + baselineIndex(i, j)) + product];
                  assert.equal(weight, count, `channel ${c}, inputs ${x} and ${y}`);
                }
          // X of station 1 lost nothing through its Y.
          assert.equal(passThrough.weights[4 * baselineIndex(1, 1)], spectra);
          assert.ok(passThrough.weights[4 * baselineIndex(1, 1) + 3] < spectra);
        }
        await file.close();
      });
    }
  }
});
