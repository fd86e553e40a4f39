/** Copies preserve a file's metadata besides geometry and values, and add nothing. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex, visibilitiesCBPP } from '../../core/axes.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import type { Integration } from '../../core/blocks.js';
import type { VisibilityFile, VisibilityHeader } from '../format.js';
import { openHdf5 } from '../hdf5/read.js';
import { header as plain, integration } from './uvh5/testing.js';
import { readVisibilities, writeVisibilities } from '../testing/visibility-files.js';

const folder = temporaryFolder('copies');

const write = (name: string, header: VisibilityHeader, all: readonly Integration[]): Promise<string> =>
  writeVisibilities(join(folder, name), header, all);
const read = readVisibilities;

const copy = async (from: string, name: string): Promise<string> => {
  const { file, all } = await read(from);
  return write(name, file.header, all);
};

const { telescope } = plain;
const place = { eastM: 40, northM: 50, upM: 2 };
const header: VisibilityHeader = {
  ...plain,
  telescope: {
    ...telescope,
    stations: telescope.stations.map((station, s) => ({
      ...station,
      number: [0, 41, 300][s],
      diameterM: 6.1 + s,
    })),
  },
  units: 'Jy',
  xOrientation: 'unknown',
  instrument: 'backend 7',
  unusedAntennas: [
    { station: { name: 'spare', ...place, number: 12, diameterM: 6.1 }, place: 0 },
    { station: { name: 'other', ...place, number: 13, diameterM: 6.1 }, place: 3 },
  ],
  extraKeywords: { OBSERVER: 'someone', RUN: 7, LEVEL: 0.125, DONE: true },
};
const facts = ({ header }: VisibilityFile) => {
  const { units, xOrientation, instrument, extraKeywords, unusedAntennas, telescope: at } = header;
  return {
    units,
    xOrientation,
    instrument,
    extraKeywords,
    unused: unusedAntennas?.map(({ station, place: row }) => [
      station.name,
      station.number,
      station.diameterM,
      row,
    ]),
    stations: at.stations.map(({ name, number, diameterM }) => [name, number, diameterM]),
  };
};
const expected = {
  units: 'Jy',
  xOrientation: 'unknown',
  instrument: 'backend 7',
  extraKeywords: header.extraKeywords,
  unused: [
    ['spare', 12, 6.1, 0],
    ['other', 13, 6.1, 3],
  ],
  stations: [
    ['one', 0, 6.1],
    ['two', 41, 7.1],
    ['three', 300, 8.1],
  ],
};

describe('copies of visibilities', () => {
  it('keep units, numbers, unused antennas, diameters and keywords, and assert no orientation', async () => {
    const first = await write('first.uvh5', header, [integration(0)]);
    assert.deepEqual(facts((await read(first)).file), expected);
    const fits = await copy(first, 'first.uvfits');
    assert.deepEqual(facts((await read(fits)).file), expected);
    assert.deepEqual(facts((await read(await copy(fits, 'back.uvh5'))).file), expected);
    const bare = await openHdf5(join(folder, 'back.uvh5'));
    assert.ok(!bare.has('Header/x_orientation'), 'the direction of X is unknown');
    assert.equal(bare.number('Header/Nants_telescope'), 5);
    assert.equal(bare.number('Header/Nants_data'), 3);
    assert.deepEqual([...bare.numbers('Header/antenna_numbers')], [12, 0, 41, 13, 300]);
    await bare.close();
  });

  it('of data of ours state that X points east and that they are uncalibrated, and number from the first', async () => {
    for (const name of ['own.uvh5', 'own.uvfits']) {
      const { file } = await read(await write(name, plain, [integration(0)]));
      assert.deepEqual([file.header.xOrientation, file.header.units], ['east', 'uncalib']);
      assert.ok(
        file.telescope.stations.every((one) => !('number' in one)),
        'no number that was not given',
      );
      assert.equal(file.header.extraKeywords, undefined);
    }
  });

  it('hold the products that are there under their own names', async () => {
    for (const [polarisations, products] of [
      [1, [-6]],
      [2, [-5, -6]],
      [2, [-7]],
      [1, [-2]],
    ] as const) {
      const feeds = products[0] > -5 ? 'circular' : 'linear';
      const header: VisibilityHeader = { ...plain, polarisations, products, feeds };
      const all = integration(0);
      // For one polarisation only the first product.
      const one: Integration = polarisations === 2 ? all : { ...all, polarisations: 1, flaggedInputs: new Uint8Array(3), visibilities: visibilitiesCBPP(all.visibilities.filter((_, k) => k % 8 < 2), 2, 6, 1) }; // prettier-ignore
      const first = await write(`p${products[0]}.uvh5`, header, [one]);
      const fits = await copy(first, `p${products[0]}.uvfits`);
      const back = await read(await copy(fits, `q${products[0]}.uvh5`));
      assert.deepEqual(back.file.header.products, products);
      // A single second polarisation is read as the second of two.
      assert.equal(back.file.header.polarisations, 2);
      const hdf5 = await openHdf5(join(folder, `q${products[0]}.uvh5`));
      assert.deepEqual([...hdf5.numbers('Header/polarization_array')], [...products]);
      await hdf5.close();
      // Station 1 is antenna 2 of its pair with station 0: XY of (0, 1) is at [Y][X] of (1, 0).
      const at = 8 * baselineIndex(1, 0) + { [-5]: 0, [-7]: 4, [-6]: 6, [-2]: 6 }[products[0]];
      const wanted = one.visibilities[polarisations === 1 ? 2 * baselineIndex(1, 0) : at];
      assert.ok(Math.abs(back.all[0].visibilities[at] - wanted) < 0.02 && wanted !== 0);
    }
  });

  it('hold the pairs that are there and no others, time by time', async () => {
    const pairsOf = (...pairs: readonly (readonly [number, number])[]): Uint8Array => {
      const there = new Uint8Array(baselineCount(3));
      for (const [i, j] of pairs) there[baselineIndex(i, j)] = 1;
      return there;
    };
    const times = [pairsOf([1, 0], [2, 1]), pairsOf([0, 0], [1, 0], [2, 0]), pairsOf([2, 1])];
    const all = times.map((pairs, k) => ({ ...integration(k), pairs }));
    for (const rows of [undefined, { most: 3, times: 'different' }] as const) {
      const header = { ...plain, ...(rows && { rows }) };
      const first = await write(`some-${rows?.most ?? 'all'}.uvh5`, header, all);
      const seen = await read(first);
      assert.deepEqual(
        seen.all.map(({ pairs }) => pairs),
        times,
      );
      assert.deepEqual(seen.file.header.rows, { most: 3, times: 'different' });
      const fits = await copy(first, `some-${rows?.most ?? 'all'}.uvfits`);
      const back = await read(await copy(fits, `again-${rows?.most ?? 'all'}.uvh5`));
      assert.deepEqual(
        back.all.map(({ pairs }) => pairs),
        times,
      );
      const hdf5 = await openHdf5(first);
      assert.deepEqual(
        ['Nblts', 'Nbls', 'Ntimes'].map((name) => hdf5.number(`Header/${name}`)),
        [6, 4, 3],
      );
      await hdf5.close();
      // Each pair has its own values: unchanged, to single precision.
      for (const [k, { pairs, visibilities, counts }] of all.entries()) {
        const later = back.all[k];
        for (let c = 0; c < 2; c++)
          for (let b = 0; b < baselineCount(3); b++) {
            const cell = c * baselineCount(3) + b;
            assert.equal(later.counts[cell], pairs[b] === 1 ? counts[cell] : 0);
            if (pairs[b] === 0) continue;
            for (let at = 8 * cell; at < 8 * cell + 8; at++)
              assert.ok(Math.abs(later.visibilities[at] - visibilities[at]) < 0.02, `time ${k}, pair ${b}`);
          }
      }
    }
    assert.ok(statSync(join(folder, 'some-3.uvh5')).size < statSync(join(folder, 'some-all.uvh5')).size);
  });
});
