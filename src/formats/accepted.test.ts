/** Files that no telescope writes are refused, misleading ones reported: each was once read without a warning. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from './registry.js';
import { alteredSet, noAlteredSets } from './testing/altered-sets.js';
import { axis, direction, foreignBytes, least, type Foreign } from './testing/foreign-uvfits.js';
import { encodeLwaSpectra } from './testing/encoders.js';
import { readVisibilities, writeVisibilities } from './testing/visibility-files.js';
import { reals, texts } from './hdf5/items.js';
import { altered, header, integration, telescope } from './visibilities/uvh5/testing.js';
describe('refused', () => {
  const folder = temporaryFolder('accepted');
  const path = (name: string): string => join(folder, name);
  const refused = (name: string, words: RegExp): Promise<void> =>
    assert.rejects(readVisibilities(path(name)), words);
  const three: Foreign = {
    ...least,
    antennas: [1, 2, 30],
    groups: [
      [1, 2],
      [1, 30],
      [2, 30],
    ].map(([one, two]) => [0, 0, 0, 0.25, 256 * one + two, 1, 2, 3]),
  };
  it('uvw that are all 0 or NaN, in each format', async () => {
    writeFileSync(path('zero.uvfits'), foreignBytes(three));
    await refused('zero.uvfits', /its uvw are all 0 although its antennas are apart/);
    const zero = await altered(() => undefined, telescope);
    await assert.rejects(openFile(zero), /its uvw are all 0 although its antennas are apart/);
    const nan = await altered((items) => {
      items.uvw_array = reals(new Array<number>(36).fill(Number.NaN), [12, 3]);
    }, telescope);
    await assert.rejects(openFile(nan), /its uvw are all NaN although its antennas are apart/);
  });
  it('positions that are all 0', async () => {
    writeFileSync(path('centre.uvfits'), foreignBytes({ ...three, placeless: three.antennas }));
    await refused('centre.uvfits', /all its antennas are at \(0, 0, 0\)/);
    const none = await altered((items) => {
      items.uvw_array = reals(
        Array.from({ length: 36 }, (_, k) => 30 + k),
        [12, 3],
      );
      items.antenna_positions = reals(new Array<number>(9).fill(0), [3, 3]);
    });
    await assert.rejects(openFile(none), /its uvw contradict its antennas' places/);
  });
  it('a negative time of integration, in each format', async () => {
    const parameters = [...least.parameters, ['INTTIM', 1, 0]] as const;
    const groups = least.groups.map((one) => one.toSpliced(least.parameters.length, 0, -2));
    writeFileSync(path('short.uvfits'), foreignBytes({ ...least, parameters, groups }));
    await refused('short.uvfits', /group 0: its INTTIM is -2 s/);
    const uvh5 = await altered((items) => {
      items.integration_time = reals(new Array<number>(12).fill(-2));
    });
    await assert.rejects(openFile(uvh5), /row 0 lasts -2 s/);
  });
  it('positions that are all 0 in a Measurement Set', { skip: noAlteredSets }, async () => {
    const set = await alteredSet(folder, 'centre.ms', [
      'alter table SET drop keyword CORELLA',
      'update SET::ANTENNA set POSITION=0*POSITION',
    ]);
    await assert.rejects(openFile(set), /all its antennas are at \(0, 0, 0\)/);
  });
  it('a negative EXPOSURE of a Measurement Set', { skip: noAlteredSets }, async () => {
    const set = await alteredSet(folder, 'negative.ms', ['update SET set EXPOSURE=-EXPOSURE']);
    await assert.rejects(openFile(set), /row 0 is at \d+ s for -2 s/);
  });
  it('a pair twice at one time, in a Measurement Set and in UVH5', { skip: noAlteredSets }, async () => {
    const set = await alteredSet(folder, 'twice.ms', ['update SET set ANTENNA2=1 where rownr()=2']);
    await assert.rejects(
      readVisibilities(set),
      /the pair of its antennas 0 and 1 .* is there twice at one time/,
    );
    const uvh5 = await altered((items) => {
      items.ant_2_array = reals([0, 1, 1, 1, 2, 2, 0, 1, 2, 1, 2, 2]);
    });
    await assert.rejects(
      readVisibilities(uvh5),
      /the pair of its antennas 0 and 1 .* is there twice at one time/,
    );
  });
  it('negative frequencies and a CRPIX of 1e300', async () => {
    const axes = (step: number, first: number) => [
      ...least.axes.slice(0, 2),
      axis('FREQ', 1, first, step),
      ...direction,
    ];
    writeFileSync(path('negative.uvfits'), foreignBytes({ ...least, axes: axes(1e6, -1e8) }));
    await refused('negative.uvfits', /its first channel is at -100000000 Hz/);
    const bytes = Buffer.from(foreignBytes(least));
    const at = bytes.indexOf('CRPIX4  ');
    bytes.write('CRPIX4  =               1.0E300'.padEnd(80), at);
    writeFileSync(path('far.uvfits'), bytes);
    await refused('far.uvfits', /its (?:first )?channel (?:0 )?is at .*e\+30\d Hz/);
  });
  it('a sample rate of 1e300 and a negative frequency of voltages', async () => {
    const meta = (global: object, capture: object): void => {
      writeFileSync(path('odd.sigmf-data'), Buffer.alloc(64));
      writeFileSync(
        path('odd.sigmf-meta'),
        JSON.stringify({
          global: { 'core:datatype': 'ci8', 'core:version': '1.0.0', 'core:sample_rate': 1e6, ...global },
          captures: [
            {
              'core:sample_start': 0,
              'core:datetime': '2024-01-01T00:00:00Z',
              'core:frequency': 1e8,
              ...capture,
            },
          ],
          annotations: [],
        }),
      );
    };
    meta({ 'core:sample_rate': 1e300 }, {});
    await assert.rejects(openFile(path('odd.sigmf-meta')), /sample.rate.*1e\+?300/);
    meta({}, { 'core:frequency': -1e8 });
    await assert.rejects(openFile(path('odd.sigmf-meta')), /the middle of its band is at -100000000 Hz/);
  });
  it('channels of TBF beyond the band', async () => {
    const bytes = encodeLwaSpectra({
      kind: 'tbf',
      tag: 7840n * 10n ** 13n,
      frames: 4,
      stands: 4,
      groups: 1,
      code: () => 1,
    });
    const frameBytes = bytes.length / 4;
    for (let at = 12; at < bytes.length; at += frameBytes) bytes.writeUInt16BE(65535, at);
    writeFileSync(path('beyond.dat'), bytes);
    await assert.rejects(openFile(path('beyond.dat')), /its channel 65535 is beyond the digitisers' band/);
  });
});
describe('reported', () => {
  it('antennas of one name', async () => {
    const path = await altered((items) => {
      items.antenna_names = texts(['one', 'two', 'one']);
    });
    const { file } = await readVisibilities(path);
    assert.match(
      String(file.assumed),
      /2 of its antennas are named 'one': where an option takes a name, the first is meant/,
    );
  });
  it('in UVFITS that we write RADESYS is in capitals, as FITS has it', async () => {
    const path = join(temporaryFolder('radesys'), 'a.uvfits');
    await writeVisibilities(path, header, [integration(0)]);
    const text = readFileSync(path, 'latin1');
    assert.match(text, /RADESYS = 'ICRS {4}'/);
    // pyuvdata refuses upper case, and uses this card before that one.
    assert.match(text, /PHSFRAME= 'icrs {4}'/);
  });
});
