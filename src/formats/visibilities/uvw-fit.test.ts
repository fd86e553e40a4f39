/** uvw and positions that contradict each other, by hand and in files. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { uvwB, weightsCBPP } from '../../core/axes.js';
import { addSeconds } from '../../core/instant.js';
import { dot, scale } from '../../core/vector.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { skyFrame } from '../../sky/frame.js';
import type { Telescope } from '../../telescope/telescope.js';
import { readUnit } from '../fits/fits.js';
import { openInput } from '../io/input.js';
import { openFile, visibilityFormatFor } from '../registry.js';
import { readVisibilities, writeVisibilities } from '../testing/visibility-files.js';
import { planUvfits } from './uvfits/layout.js';
import { header, integration, start, telescope } from './uvh5/testing.js';
import { checkUvw, type UvwRow } from './uvw-fit.js';

const wide: Telescope = {
  ...telescope,
  stations: telescope.stations.map((one) => ({
    ...one,
    eastM: 20 * one.eastM,
    northM: 20 * one.northM,
    upM: 20 * one.upM,
  })),
};
/** Rotated about the vertical by a right angle. */
const turned: Telescope = {
  ...wide,
  stations: wide.stations.map((one) => ({ ...one, eastM: -one.northM, northM: one.eastM })),
};
const stoppedAt = header.phaseCentre;
const middle = addSeconds(start, 1);

const rowsOf = (sign: 1 | -1): UvwRow[] => {
  const { l, m, n } = skyFrame(wide.site, middle).tangentAxes(stoppedAt);
  return [
    [0, 1],
    [0, 2],
    [1, 2],
  ].map(([s1, s2]) => {
    // prettier-ignore
    const [one, two] = [wide.stations[s1], wide.stations[s2]];
    const apart = { x: one.eastM - two.eastM, y: one.northM - two.northM, z: one.upM - two.upM };
    const [u, v, w] = [l, m, n].map((axis) => dot(axis, scale(apart, sign)));
    return { s1, s2, uvwM: [u, v, w] };
  });
};

