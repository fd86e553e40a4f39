import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex } from '../../../core/axes.js';
import { formatInstant } from '../../../core/instant.js';
import type { Telescope } from '../../../telescope/telescope.js';
import { encodeCor, encodeDrx, encodeLwaSpectra, encodeTbn } from '../../testing/encoders.js';
import { readWhole, writeSample } from '../../testing/reading.js';
import { lwa } from './lwa.js';

const tag = 283_685_766_952_000_000n;
const small = (sender: number, input: number, t: number, part: number): number =>
  ((sender * 5 + input * 3 + t * 7 + part) % 15) - 7;

describe('LWA frames', () => {
  it('TBN: stands in order, rate from the tags, lost frames listed', async () => {
    const code = (sender: number, _i: number, t: number, part: number): number =>
      ((sender * 31 + t * 3 + part) % 201) - 100;
    const bytes = encodeTbn({
      tag,
      frames: 3,
      inputs: 4,
      code,
      drop: (a, k) => (a === 2 && k === 1 ? 'drop' : 'keep'),
    });
    const { recording, values, gaps } = await readWhole(lwa, bytes, { blockSamples: 600 });
    assert.ok(recording.kind === 'voltages');
    assert.equal(recording.sampleRateHz, 100_000);
    // 2³⁰ of 2³² cycles of 196 MHz.
    assert.equal(recording.centreFrequencyHz, 49e6);
    assert.equal(recording.polarisations, 2);
    assert.equal(formatInstant(recording.start), '2015-11-13T00:59:22.000Z');
    assert.deepEqual(values[3].slice(2046, 2048), [code(3, 0, 1023, 0), code(3, 0, 1023, 1)]);
    assert.deepEqual(gaps, [
      { firstInput: 2, endInput: 3, firstSample: 512, endSample: 600 },
      { firstInput: 2, endInput: 3, firstSample: 600, endSample: 1024 },
    ]);
  });

  it('DRX: one tuning of a beam, its filter delay taken off', async () => {
    const bytes = encodeDrx({ tag, frames: 2, offset: 6440, code: small });
    const { recording, values } = await readWhole(lwa, bytes, { tuning: 2 });
    assert.ok(recording.kind === 'voltages');
    assert.equal(recording.sampleRateHz, 19.6e6);
    assert.equal(formatInstant(recording.start, 6), '2015-11-13T00:59:22.000000Z');
    assert.deepEqual(values[1].slice(10_000, 10_002), [small(1, 0, 5000, 0), small(1, 0, 5000, 1)]);
  });

  for (const kind of ['tbf', 'tbx'] as const) {
    it(`${kind.toUpperCase()}: groups of channels side by side, packed as they came`, async () => {
      const start = kind === 'tbf' ? tag : 8192n * 41_140_609_278_808n;
      const bytes = encodeLwaSpectra({
        kind,
        tag: start,
        frames: 5,
        stands: 4,
        groups: 2,
        code: small,
        drop: (group, k) => (group === 1 && k === 3 ? 'drop' : 'keep'),
      });
      const { recording, values, gaps } = await readWhole(lwa, bytes, { blockSamples: 4 });
      assert.ok(recording.kind === 'spectra');
      assert.equal(recording.type, 'ci4');
      assert.equal(recording.channels, 24);
      assert.equal(recording.frequenciesHz[12], kind === 'tbf' ? 2360 * 25_000 : 2188 * (196e6 / 8192));
      // Channel 13 is the second group's second channel; stand 2, polarisation 1 is input 5 of 8.
      const expected = ((small(1, 13, 4, 0) & 15) << 4) | (small(1, 13, 4, 1) & 15);
      assert.equal(values[13 * 8 + 5][4], expected);
      const box = { firstInput: 0, endInput: 8, firstChannel: 12, endChannel: 24 };
      assert.deepEqual(gaps, [{ ...box, firstSample: 3, endSample: 4 }]);
    });
  }

  it('moves −8 to −7 and counts it', async () => {
    const bytes = encodeLwaSpectra({ kind: 'tbx', tag: 0n, frames: 2, stands: 4, groups: 1, code: () => -8 });
    const { recording, values } = await readWhole(lwa, bytes);
    assert.equal(values[0][0], 0x99);
    assert.equal(recording.tally?.saturated, 2 * 96 * 2);
  });

  it('finds the next sync word after damage', async () => {
    const bytes = encodeTbn({ tag, frames: 3, inputs: 2, code: small });
    const damaged = Buffer.concat([bytes.subarray(0, 2 * 1048 + 500), bytes.subarray(2 * 1048 + 600)]);
    const { recording, gaps } = await readWhole(lwa, damaged, { sampleRateHz: 100_000 });
    // The truncated frame swallows the start of the next one, which is missing too.
    assert.equal(gaps.length > 0, true);
    assert.ok((recording.tally?.frames ?? 0) >= 4);
  });

  it('COR: conjugated into the lower triangle, missing baselines counted zero', async () => {
    const stands = 3;
    const telescope = {
      name: 'three',
      site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 2000 },
      stations: Array.from({ length: stands }, (_, s) => ({ name: `${s}`, eastM: s, northM: 0, upM: 0 })),
      polarisations: 2,
    } as unknown as Telescope;
    const lost = 1 * stands + 2;
    const bytes = encodeCor({
      tag,
      frames: 2,
      stands,
      code: (sender, input, k, part) => sender * 100 + input * 10 + k * 2 + part,
      drop: (sender, k) => (sender === lost && k === 1 ? 'drop' : 'keep'),
    });
    const file = await lwa.open(writeSample(bytes), { telescope });
    assert.ok(file.kind === 'visibilities');
    assert.equal(file.integrationCount, 2);
    const { frequenciesHz } = file.header;
    assert.deepEqual(
      frequenciesHz,
      frequenciesHz.map((_, c) => frequenciesHz[0] + c * (196e6 / 8192)),
    );
    const all = [];
    for await (const integration of file.integrations()) all.push(integration);
    await file.close();
    const samples = Math.round(5 * (196e6 / 8192));
    const [, second] = all;
    assert.equal(formatInstant(second.start), '2015-11-13T00:59:27.000Z');
    // Baseline of stands 1 and 3 (sender 2), channel 1, product XY (input 5): we store (3,1) YX, conjugated.
    const cell = baselineCount(stands) + baselineIndex(2, 0);
    assert.equal(second.visibilities[(cell * 4 + 2) * 2], (200 + 50 + 2) * samples);
    assert.equal(second.visibilities[(cell * 4 + 2) * 2 + 1], -(200 + 50 + 2 + 1) * samples);
    assert.equal(second.counts[baselineIndex(2, 1)], 0);
    assert.equal(second.counts[baselineIndex(2, 0)], samples);
  });

  it('COR: refuses a telescope of fewer stands than its frames are of', async () => {
    const bytes = encodeCor({ tag, frames: 1, stands: 4, code: () => 1 });
    const telescope = {
      name: 'three',
      site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 2000 },
      stations: Array.from({ length: 3 }, (_, s) => ({ name: `${s}`, eastM: s, northM: 0, upM: 0 })),
      polarisations: 2,
    } as unknown as Telescope;
    const path = writeSample(bytes);
    await assert.rejects(lwa.open(path, { telescope }), {
      name: 'CorellaError',
      message: /holds frames of stand 4, and three has 3 stands; name the telescope .*telescope: NAME/,
    });
    const data = process.env.CORELLA_TEST_DATA ?? '';
    const real = join(data, 'lwa/cor-test.dat');
    if (data === '' || !existsSync(real)) return;
    const stations = Array.from({ length: 64 }, (_, s) => ({ name: `${s}`, eastM: s, northM: 0, upM: 0 }));
    await assert.rejects(lwa.open(real, { telescope: { ...telescope, stations } }), /frames of stand 65/);
  });

  it('refuses a file without a whole frame', async () => {
    await assert.rejects(lwa.open(writeSample(Buffer.from('dec0de5c0000', 'hex'))), /no whole LWA frame/);
  });
});
