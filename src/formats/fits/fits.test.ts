import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { siteToEcef, ecefToSite, ecefToEnu, enuToEcef } from '../../telescope/earth.js';
import {
  headerBytes,
  integerCard,
  logicalCard,
  parseHeader,
  readUnit,
  realCard,
  remarkCards,
  textCards,
} from './fits.js';
import { readTable, tableBytes } from './table.js';
import { openInput } from '../io/input.js';

describe('FITS cards', () => {
  it('are written in fixed format', () => {
    assert.equal(logicalCard('SIMPLE', true), 'SIMPLE  =                    T'.padEnd(80));
    assert.equal(integerCard('NAXIS', -7, 'axes'), 'NAXIS   =                   -7 / axes'.padEnd(80));
    assert.equal(realCard('CRVAL2', 1e8), 'CRVAL2  =          100000000.0'.padEnd(80));
    assert.equal(realCard('CDELT1', -1.5e-7), 'CDELT1  =              -1.5E-7'.padEnd(80));
    assert.equal(realCard('X', 1e21), 'X       =              1.0E+21'.padEnd(80));
    assert.deepEqual(textCards('OBJECT', "Tom's"), ["OBJECT  = 'Tom''s  '".padEnd(80)]);
    assert.throws(() => realCard('X', Number.NaN), /cannot be written/);
    assert.throws(() => textCards('TOOLONGKEY', 'x'), /not a FITS keyword/);
  });

  it('read back what was written, long texts and all digits included', () => {
    const long = "It's a long story, '' twice quoted, ".repeat(8).trim();
    const cards = [
      realCard('PI', Math.PI),
      realCard('TINY', -1.2345678901234567e-300),
      ...textCards('LONG', long),
      ...textCards('UTF', 'Cañón – 3′'),
      ...remarkCards('HISTORY', 'one two three '.repeat(12).trim()),
      'D       =               1.5D+3 / double exponent'.padEnd(80),
      'BLANK   =                      / nothing said'.padEnd(80),
    ];
    assert.ok(cards.every((card) => card.length === 80));
    const header = parseHeader(cards, 'test');
    assert.equal(header.real('PI'), Math.PI);
    assert.equal(header.real('TINY'), -1.2345678901234567e-300);
    assert.equal(header.text('LONG'), long);
    assert.equal(header.text('UTF'), 'Canon - 3?');
    assert.equal(header.real('D'), 1500);
    assert.equal(header.has('BLANK'), false);
    assert.equal(header.remarks.join(' '), 'one two three '.repeat(12).trim());
  });

  it('name the card that is wrong', () => {
    const header = parseHeader([realCard('A', 1.5), ...textCards('B', 'x')], 'file.fits');
    assert.throws(() => header.real('C'), /file\.fits: card C is missing/);
    assert.throws(() => header.real('B'), /card B = "x" is not a number/);
    assert.throws(() => header.whole('A', 0, 9), /card A = 1\.5 is not a whole number from 0 to 9/);
    const damaged = parseHeader(['NAXIS   = three'.padEnd(80)], 'file.fits');
    assert.throws(() => damaged.whole('NAXIS', 0, 9), /card NAXIS = "three" is not a number/);
  });

  it('are read although some cards are not as they should be: those are text', () => {
    const cards = [
      'RA      = 12:30:49.42',
      "OBSERVER= 'someone's notes / and more",
      'OBJECT  = 3C273 / a name',
    ];
    const header = parseHeader([...cards.map((card) => card.padEnd(80)), realCard('A', 1.5)], 'file.fits');
    assert.equal(header.text('RA'), '12:30:49.42');
    assert.equal(header.text('OBSERVER'), "someone's notes / and more");
    assert.equal(header.text('OBJECT'), '3C273');
    assert.equal(header.real('A'), 1.5);
    assert.throws(() => header.real('RA'), /card RA = "12:30:49\.42" is not a number/);
  });
});