describe('uvw beside places', () => {
  const at = { middle, stoppedAt };

  it('show which way they run', () => {
    assert.deepEqual(checkUvw('a file', wide, { ...at, rows: rowsOf(1) }), { sign: 1, assumed: [] });
    assert.deepEqual(checkUvw('a file', wide, { ...at, rows: rowsOf(-1) }), { sign: -1, assumed: [] });
    const checked = checkUvw('a file', wide, { ...at, rows: rowsOf(-1), definedSign: 1 });
    assert.match(String(checked.assumed), /have the opposite sign of its format's definition/);
  });

  it('report nothing where the sign is unknown: autocorrelations, a few metres; uvw of zero are refused', () => {
    const none = { sign: 1, assumed: [] };
    const zero: UvwRow[] = [
      { s1: 0, s2: 0, uvwM: [1, 2, 3] },
      { s1: 0, s2: 1, uvwM: [0, 0, 0] },
      { s1: 0, s2: 2, uvwM: [Number.NaN, 0, 1] },
    ];
    assert.throws(() => checkUvw('a file', wide, { ...at, rows: zero }), /its uvw are all 0 although/);
    assert.deepEqual(checkUvw('a file', wide, { ...at, rows: [] }), none);
    // Only u and v.
    const flat = rowsOf(1).map((row): UvwRow => ({ ...row, uvwM: [row.uvwM[0], row.uvwM[1], 0] }));
    assert.deepEqual(checkUvw('a file', wide, { ...at, rows: flat }), {
      sign: 1,
      assumed: [
        'its w are all 0: images at its own phase centre are right, other centres and calibration are not',
      ],
      isFlat: true,
    });
    const { assumed } = checkUvw('a file', wide, { ...at, rows: flat, flat: 'computed' });
    assert.deepEqual(assumed, ['its w are all 0: computed from the positions']);
  });

  it('turn nothing over where neither way fits', () => {
    const few = (metres: number): number => metres / 400;
    const small: Telescope = {
      ...wide,
      stations: wide.stations.map((one) => ({
        ...one,
        eastM: few(one.eastM),
        northM: few(one.northM),
        upM: few(one.upM),
      })),
    };
    const rows = rowsOf(-1).map(({ s1, s2, uvwM: [u, v, w] }): UvwRow => ({
      s1,
      s2,
      uvwM: [few(u) / 4, few(v) / 4, few(w) / 4],
    }));
    assert.equal(checkUvw('a file', small, { ...at, rows }).sign, 1);
  });

  it('are refused where most contradict, with a warning where some do', () => {
    assert.throws(
      () => checkUvw('a file', turned, { ...at, rows: rowsOf(1) }),
      /its uvw contradict its antennas' places.* m long and differ .* by .* m \(rms\).*telescope: NAME/,
    );
    // As requested, with a warning.
    const asked = checkUvw('a file', turned, { ...at, rows: rowsOf(1), uvw: 'file' });
    assert.equal(asked.sign, 1);
    assert.match(
      String(asked.assumed),
      /contradict its antennas' positions by .* its uvw are used, as asked; images at its own/,
    );
    assert.throws(
      () => checkUvw('a file', turned, { ...at, rows: rowsOf(1) }),
      /source\.uvw: file uses its uvw/,
    );
    const [first, ...others] = rowsOf(1);
    const rows = [{ ...first, uvwM: [50, 50, 50] as const }, ...others];
    const { assumed } = checkUvw('a file', wide, { ...at, rows });
    assert.match(String(assumed), /uvw of 1 of 3 pairs contradict the positions of their antennas/);
  });

  for (const format of ['uvfits', 'uvh5'])
    it(`of ${format}: refused, and read with the places that fit`, async () => {
      const path = join(temporaryFolder('uvw'), `odd.${format}`);
      // Stored with another telescope's uvw, as left by a converter that rotates positions wrongly.
      const { l, m, n } = skyFrame(turned.site, middle).tangentAxes(stoppedAt);
      const uvwM = [
        [0, 0],
        [1, 0],
        [1, 1],
        [2, 0],
        [2, 1],
        [2, 2],
      ].flatMap(([i, j]) => {
        // prettier-ignore
        const [one, two] = [turned.stations[i], turned.stations[j]];
        const apart = { x: one.eastM - two.eastM, y: one.northM - two.northM, z: one.upM - two.upM };
        return [l, m, n].map((axis) => dot(axis, apart));
      });
      const plain = join(temporaryFolder('uvw'), `plain.${format}`);
      for (const [to, places] of [
        [plain, turned],
        [path, wide],
      ] as const) {
        // prettier-ignore
        const writer = await visibilityFormatFor(to).createVisibilities(to, { ...header, telescope: places });
        const one = integration(0);
        const stored = {
          means: one.visibilities,
          weights: weightsCBPP(new Float64Array(one.visibilities.length / 2).fill(1), 2, 6, 2),
          stopped: { phaseCentre: stoppedAt, uvwM: uvwB(Float64Array.from(uvwM), 6) },
        };
        await writer.append({ ...one, passThrough: stored });
        await writer.finish();
      }
      await (await openFile(plain)).close();
      await assert.rejects(openFile(path), /its uvw contradict its antennas' places/);
      await (await openFile(path, { telescope: turned })).close();
    });

  it('of UVFITS without w, as ehtim writes it: w by the positions', async () => {
    const path = join(temporaryFolder('uvw'), 'flat.uvfits');
    await writeVisibilities(path, { ...header, telescope: wide }, [integration(0)]);
    const whole = await readVisibilities(path);
    const input = await openInput(path);
    const unit = await readUnit(input, 0);
    assert.ok(unit);
    const { groupElements, groupCount } = planUvfits(unit, undefined);
    await input.close();
    const bytes = await readFile(path);
    // UU, VV, WW are the first three numbers of a group.
    for (let k = 0; k < groupCount; k++) bytes.writeFloatBE(0, unit.dataStart + 4 * (k * groupElements + 2));
    await writeFile(path, bytes);
    const flat = await readVisibilities(path);
    assert.match(String(flat.file.assumed), /its w are all 0: computed from the positions/);
    // WW in single precision is accurate to 10 µm, 1e-5 turns at 150 MHz.
    const values = flat.all[0].visibilities;
    const most = values.reduce((x, y) => Math.max(x, Math.abs(y)), 0);
    whole.all[0].visibilities.forEach((value, at) => {
      assert.ok(
        Math.abs(value - values[at]) < 1e-4 * most,
        `value ${at}: ${values[at]} where ${value} is due`,
      );
    });
  });
});
