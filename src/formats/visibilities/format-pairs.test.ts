/** Round trips between all pairs of UVFITS, UVH5 and Measurement Sets, for files that list antennas without data. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineCount } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { secondsBetween } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { enuToEcef, siteToEcef } from '../../telescope/earth.js';
import type { VisibilityFile, VisibilityHeader } from '../format.js';
import { readVisibilities as read, writeVisibilities } from '../testing/visibility-files.js';
import { antennaTableOf } from './header-facts.js';
import { isCasacoreBuilt } from './ms/library.js';
import { header as plain, integration } from './uvh5/testing.js';

const folder = temporaryFolder('pairs');
const FORMATS = ['uvfits', 'uvh5', 'ms'] as const;
const noCasacore = isCasacoreBuilt() ? false : 'node scripts/build-casacore.js has not been run here';
const skipFor = (...formats: readonly string[]) => (formats.includes('ms') ? noCasacore : false);

type Read = Awaited<ReturnType<typeof read>>;

/** Name, number and geocentric position of every antenna in the table, in table order. */
const tableOf = ({ header }: VisibilityFile) => {
  const { site, stations } = header.telescope;
  const centre = siteToEcef(site);
  return antennaTableOf(stations, header.unusedAntennas).map(({ name, number, eastM, northM, upM }) => {
    const { x, y, z } = enuToEcef({ x: eastM, y: northM, z: upM }, site);
    return { name, number, x: x + centre.x, y: y + centre.y, z: z + centre.z };
  });
};

/** Compares the stored values (fringes stopped), weights, flags, times and positions. */
function checkSame(there: Read, back: Read, what: string): void {
  const [wanted, found] = [tableOf(there.file), tableOf(back.file)];
  assert.equal(found.length, wanted.length, what);
  wanted.forEach((one, k) => {
    const { name, x, y, z } = found[k];
    assert.equal(name, one.name, what);
    const apartM = Math.hypot(x - one.x, y - one.y, z - one.z);
    // Micrometres: doubles of 6·10⁶ m, added and subtracted.
    assert.ok(apartM < 1e-6, `${what}: ${name} moved by ${apartM} m`);
  });
  assert.deepEqual(
    back.file.header.unusedAntennas?.map(({ place }) => place),
    there.file.header.unusedAntennas?.map(({ place }) => place),
    what,
  );
  assert.equal(back.all.length, there.all.length, what);
  there.all.forEach((one, k) => {
    const other = back.all[k];
    // A Julian Date in a double.
    assert.ok(Math.abs(secondsBetween(one.start, other.start)) < 5e-5, `${what}: time ${k}`);
    assert.ok(Math.abs(one.durationS - other.durationS) < 1e-6 * one.durationS, `${what}: length ${k}`);
    assert.deepEqual(other.pairs, one.pairs, `${what}: pairs ${k}`);
    const isStopped = storedOf(one).stopped !== undefined && storedOf(other).stopped !== undefined;
    const [mine, theirs] = [one, other].map((each, k) => ({
      weights: storedOf(each).weights,
      means: isStopped ? stoppedMeans(each, [there, back][k].file.header) : storedOf(each).means,
    }));
    const largest = mine.means.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    mine.weights.forEach((weight, at) => {
      assert.ok(Object.is(weight > 0, theirs.weights[at] > 0), `${what}: flag ${at} of ${k}`);
      const sizes = [Math.abs(weight), Math.abs(theirs.weights[at])];
      assert.ok(
        Math.abs(sizes[0] - sizes[1]) <= 1e-6 * sizes[0],
        `${what}: weight ${at} of ${k}: ${sizes.join()}`,
      );
    });
    mine.means.forEach((value, at) => {
      assert.ok(Math.abs(value - theirs.means[at]) <= 2e-6 * largest, `${what}: value ${at} of ${k}`);
    });
  });
}
/** Fringes stopped with the file's own uvw: UVFITS rounds w to single precision, and its values match that w. */
function stoppedMeans(one: Integration, { frequenciesHz }: VisibilityHeader): Float64Array {
  const { means, stopped } = storedOf(one);
  const perBaseline = one.polarisations ** 2;
  const baselines = baselineCount(one.stations);
  const turned = new Float64Array(means.length);
  for (let at = 0; 2 * at < means.length; at++) {
    const cell = Math.floor(at / perBaseline);
    const w = stopped?.uvwM[3 * (cell % baselines) + 2] ?? 0;
    const cycles = (frequenciesHz[Math.floor(cell / baselines)] * w) / SPEED_OF_LIGHT_M_PER_S;
    const [cos, sin] = Number.isNaN(w)
      ? [1, 0]
      : [Math.cos(2 * Math.PI * cycles), Math.sin(-2 * Math.PI * cycles)];
    turned[2 * at] = means[2 * at] * cos - means[2 * at + 1] * sin;
    turned[2 * at + 1] = means[2 * at] * sin + means[2 * at + 1] * cos;
  }
  return turned;
}
const storedOf = (one: Integration) => one.passThrough ?? assert.fail('there is no pass-through data');

