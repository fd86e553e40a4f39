/** Astronomical quantities in files (sidereal time, UT1, uvw), compared with ERFA's numbers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { countsCB, visibilitiesCBPP } from '../../core/axes.js';
import { addSeconds, parseInstant, secondsBetween } from '../../core/instant.js';
import { DEGREES_PER_RADIAN, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { erfaRows, erfaSites } from '../../sky/testing/erfa.js';
import { readUnit } from '../fits/fits.js';
import type { VisibilityHeader } from '../format.js';
import { openHdf5 } from '../hdf5/read.js';
import { openInput } from '../io/input.js';
import { createUvfits } from './uvfits/write.js';
import { createUvh5 } from './uvh5/write.js';

const folder = temporaryFolder('sky-facts');
const close = (got: number, expected: number, tolerance: number, what: string): void => {
  assert.ok(Math.abs(got - expected) <= tolerance, `${what} is ${got}, should be ${expected}`);
};
/** 5 mas. */
const ANGLE_RAD = 2.5e-8;

/** Two stations, one integration of two seconds around the row's time. */
async function written(
  row: readonly string[],
  make: typeof createUvh5 | typeof createUvfits,
): Promise<string> {
  const [utc, site, ra, dec] = row;
  const header: VisibilityHeader = {
    telescope: {
      name: 'pair',
      title: 'two',
      site: erfaSites[site],
      stations: [
        { name: 'one', eastM: 0, northM: 0, upM: 0 },
        { name: 'two', eastM: 1700, northM: -900, upM: 12 },
      ],
      polarisations: 1,
      band: { lowHz: 50e6, highHz: 350e6 },
      recording: { centreFrequencyHz: 160e6, sampleRateHz: 1e6, channels: 1, bits: 8 },
      beamExponent: 1,
    },
    polarisations: 1,
    frequenciesHz: Float64Array.of(160e6),
    channelWidthHz: 1e6,
    phaseCentre: { raDeg: Number(ra), decDeg: Number(dec) },
    object: 'a place',
    history: [],
  };
  const path = join(folder, `${site}.${make === createUvh5 ? 'uvh5' : 'uvfits'}`);
  const writer = await make(path, header);
  await writer.append({
    start: addSeconds(parseInstant(utc), -1),
    durationS: 2,
    channels: 1,
    stations: 2,
    polarisations: 1,
    visibilities: visibilitiesCBPP(Float64Array.of(9, 0, 3, 1, 9, 0), 1, 3, 1),
    counts: countsCB(Float64Array.of(10, 10, 10), 1, 3),
    flaggedInputs: new Uint8Array(2),
  });
  await writer.finish();
  return path;
}

describe('the sky in files, against ERFA', () => {
  const rows = erfaRows('axes');
  for (const row of rows) {
    const [lst, ra, dec, north, ...uvw] = row.slice(4).map(Number);
    it(`UVH5, ${row[1]}: sidereal time, apparent place, the catalogue's north, uvw`, async () => {
      const file = await openHdf5(await written(row, createUvh5));
      const first = (name: string): number => file.numbers(`Header/${name}`)[0];
      close(first('lst_array'), lst, ANGLE_RAD, 'lst');
      close(first('phase_center_app_ra'), ra, ANGLE_RAD, 'right ascension');
      close(first('phase_center_app_dec'), dec, ANGLE_RAD, 'declination');
      close(first('phase_center_frame_pa'), north, ANGLE_RAD, 'position angle');
      // Rows 0-0, 0-1, 1-1.
      uvw.forEach((one, k) => {
        close(file.numbers('Header/uvw_array')[3 + k], one, 5e-5, 'uvw'[k]);
      });
      await file.close();
    });

    it(`UVFITS, ${row[1]}: uvw the other way round and in seconds; UT1, the pole, sidereal time at midnight`, async () => {
      const file = await openInput(await written(row, createUvfits));
      const groups = await readUnit(file, 0);
      assert.ok(groups);
      // UU, VV and WW come first; groups 1-1, 1-2, 2-2.
      const groupBytes = groups.dataBytes / 3;
      const bytes = new Uint8Array(12);
      await file.readExactly(bytes, groups.dataStart + groupBytes);
      uvw.forEach((one, k) => {
        const metres = new DataView(bytes.buffer).getFloat32(4 * k) * SPEED_OF_LIGHT_M_PER_S;
        close(metres, -one, 2e-4, 'uvw'[k]);
      });
      const antennas = await readUnit(file, groups.end);
      assert.ok(antennas);
      const { header } = antennas;
      assert.equal(header.text('RDATE'), row[0].slice(0, 10));
      // From the sidereal time at the row's time, back to midnight.
      const midnight = parseInstant(row[0].slice(0, 10));
      const greenwichDeg = lst * DEGREES_PER_RADIAN - erfaSites[row[1]].longitudeDeg;
      const days = secondsBetween(midnight, parseInstant(row[0])) / 86_400;
      const offDeg = header.real('GSTIA0') + days * header.real('DEGPDY') - greenwichDeg;
      close((((offDeg % 360) + 540) % 360) - 180, 0, 1e-4, 'sidereal time run on from midnight');
      const known = erfaRows('sidereal').find(([utc]) => utc.slice(0, 10) === row[0].slice(0, 10));
      assert.ok(known);
      const [ut1, poleX, poleY] = known.slice(2).map(Number);
      // Half a day's change of a value known at another hour.
      close(header.real('UT1UTC'), ut1, 1.5e-3, 'UT1 − UTC');
      close(header.real('POLARX'), poleX, 3e-3, 'pole x');
      close(header.real('POLARY'), poleY, 3e-3, 'pole y');
      await file.close();
    });
  }

  it('UVH5 gives UT1, sidereal time at midnight and the date as UVFITS does', async () => {
    const [row] = rows;
    const hdf5 = await openHdf5(await written(row, createUvh5));
    const fits = await openInput(await written(row, createUvfits));
    const antennas = await readUnit(fits, (await readUnit(fits, 0))?.end ?? 0);
    assert.equal(hdf5.text('Header/rdate'), antennas?.header.text('RDATE'));
    assert.equal(hdf5.number('Header/dut1'), antennas?.header.real('UT1UTC'));
    assert.equal(hdf5.number('Header/gst0'), antennas?.header.real('GSTIA0'));
    assert.equal(hdf5.number('Header/earth_omega'), antennas?.header.real('DEGPDY'));
    assert.equal(hdf5.text('Header/timesys'), 'UTC');
    await hdf5.close();
    await fits.close();
  });
});
