/** A recording with unknown input positions: correlated with a report, and never imaged. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openFile } from '../formats/index.js';
import { encodeVdif } from '../formats/testing/encoders.js';
import { corellaHere, withFolder } from './corella.js';

/** Two threads of the same noise, the second inverted: their correlation is −1 in every channel. */
const bench = encodeVdif({
  bits: 8,
  parts: 2,
  threads: [0, 1],
  channels: 1,
  samplesPerFrame: 1024,
  framesPerSecond: 8,
  frames: 8,
  epoch: 28,
  seconds: 100,
  firstFrame: 0,
  extension: 0,
  code: (sender, _input, t, part) => {
    const noise = (((t * 2 + part + 1) * 2654435761) >>> 20) % 101;
    return 128 + (sender === 0 ? 1 : -1) * (noise - 50);
  },
});

it('a laboratory is correlated with --telescope none, and refused where the sky is asked for', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'bench.vdif'), bench);
    const words = ['correlate', 'bench.vdif', '--rate', '8192', '--frequency', '1.4GHz', '--channels', '16'];
    const refused = await corellaHere(folder, ...words);
    assert.match(
      refused.stderr,
      /does not state where its stations are; .*--telescope none where they are unknown/,
    );
    const made = await corellaHere(folder, ...words, '--telescope', 'none', '-o', 'bench.uvh5');
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /the positions of the stations are unknown: all are written at one place/);
    const file = await openFile(join(folder, 'bench.uvh5'));
    assert.ok(file.kind === 'visibilities');
    assert.deepEqual([file.telescope.stations.length, file.telescope.stations[1].name], [2, 'station2']);
    for await (const { visibilities: v, channels } of file.integrations())
      for (let c = 0; c < channels; c++) {
        // Baselines (0,0), (1,0), (1,1), one polarisation.
        const [own, across, other] = [0, 1, 2].map((b) => v[(c * 3 + b) * 2]);
        assert.ok(Math.abs(across / Math.sqrt(own * other) + 1) < 1e-3, `channel ${c}: ${across}`);
      }
    await file.close();
    for (const command of [
      ['image', 'bench.uvh5'],
      ['calibrate', 'bench.uvh5'],
    ]) {
      const said = await corellaHere(folder, ...command);
      assert.equal(said.code, 1);
      assert.match(said.stderr, / its stations are all at one place/);
    }
    const tracked = await corellaHere(
      folder,
      ...words,
      '--telescope',
      'none',
      '--track',
      'CygA',
      '-o',
      't.uvh5',
    );
    assert.match(tracked.stderr, /--track:  its stations are all at one place/);
  }));

it('a table of places on Earth stands for its telescope', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'bench.vdif'), bench);
    writeFileSync(
      join(folder, 'yard.csv'),
      'name,longitude_deg,latitude_deg,height_m\nwest,5.2000,52.1,12\neast,5.2002,52.1,12\n',
    );
    const words = ['correlate', 'bench.vdif', '--rate', '8192', '--frequency', '1.4GHz', '--channels', '16'];
    const paired = await corellaHere(folder, ...words, '--telescope', 'yard.csv');
    assert.match(
      paired.stderr,
      /holds 2 inputs where yard has 2 stations of 2 polarisations; give --polarisations 1/,
    );
    const made = await corellaHere(
      folder,
      ...words,
      '--telescope',
      'yard.csv',
      '--polarisations',
      '1',
      '-o',
      'yard.uvh5',
    );
    assert.equal(made.code, 0, made.stderr);
    const file = await openFile(join(folder, 'yard.uvh5'));
    const { stations, site } = file.telescope ?? assert.fail('no telescope');
    await file.close();
    assert.deepEqual(
      stations.map(({ name }) => name),
      ['west', 'east'],
    );
    // 0.0002° of longitude at 52.1° north are 13.71 m (WGS 84).
    assert.ok(Math.abs(stations[1].eastM - stations[0].eastM - 13.71) < 0.01, String(stations[1].eastM));
    assert.ok(Math.abs(site.longitudeDeg - 5.2001) < 1e-6);
  }));