let copies = 0;
const copied = ({ file, all }: Read, format: string): Promise<Read> =>
  writeVisibilities(join(folder, `${copies++}.${format}`), file.header, all).then(read);

describe('there and back, with antennas that have no data', () => {
  // The site is 111 m from the mean of the stations, as HERA's is.
  const header: VisibilityHeader = {
    ...plain,
    telescope: {
      ...plain.telescope,
      stations: plain.telescope.stations.map((one) => ({ ...one, eastM: one.eastM + 111 })),
    },
    units: 'Jy',
    unusedAntennas: [
      { station: { name: 'near', eastM: 9, northM: -40, upM: 1 }, place: 1 },
      { station: { name: 'far', eastM: 150_000, northM: 3000, upM: -1800 }, place: 4 },
    ],
  };
  const pairs = Uint8Array.of(1, 1, 0, 1, 1, 1);
  const flaggedInputs = Uint8Array.of(0, 0, 0, 1, 0, 0);
  const made = [integration(0), { ...integration(1), pairs, flaggedInputs }];

  for (const one of FORMATS)
    for (const other of FORMATS)
      it(`${one} to ${other} and back`, { skip: skipFor(one, other) }, async () => {
        const there = await read(await writeVisibilities(join(folder, `${copies++}.${one}`), header, made));
        assert.deepEqual(
          tableOf(there.file).map(({ name }) => name),
          ['one', 'near', 'two', 'three', 'far'],
        );
        const through = await copied(there, other);
        checkSame(there, through, `${one} to ${other}`);
        checkSame(there, await copied(through, one), `${one} to ${other} and back`);
      });

  const data = process.env.CORELLA_TEST_DATA ?? '';
  const real = [
    'uvh5/ata.LoA.C0352.uvh5_60647_62965_9760406_3c286_0001.uvh5',
    'uvh5/hera-zen.2458432.34569.uvh5',
    'uvh5/hera-zen.2458661.23480.HH.uvh5',
    'uvfits/vlba-mojave.uvfits',
    'ms/ovro-lwa-2018-03-21-01_26_33_0004384620257280_000000_downselected.ms.tar.gz',
  ];
  for (const name of real) {
    const missing = data === '' || !existsSync(join(data, name));
    const skip = missing ? `CORELLA_TEST_DATA names no folder with ${name}` : noCasacore;
    it(`${name} through every format`, { skip }, async () => {
      let path = join(data, name);
      if (name.endsWith('.tar.gz')) {
        const list = execFileSync('tar', ['-xvzf', path, '-C', folder], { encoding: 'utf8' });
        path = join(folder, list.split('/')[0]);
      }
      const there = await read(path);
      for (const format of FORMATS) {
        const through = await copied(there, format);
        checkSame(there, through, `${name} to ${format}`);
        for (const last of FORMATS)
          checkSame(through, await copied(through, last), `${name} to ${format} to ${last}`);
      }
    });
  }
});
