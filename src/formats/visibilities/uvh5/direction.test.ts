/** UVH5 with uvw = antenna 1 − antenna 2: uvw and values belong together, and a source must not be mirrored. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baselineIndex } from '../../../core/axes.js';
import { fromJulianDate } from '../../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { dot, normalise, type Vector3 } from '../../../core/vector.js';
import { skyFrame, type TangentAxes } from '../../../sky/frame.js';
import type { OpenOptions } from '../../format.js';
import { real, reals, text } from '../../hdf5/items.js';
import type { GroupPlan } from '../../hdf5/write.js';
import { altered, baselines, header, readAll, telescope } from './testing.js';

const GROUND: TangentAxes = { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } };
const PAIRS = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 1],
  [1, 2],
  [2, 2],
] as const;
/** High in the south-east. */
const towards = normalise({ x: 0.3, y: -0.2, z: 0.9 });
const place = (s: number): Vector3 => {
  const { eastM, northM, upM } = telescope.stations[s];
  return { x: eastM, y: northM, z: upM };
};
const apart = (s1: number, s2: number): Vector3 => ({
  x: place(s1).x - place(s2).x,
  y: place(s1).y - place(s2).y,
  z: place(s1).z - place(s2).z,
});

interface Made {
  /** uvw = direction · (r₂ − r₁): 1 is the format's own. */
  readonly direction: 1 | -1;
  readonly axes: TangentAxes;
  readonly type: 'unprojected' | 'driftscan' | 'sidereal';
  /** All antennas at 0, as in files whose positions were never set. */
  readonly unplaced?: true;
}

/** One source of 1 Jy, each row's Fourier sum with its own uvw: e^(+2πi f uvw·ŝ/c), times e^(−2πi f w/c) if phased. */
const fileOf = ({ direction, axes, type, unplaced }: Made): Promise<string> =>
  altered((items) => {
    const own = (items.phase_center_catalog as GroupPlan).items[0] as GroupPlan;
    const centre = { ...own.items, cat_type: text(type) };
    if (type !== 'sidereal') Object.assign(centre, { cat_lon: real(0), cat_lat: real(Math.PI / 2) });
    items.phase_center_catalog = { kind: 'group', items: { 0: { kind: 'group', items: centre } } };
    const uvw: number[] = [];
    const values: number[] = [];
    for (let row = 0; row < 12; row++) {
      const [s1, s2] = PAIRS[row % 6];
      const along = (axis: Vector3): number => direction * dot(apart(s2, s1), axis);
      const w = along(axes.n);
      uvw.push(along(axes.l), along(axes.m), w);
      for (const frequencyHz of header.frequenciesHz) {
        const pathM = along(towards) - (type === 'unprojected' ? 0 : w);
        const phase = (2 * Math.PI * frequencyHz * pathM) / SPEED_OF_LIGHT_M_PER_S;
        for (let product = 0; product < 4; product++) values.push(Math.cos(phase), Math.sin(phase));
      }
    }
    items.uvw_array = reals(uvw, [12, 3]);
    if (unplaced) items.antenna_positions = reals(new Array<number>(9).fill(0), [3, 3]);
    items['Data/visdata'] = {
      ...(items['Data/visdata'] as Extract<GroupPlan['items'][string], { kind: 'fixed' }>),
      bytes: new Uint8Array(Float32Array.from(values).buffer),
    };
  }, telescope);

/** V_ij = e^(+2πi f (r_i − r_j)·ŝ/c), whatever the file's direction. */
async function checkSky(path: string, options?: OpenOptions): Promise<Awaited<ReturnType<typeof readAll>>> {
  const read = await readAll(path, options);
  const { means } = read.all[0].passThrough ?? assert.fail('there is no pass-through data');
  header.frequenciesHz.forEach((frequencyHz, c) => {
    for (const [j, i] of PAIRS) {
      const phase = (2 * Math.PI * frequencyHz * dot(apart(i, j), towards)) / SPEED_OF_LIGHT_M_PER_S;
      const at = 8 * (c * baselines + baselineIndex(i, j));
      // Single precision.
      assert.ok(Math.abs(means[at] - Math.cos(phase)) < 2e-6, `pair ${i} ${j}, channel ${c}`);
      assert.ok(Math.abs(means[at + 1] - Math.sin(phase)) < 2e-6, `pair ${i} ${j}, channel ${c}`);
    }
  });
  return read;
}

const first = fromJulianDate(2_459_559.5, 0);
const kinds = [
  { type: 'unprojected', axes: GROUND },
  {
    type: 'driftscan',
    axes: skyFrame(telescope.site, first).tangentAxes(skyFrame(telescope.site, first).zenith),
  },
  { type: 'sidereal', axes: skyFrame(telescope.site, first).tangentAxes(header.phaseCentre) },
] as const;

describe('the direction of uvw in UVH5', () => {
  for (const kind of kinds) {
    it(`${kind.type}: the format's own is read as it is`, async () => {
      const { file } = await checkSky(await fileOf({ ...kind, direction: 1 }));
      assert.doesNotMatch(String(file.assumed), /negated/);
      assert.equal(file.details.uvw, 'r2 - r1');
    });
    it(`${kind.type}: antenna 1 − antenna 2 is negated and conjugated, with a warning`, async () => {
      const { file, all } = await checkSky(await fileOf({ ...kind, direction: -1 }));
      assert.match(String(file.assumed), /uvw are antenna 1 − antenna 2.*negated.*conjugated/);
      assert.equal(file.details.uvw, 'r1 - r2');
      const stored = all[0].passThrough?.stopped;
      assert.equal(stored !== undefined, kind.type === 'sidereal');
      // As r_i − r_j.
      if (stored)
        assert.ok(Math.abs(stored.uvwM[3 * baselineIndex(1, 0)] - dot(apart(1, 0), kind.axes.l)) < 1e-9);
    });
  }

  for (const kind of kinds)
    it(`${kind.type}: antennas that are all at 0 are refused, and placed by uvw, or uvw kept, on request`, async () => {
      const path = await fileOf({ ...kind, direction: 1, unplaced: true });
      await assert.rejects(
        readAll(path),
        /(?:all its antennas are at one place|contradict its antennas' places).*source\.uvw: file/,
      );
      const { file, all } = await checkSky(path, { uvw: 'file' });
      const stored = all[0].passThrough?.stopped;
      if (kind.type === 'sidereal') {
        assert.ok(Math.abs((stored?.uvwM[3] ?? 0) - dot(apart(1, 0), kind.axes.l)) < 1e-9);
        return;
      }
      assert.match(String(file.assumed), /antennas are placed by its uvw, as asked/);
      const [one, ...others] = file.telescope.stations;
      others.forEach((station, k) => {
        const { x, y, z } = apart(k + 1, 0);
        const offM = Math.hypot(
          station.eastM - one.eastM - x,
          station.northM - one.northM - y,
          station.upM - one.upM - z,
        );
        assert.ok(offM < 1e-6, `${station.name}: ${offM} m`);
      });
    });

  it('of drifting data that fit no direction is reported, and positions are used', async () => {
    const { l, m, n } = GROUND;
    const far = { l: { ...l, x: 9 }, m: { ...m, y: -9 }, n };
    const { file } = await checkSky(await fileOf({ direction: 1, axes: far, type: 'unprojected' }));
    assert.match(String(file.assumed), /uvw contradict its antennas' positions.*positions are used/);
  });
});
