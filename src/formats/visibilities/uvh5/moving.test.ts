/** UVH5 with a moving phase centre, and UVH5 drift scans. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromJulianDate } from '../../../core/instant.js';
import { directionFromAltAz, skyFrame } from '../../../sky/frame.js';
import { reals, text } from '../../hdf5/items.js';
import type { GroupPlan, ItemPlan } from '../../hdf5/write.js';
import { openUvh5 } from './read.js';
import { altered, telescope } from './testing.js';

/** The samples: two integrations of 2 s, starting here. */
const FIRST_DAY = 2_459_559.5;
const MIDDLE_DAY = FIRST_DAY + 1 / 86_400;

const opened = async (changed: Readonly<Record<string, ItemPlan>>, type: string, name = 'Jupiter') => {
  const path = await altered((items) => {
    const own = ((items.phase_center_catalog as GroupPlan).items[0] as GroupPlan).items;
    const entry: Record<string, ItemPlan> = { ...own, cat_type: text(type), cat_name: text(name) };
    for (const place of ['cat_lon', 'cat_lat']) Reflect.deleteProperty(entry, place);
    Object.assign(entry, changed);
    items.phase_center_catalog = { kind: 'group', items: { 0: { kind: 'group', items: entry } } };
  });
  const file = await openUvh5(path);
  await file.close();
  return file;
};

const rad = (deg: number): number => (deg * Math.PI) / 180;
const table = (days: readonly number[], ra: readonly number[], dec: readonly number[]) => ({
  cat_times: reals(days),
  cat_lon: reals(ra.map(rad)),
  cat_lat: reals(dec.map(rad)),
});

describe('UVH5 of what moves', () => {
  it('is at the place of the middle of the data, with a warning', async () => {
    // Across the origin of right ascension, a quarter of the way from the second to the third.
    const days = [MIDDLE_DAY - 1, MIDDLE_DAY - 0.25, MIDDLE_DAY + 0.75];
    const file = await opened(table(days, [300, 359.98, 0.06], [0, -5, -4.96]), 'ephem');
    const { phaseCentre, object, fringes } = file.header;
    assert.equal(object, 'Jupiter');
    assert.equal(fringes, undefined);
    assert.ok(Math.abs(phaseCentre.raDeg) < 1e-5 || Math.abs(phaseCentre.raDeg - 360) < 1e-5);
    assert.ok(Math.abs(phaseCentre.decDeg + 4.99) < 1e-5);
    assert.match(String(file.assumed), /it follows Jupiter, which moves: .*at the middle of the data/);
  });

  it('is refused where its table does not lead there', async () => {
    const far = table([MIDDLE_DAY + 3, MIDDLE_DAY + 4], [10, 11], [0, 0]);
    await assert.rejects(opened(far, 'ephem'), /follows Jupiter.*begins after the data/);
    const early = table([MIDDLE_DAY - 4, MIDDLE_DAY - 3], [10, 11], [0, 0]);
    await assert.rejects(opened(early, 'ephem'), /follows Jupiter.*ends before or/);
    await assert.rejects(opened({}, 'ephem'), /follows Jupiter, which moves, and has 0, 0 and 0 of/);
    await assert.rejects(opened({}, 'near_field'), /a phase centre of the kind 'near_field'/);
  });

  it('states the zenith where fringes run, not the name of what is elsewhere', async () => {
    const named = await opened({}, 'unprojected');
    assert.deepEqual([named.header.object, named.header.fringes], ['drift scan Jupiter', 'running']);
    const { zenith } = skyFrame(telescope.site, fromJulianDate(FIRST_DAY, 0));
    assert.ok(Math.abs(named.header.phaseCentre.raDeg - zenith.raDeg) < 1e-6);
    const called = async (name: string) => (await opened({}, 'unprojected', name)).header.object;
    assert.equal(await called('unprojected'), 'zenith');
    assert.equal(await called('drift scan Jupiter'), 'drift scan Jupiter');
  });

  it('that stays over the ground is where that is on the sky at the middle of the data', async () => {
    const at = { cat_lon: reals([rad(30)]), cat_lat: reals([rad(70)]) };
    const { header, assumed } = await opened(at, 'driftscan');
    const frame = skyFrame(telescope.site, fromJulianDate(FIRST_DAY, 1 / 86_400));
    const there = frame.positionOf(directionFromAltAz(70, 30));
    assert.equal(header.object, 'drift scan Jupiter');
    assert.ok(Math.abs(header.phaseCentre.raDeg - there.raDeg) < 1e-6);
    assert.ok(Math.abs(header.phaseCentre.decDeg - there.decDeg) < 1e-6);
    assert.match(String(assumed), /stays at altitude 70\.00°, azimuth 30\.00°/);
  });

  it('of before the catalogue is refused where it does not state where it was phased to', async () => {
    const old = altered((items) => {
      for (const name of ['version', 'phase_center_catalog', 'phase_center_id_array'])
        Reflect.deleteProperty(items, name);
      items.phase_type = text('phased');
      items.object_name = text('Jupiter');
    });
    await assert.rejects(openUvh5(await old), /is phased to Jupiter and does not state where that is/);
  });
});