describe('FITS units and tables', () => {
  const folder = temporaryFolder('fits');
  const opened = async (bytes: Uint8Array) => {
    await writeFile(join(folder, 'x.fits'), bytes);
    return openInput(join(folder, 'x.fits'));
  };

  it('round-trip a table', async () => {
    const bytes = tableBytes(
      'TEST',
      [
        { name: 'NAME', form: '8A', rows: ['one', 'two'] },
        {
          name: 'XYZ',
          form: '3D',
          rows: [
            [1, 2, 3],
            [4, 5, Math.PI],
          ],
        },
        { name: 'N', form: '1J', rows: [[-7], [70_000]] },
        { name: 'E', form: '1E', rows: [[0.5], [1.5]] },
      ],
      [realCard('ARRAYX', 12)],
    );
    assert.equal(bytes.length % 2880, 0);
    const file = await opened(bytes);
    const unit = await readUnit(file, 0);
    assert.ok(unit);
    assert.equal(unit.dataBytes, 2 * (8 + 24 + 4 + 4));
    assert.equal(unit.end, bytes.length);
    const table = await readTable(file, unit);
    assert.deepEqual(table.texts('NAME'), ['one', 'two']);
    assert.deepEqual(table.numbers('XYZ', 3), [
      [1, 2, 3],
      [4, 5, Math.PI],
    ]);
    assert.deepEqual(table.numbers('N', 1), [[-7], [70_000]]);
    assert.throws(() => table.numbers('XYZ', 4), /fewer than 4/);
    assert.throws(() => table.texts('NONE'), /column NONE is missing/);
    assert.equal(await readUnit(file, unit.end), undefined);
    await file.close();
  });

  it('refuse what is no header, or has no end', async () => {
    const cases: [Uint8Array, RegExp][] = [
      [new Uint8Array(2880), /is not a FITS file/],
      [headerBytes([logicalCard('SIMPLE', true)]).subarray(0, 1000), /ends 1\.88 kB too early/],
      [new TextEncoder().encode('SIMPLE  =                    T'.padEnd(2880)), /the file ends .* too early/],
      [
        headerBytes([logicalCard('SIMPLE', true), integerCard('BITPIX', 7), integerCard('NAXIS', 0)]),
        /BITPIX = 7/,
      ],
      [headerBytes([logicalCard('SIMPLE', true), integerCard('BITPIX', 8)]), /card NAXIS is missing/],
    ];
    for (const [bytes, message] of cases) {
      const file = await opened(bytes);
      await assert.rejects(readUnit(file, 0), message);
      await file.close();
    }
  });
});

describe('places on the Earth', () => {
  it('follow WGS84 by hand', () => {
    // On the equator at the prime meridian 100 m up: x = a + 100. At the north pole: z = b = a(1 − 1/298.257…).
    const equator = siteToEcef({ latitudeDeg: 0, longitudeDeg: 0, heightM: 100 });
    assert.deepEqual(equator, { x: 6_378_237, y: 0, z: 0 });
    assert.ok(
      Math.abs(siteToEcef({ latitudeDeg: 90, longitudeDeg: 0, heightM: 0 }).z - 6_356_752.314245) < 1e-5,
    );
    // At longitude 90° east is −x, and on the equator north is +z, up is +y.
    const site = { latitudeDeg: 0, longitudeDeg: 90, heightM: 0 };
    const turned = enuToEcef({ x: 1, y: 2, z: 3 }, site);
    assert.ok(
      Math.abs(turned.x + 1) < 1e-12 && Math.abs(turned.y - 3) < 1e-12 && Math.abs(turned.z - 2) < 1e-12,
    );
  });

  it('come back from where they went', () => {
    for (const site of [
      { latitudeDeg: -26.7033194, longitudeDeg: 116.67081524, heightM: 377.827 },
      { latitudeDeg: 89.9999, longitudeDeg: -179.5, heightM: -100 },
      { latitudeDeg: 36.69, longitudeDeg: -105.25, heightM: -473_674 },
    ]) {
      const back = ecefToSite(siteToEcef(site));
      assert.ok(Math.abs(back.latitudeDeg - site.latitudeDeg) < 1e-10);
      assert.ok(Math.abs(back.longitudeDeg - site.longitudeDeg) < 1e-10);
      assert.ok(Math.abs(back.heightM - site.heightM) < 1e-6);
      const enu = ecefToEnu(enuToEcef({ x: 10, y: -20, z: 5 }, site), site);
      assert.ok(Math.hypot(enu.x - 10, enu.y + 20, enu.z - 5) < 1e-12);
    }
  });
});
