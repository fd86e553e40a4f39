/** Measurement Sets of other programs: columns besides DATA, units, frames, several fields. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { secondsBetween } from '../../../core/instant.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import type { OpenOptions, VisibilityFile } from '../../format.js';
import { openFile } from '../../registry.js';
import { alteredSet, CORRECTED, noAlteredSets, SECOND_FIELD } from '../../testing/altered-sets.js';
import { readVisibilities, writeVisibilities } from '../../testing/visibility-files.js';
import { header, integration } from '../uvh5/testing.js';

describe("others' Measurement Sets", { skip: noAlteredSets }, () => {
  const folder = temporaryFolder('ms-others');
  let sets = 0;
  const changed = (...changes: readonly string[]): Promise<string> =>
    alteredSet(folder, `${sets++}.ms`, changes);
  const facts = async (path: string, options: OpenOptions = {}): Promise<VisibilityFile> => {
    const file = await openFile(path, options);
    assert.ok(file.kind === 'visibilities');
    await file.close();
    return file;
  };
  /** The first value of each integration. */
  const firsts = async (path: string, options: OpenOptions = {}): Promise<number[]> => {
    const file = await openFile(path, options);
    assert.ok(file.kind === 'visibilities');
    const values: number[] = [];
    for await (const one of file.integrations()) values.push(one.passThrough?.means[0] ?? Number.NaN);
    await file.close();
    return values;
  };

  /** Our own keyword is absent: no other program writes it. */
  const FOREIGN = 'alter table SET drop keyword CORELLA';

  it('with CORRECTED_DATA beside DATA get a warning, and are read from the column asked for', async () => {
    const path = await changed(...CORRECTED);
    const plain = await firsts(path);
    assert.deepEqual((await facts(path)).assumed, [
      'it has CORRECTED_DATA beside DATA, which is read; source.column takes another',
    ]);
    assert.deepEqual(
      await firsts(path, { column: 'CORRECTED_DATA' }),
      plain.map((value) => Math.fround(2 * value)),
    );
    assert.equal((await facts(path, { column: 'DATA' })).assumed, undefined);
    await assert.rejects(
      facts(path, { column: 'MODEL_DATA' }),
      /has no column MODEL_DATA of visibilities; choose source\.column: DATA or CORRECTED_DATA$/,
    );
  });

  it('state units, which of DATA alone are not believed where they are Jy', async () => {
    const unit = (word: string): string => `alter table SET set keyword DATA::QuantumUnits='${word}'`;
    const raw = await facts(await changed(FOREIGN, unit('Jy')));
    assert.equal(raw.header.units, undefined);
    assert.match(raw.assumed?.join() ?? '', /marked Jy, as some programs mark uncalibrated data/);
    assert.equal((await facts(await changed(FOREIGN, unit('uncalib')))).header.units, 'uncalib');
    assert.equal((await facts(await changed(FOREIGN, unit('K str')))).header.units, 'K str');
    const corrected = await changed(
      ...CORRECTED,
      "alter table SET set keyword CORRECTED_DATA::UNIT='Jy', DATA::QuantumUnits='uncalib'",
    );
    assert.equal((await facts(corrected, { column: 'CORRECTED_DATA' })).header.units, 'Jy');
  });

  it('state by their feeds where X points: north is exchanged, and what stays open is reported', async () => {
    const angles = (x: string, y: string): string =>
      `update SET::FEED set RECEPTOR_ANGLE=array([${x},${y}],[2])`;
    /** Products of the first autocorrelation, XX, XY, YX, YY, real parts. */
    const products = async (path: string): Promise<number[]> => {
      const { all } = await readVisibilities(path);
      return [0, 2, 4, 6].map((at) => all[0].passThrough?.means[at] ?? Number.NaN);
    };
    const [xx, xy, yx, yy] = await products(await changed(FOREIGN));
    const [same, exchanged] = [
      [xx, xy, yx, yy],
      [yy, yx, xy, xx],
    ];
    const turnedTypes = "update SET::FEED set POLARIZATION_TYPE=array(['Y','X'],[2])";
    const keyword = "alter table SET set keyword pyuvdata_xorient='north'";
    const isExchanged = /X points north: X and Y are exchanged/;
    const mount = (word: string): string => `update SET::ANTENNA set MOUNT='${word}'`;
    const mwa = "update SET::OBSERVATION set TELESCOPE_NAME='MWA'";
    for (const [changes, orientation, wanted, words] of [
      [[angles('pi()/2', '0.0')], 'east', same, undefined],
      [[angles('0.0', 'pi()/2'), mount('ALT-AZ')], 'east', exchanged, isExchanged],
      [[angles('pi()/2', '0.0'), turnedTypes], 'east', exchanged, isExchanged],
      [[angles('0.0', '0.0'), keyword], 'east', exchanged, isExchanged],
      // As cotter and Birli write them: X is east–west.
      [[angles('0.0', 'pi()/2'), mwa], 'east', same, /X is east, as in all sets of the MWA/],
      [[angles('0.0', '0.0'), mwa], 'east', same, /X is east, as in all sets of the MWA/],
      [[angles('pi()/2', '0.0'), mwa], 'east', same, undefined],
      // A default of importers.
      [[angles('0.0', 'pi()/2'), mount('FIXED')], 'unknown', same, /`feeds` fixed/],
      // One angle for both, as MeerKAT's: X is east, Y south.
      [[angles('-pi()/2', '-pi()/2')], 'east', same, /U and V may have the other sign/],
      // Left by writers that do not know the angles.
      [[angles('0.0', '0.0')], 'unknown', same, undefined],
      [[angles('-pi()/4', 'pi()/4')], 'unknown', same, /X is at -45°/],
      [[`${angles('0.0', 'pi()/2')} where rownr()=1`], 'unknown', same, /feeds differ/],
      [["update SET::FEED set POLARIZATION_TYPE=array(['R','L'],[2])"], 'unknown', same, /receptors R and L/],
    ] as const) {
      const path = await changed(FOREIGN, ...changes);
      const file = await facts(path);
      assert.equal(file.header.xOrientation, orientation, changes.join());
      assert.deepEqual(await products(path), wanted, changes.join());
      if (words) assert.match(String(file.assumed), words, changes.join());
      else assert.equal(file.assumed, undefined, changes.join());
    }
  });

  it('get the angles of their feeds, where X is known to lie east', async () => {
    const said = (path: string): string =>
      execFileSync('taql', ['-pr', '-noph', `select RECEPTOR_ANGLE from ${path}::FEED limit 1`], {
        encoding: 'utf8',
      });
    const [known, unknown] = [join(folder, 'east.ms'), join(folder, 'open.ms')];
    await writeVisibilities(known, header, [integration(0)]);
    await writeVisibilities(unknown, { ...header, xOrientation: 'unknown' }, [integration(0)]);
    assert.match(said(known), /\[1\.5708, ?0\]/);
    assert.match(said(unknown), /\[0, ?0\]/);
    execFileSync('taql', ['alter table east.ms drop keyword CORELLA'], { cwd: folder, stdio: 'ignore' });
    assert.equal((await facts(known)).header.xOrientation, 'east');
  });

  it('count their weights although the first 64 rows have none', async () => {
    const path = join(folder, 'late.ms');
    await writeVisibilities(
      path,
      header,
      Array.from({ length: 12 }, (_, k) => integration(k)),
    );
    const zero = 'update late.ms set WEIGHT=0*WEIGHT, WEIGHT_SPECTRUM=0*WEIGHT_SPECTRUM where rownr()<66';
    execFileSync('taql', [zero], { cwd: folder, stdio: 'ignore' });
    const { file, all } = await readVisibilities(path);
    assert.equal(file.assumed, undefined);
    assert.deepEqual([...(all.at(-1)?.counts ?? [])], [...integration(11).counts]);
    assert.ok(all[0].counts.every((count) => count === 0));
  });

  it('get the units that we know, as pyuvdata reads them', async () => {
    const path = join(folder, 'calibrated.ms');
    await writeVisibilities(path, { ...header, units: 'Jy' }, [integration(0)]);
    const said = execFileSync('taql', ['show table calibrated.ms'], { cwd: folder, encoding: 'utf8' });
    assert.match(said, /^ DATA .*unit=Jy|DATA .*\bJy\b/m);
    assert.equal((await facts(path)).header.units, 'Jy');
  });

  it('with places in B1950 are read in J2000, in other frames they are refused', async () => {
    const frame = (word: string): string =>
      `alter table SET::FIELD set keyword PHASE_DIR::MEASINFO.Ref='${word}'`;
    // astropy: SkyCoord(250, -30, frame='fk4', obstime='J2021.94').icrs
    for (const [word, raDeg, decDeg] of [
      ['J2000', 250, -30],
      ['ICRS', 250, -30],
      ['B1950', 250.79246047, -30.09340102],
    ] as const) {
      const { header: read } = await facts(await changed(frame(word)));
      const { phaseCentre } = read;
      assert.ok(Math.abs(phaseCentre.raDeg - raDeg) < 1e-4, `${word}: ${phaseCentre.raDeg}`);
      assert.ok(Math.abs(phaseCentre.decDeg - decDeg) < 1e-4, `${word}: ${phaseCentre.decDeg}`);
    }
    for (const word of ['AZEL', 'APP', 'HADEC', 'SUN', 'GALACTIC'])
      await assert.rejects(
        facts(await changed(frame(word))),
        new RegExp(`gives the place of its field a place in ${word}, which is not read; phase it`),
      );
    await assert.rejects(
      facts(await changed("alter table SET set keyword TIME::MEASINFO.Ref='TDB'")),
      /counts its times in TDB; write it with times in UTC/,
    );
    const lsrk = await facts(await changed('update SET::SPECTRAL_WINDOW set MEAS_FREQ_REF=1'));
    assert.match(lsrk.assumed?.join() ?? '', /frequencies are labelled LSRK/);
  });

  it('with times in UT1, as Birli wrote them, are read in UTC', async () => {
    const plain = await readVisibilities(await changed());
    // UT1 − UTC was −0.107847 s at 2021-12-11T04:00 (IERS Bulletin B, by astropy).
    const shifted = await readVisibilities(
      await changed(
        'update SET set TIME=TIME-0.107847',
        "alter table SET set keyword TIME::MEASINFO.Ref='UT1'",
      ),
    );
    plain.all.forEach((one, k) => {
      const apartS = secondsBetween(one.start, shifted.all[k].start);
      assert.ok(Math.abs(apartS) < 2e-5, `integration ${k}: ${apartS} s`);
    });
    assert.match(String(shifted.file.assumed), /its times are in UT1: converted to UTC/);
  });

  it('with times in TAI are read in UTC', async () => {
    const plain = await readVisibilities(await changed());
    const shifted = await readVisibilities(
      await changed('update SET set TIME=TIME+37', "alter table SET set keyword TIME::MEASINFO.Ref='TAI'"),
    );
    plain.all.forEach((one, k) => {
      const apartS = secondsBetween(one.start, shifted.all[k].start);
      assert.ok(Math.abs(apartS) < 2e-6, `integration ${k}: ${apartS} s`);
    });
    assert.match(String(shifted.file.assumed), /its times are in TAI: converted to UTC by the leap seconds/);
  });

  it('without tables that are not read (WSRT, DP3) are read, and stay as they are', async () => {
    const plain = await readVisibilities(await changed());
    for (const names of [['POINTING'], ['POINTING', 'STATE', 'PROCESSOR']]) {
      const path = await changed(...names.map((name) => `alter table SET drop keyword ${name}`));
      for (const name of names) rmSync(join(path, name), { recursive: true });
      const { all } = await readVisibilities(path);
      assert.deepEqual(
        all.map(({ passThrough }) => passThrough?.means),
        plain.all.map(({ passThrough }) => passThrough?.means),
      );
      for (const name of names) assert.equal(existsSync(join(path, name)), false);
    }
  });

  it('with baseline-dependent averaging are refused by name', async () => {
    const path = await changed("alter table SET set keyword BDA_TIME_AXIS='table'");
    await assert.rejects(
      facts(path),
      /holds baseline-dependent averaging \(BDA_TIME_AXIS\); expand it with DP3 first \(steps=\[bdaexpander\]\)/,
    );
  });

  it('with rows of several shapes are refused by what they are, not as damaged', async () => {
    // The first row is of the second window; window 0 has one channel where the data have two.
    const windows = [
      'insert into SET::SPECTRAL_WINDOW select from SET::SPECTRAL_WINDOW',
      'update SET::SPECTRAL_WINDOW set NUM_CHAN=1, CHAN_FREQ=[159e6], CHAN_WIDTH=[1e6] where rownr()=0',
      'insert into SET::DATA_DESCRIPTION select from SET::DATA_DESCRIPTION',
      'update SET::DATA_DESCRIPTION set SPECTRAL_WINDOW_ID=rownr()',
      'update SET set DATA_DESC_ID=1',
    ];
    await assert.rejects(
      facts(await changed(...windows)),
      /holds several spectral windows; split them first/,
    );
    // As DP3 writes it: a table of its own, and windows with fewer channels for short baselines.
    const averaged = await changed(
      ...windows,
      'create table SET/BDA_TIME_AXIS FIELD_ID I4',
      'alter table SET set keyword BDA_TIME_AXIS=SET/BDA_TIME_AXIS',
    );
    await assert.rejects(facts(averaged), /holds baseline-dependent averaging \(BDA_TIME_AXIS\); expand it/);
  });

  it('with several fields are read whole, or of one field by its name or number', async () => {
    const path = await changed(...SECOND_FIELD);
    const both = await facts(path);
    assert.equal(both.integrationCount, 2);
    assert.equal(both.targets, 'a place (0), other (1)');
    assert.match(both.assumed?.join() ?? '', /several targets, a place \(0\), other \(1\)/);
    const [first, second] = await firsts(path);
    assert.deepEqual(await firsts(path, { target: 'A place' }), [first]);
    for (const target of ['other', '1']) {
      assert.deepEqual(await firsts(path, { target }), [second]);
      const { header: read, targets, assumed } = await facts(path, { target });
      assert.deepEqual([read.object, targets, assumed], ['other', undefined, undefined]);
      // Both angles are larger by 0.1 rad.
      assert.ok(Math.abs(read.phaseCentre.raDeg - 250 - 18 / Math.PI) < 1e-9);
      assert.ok(Math.abs(read.phaseCentre.decDeg + 30 - 18 / Math.PI) < 1e-9);
    }
    assert.deepEqual(await firsts(path, { target: 'all' }), [first, second]);
    await assert.rejects(facts(path, { target: 'third' }), /holds no target 'third'; it holds a place \(0\)/);
  });
});
