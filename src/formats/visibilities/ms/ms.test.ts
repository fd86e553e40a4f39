/** Measurement Sets through casacore. The module takes a minute to build, so the tests only use an existing one. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Integration } from '../../../core/blocks.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import type { VisibilityHeader } from '../../format.js';
import { openFile, visibilityFormatFor } from '../../registry.js';
import { header as plain, integration } from '../uvh5/testing.js';
import { isCasacoreBuilt } from './library.js';
import { readVisibilities, writeVisibilities } from '../../testing/visibility-files.js';

const folder = temporaryFolder('ms');
const skip = isCasacoreBuilt() ? false : 'node scripts/build-casacore.js has not been run here';

const write = (name: string, header: VisibilityHeader, all: readonly Integration[]): Promise<string> =>
  writeVisibilities(join(folder, name), header, all);
const read = readVisibilities;

const copy = async (from: string, name: string): Promise<string> => {
  const { file, all } = await read(from);
  return write(name, file.header, all);
};

it('the module of Measurement Sets is there', { skip }, () => {
  assert.ok(isCasacoreBuilt());
});

describe('Measurement Sets', { skip }, () => {
  const header: VisibilityHeader = {
    ...plain,
    telescope: {
      ...plain.telescope,
      stations: plain.telescope.stations.map((station, s) => ({
        ...station,
        number: 3 + 4 * s,
        diameterM: 6.1,
      })),
    },
    units: 'Jy',
    unusedAntennas: [
      { station: { name: 'spare', eastM: 9, northM: 9, upM: 0, number: 5, diameterM: 6.1 }, place: 1 },
    ],
    extraKeywords: { OBSERVER: 'someone' },
  };
  const pairs = Uint8Array.of(1, 1, 0, 1, 1, 1);

  it('come back as UVH5 and UVFITS have it: values, flags, weights, uvw, times, antennas, units, pairs', async () => {
    const flaggedInputs = Uint8Array.of(0, 0, 0, 1, 0, 0);
    const first = await write('first.uvh5', header, [
      integration(0),
      { ...integration(1), pairs, flaggedInputs },
    ]);
    const there = await read(first);
    const set = await read(await copy(first, 'set.ms'));
    const back = await read(await copy(join(folder, 'set.ms'), 'back.uvh5'));
    const fits = await read(await copy(join(folder, 'set.ms'), 'back.uvfits'));
    for (const { file, all } of [set, back, fits]) {
      const { frequenciesHz, units, unusedAntennas, extraKeywords, telescope } = file.header;
      assert.deepEqual([...frequenciesHz], [159e6, 160e6]);
      assert.deepEqual([units, extraKeywords], ['Jy', { OBSERVER: 'someone' }]);
      assert.deepEqual(
        telescope.stations.map(({ name, number, diameterM }) => [name, number, diameterM]),
        [
          ['one', 3, 6.1],
          ['two', 7, 6.1],
          ['three', 11, 6.1],
        ],
      );
      assert.deepEqual(
        unusedAntennas?.map(({ station, place }) => [station.name, station.number, place]),
        [['spare', 5, 1]],
      );
      assert.equal(all.length, 2);
      all.forEach((one, k) => {
        const wanted = there.all[k];
        assert.deepEqual(one.pairs, wanted.pairs);
        assert.deepEqual(one.passThrough?.weights, wanted.passThrough?.weights);
        assert.ok(Math.abs(one.durationS - wanted.durationS) < 1e-9);
        one.passThrough?.means.forEach((value, at) => {
          // Values in single precision: sums of ten thousand samples over a thousand counts.
          assert.ok(Math.abs(value - (wanted.passThrough?.means[at] ?? 0)) < 1e-5, `mean ${at}`);
        });
      });
    }
    // uvw is stored in double precision: in UVH5 it is again the identical number.
    assert.deepEqual(back.all[0].passThrough?.stopped?.uvwM, there.all[0].passThrough?.stopped?.uvwM);
  });

  it('whose uvw runs the other way hold the conjugate, and are read as what they are', async () => {
    // Exchanging the antenna positions reverses every r₁ − r₂, and so what the rows must hold.
    const { stations } = plain.telescope;
    const turned = stations.map((one) => ({ ...one, eastM: -one.eastM, northM: -one.northM, upM: -one.upM }));
    const one = await read(await write('one.ms', plain, [integration(0)]));
    assert.equal(one.file.details.uvw, 'r1 - r2');
    const path = await write(
      'two.ms',
      { ...one.file.header, telescope: { ...plain.telescope, stations: turned } },
      [one.all[0]],
    );
    const two = await read(path);
    // uvw came from the first file, positions did not.
    assert.equal(two.file.details.uvw, 'r2 - r1');
    const at = 8;
    assert.ok(Math.abs(two.all[0].visibilities[at + 1] + one.all[0].visibilities[at + 1]) < 1e-2);
  });

  it('leave nothing behind when they are abandoned, and damaged ones are refused in one line', async () => {
    const path = join(folder, 'gone.ms');
    const writer = await visibilityFormatFor(path).createVisibilities(path, plain);
    await writer.append(integration(0));
    await writer.abandon();
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('gone')),
      [],
    );
    mkdirSync(join(folder, 'bad.ms'));
    writeFileSync(join(folder, 'bad.ms', 'table.dat'), 'nothing');
    await assert.rejects(openFile(join(folder, 'bad.ms')), /bad\.ms: casacore refuses it/);
    assert.ok(!existsSync(path));
  });

  it('whose tables name absurd lengths are refused without the memory they ask for', async () => {
    const path = await write('long.ms', plain, [integration(0)]);
    const file = join(path, 'table.dat');
    const bytes = readFileSync(file);
    // A string is preceded by its big-endian length: here that of an early column name.
    const at = bytes.indexOf('\0\0\0\x08ANTENNA1');
    assert.ok(at > 0);
    bytes.writeUInt32BE(0xf000_0000, at);
    writeFileSync(file, bytes);
    const { maxRSS: before } = process.resourceUsage();
    await assert.rejects(openFile(path), /long\.ms: casacore refuses it/);
    const grownKb = process.resourceUsage().maxRSS - before;
    assert.ok(grownKb < 2 ** 20, `${grownKb} kB more`);
  });
});
