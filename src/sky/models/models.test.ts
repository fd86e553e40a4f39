import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findSources } from '../sources.js';
import { parseCatalogue } from './catalogue.js';
import { parseComponentList, splitLine } from './component-list.js';

const close = (found: number, wanted: number, tolerance = 1e-9): void => {
  assert.ok(Math.abs(found - wanted) <= tolerance, `${found} where ${wanted} belongs`);
};
const place = (source: { position: (frame: never) => unknown }): unknown =>
  source.position(undefined as never);

describe('sky models', () => {
  it('of WSClean: ordinary and logarithmic spectra, Gaussians', () => {
    const list = parseComponentList(
      "Format = Name, Type, Ra, Dec, I, SpectralIndex, LogarithmicSI, ReferenceFrequency='150e6', MajorAxis, MinorAxis, Orientation\n" +
        's0c0,POINT,12:00:00.0,-26.30.00.0,10,[-2,0.5],false,150000000,,,\n' +
        's0c1,GAUSSIAN,01:00:00.0,+10.00.36.0,4,[-0.7],true,,60,30,45\n',
      'model.txt',
    );
    assert.deepEqual(
      list.map(({ name }) => name),
      ['s0c0', 's0c1'],
    );
    assert.deepEqual(place(list[0]), { raDeg: 180, decDeg: -26.5 });
    assert.deepEqual(place(list[1]), { raDeg: 15, decDeg: 10.01 });
    // At twice the reference: 10 − 2·1 + 0.5·1² = 8.5; and 4·2^−0.7.
    close(list[0].fluxJy(300e6), 8.5);
    close(list[1].fluxJy(300e6), 4 * 2 ** -0.7);
    assert.deepEqual(list[1].shape, { majorDeg: 1 / 60, minorDeg: 0.5 / 60, positionAngleDeg: 45 });
    assert.equal(list[0].shape, undefined);
  });

  it('of BBS: patches are passed over, Q, U and V are fractions of I', () => {
    const list = parseComponentList(
      "# (Name, Type, Patch, Ra, Dec, I, Q, U, V, ReferenceFrequency='60e6', SpectralIndex='[0.0]') = format\n" +
        ' , , CygA, 19:59:28, +40.44.02\n' +
        'cyg1, POINT, CygA, 19:59:28.0, -00.30.00, 100, 10, -20, 5, , [-0.8, -0.1]\n',
      'sky.bbs',
    );
    assert.equal(list.length, 1);
    assert.deepEqual(list[0].stokes, { q: 0.1, u: -0.2, v: 0.05 });
    // South of the equator by half a degree: the sign of −00 counts.
    assert.deepEqual(place(list[0]), { raDeg: (19 + 59 / 60 + 28 / 3600) * 15, decDeg: -0.5 });
    const x = Math.log10(2);
    close(list[0].fluxJy(120e6), 100 * 10 ** (-0.8 * x - 0.1 * x * x));
    assert.deepEqual(splitLine('a,,[1,2],'), ['a', '', '[1,2]', '']);
  });

  it("of catalogues: GLEAM's columns and our own", () => {
    const [gleam] = parseCatalogue(
      'GLEAM,RAJ2000,DEJ2000,int_flux_fit_200,alpha\nJ0001-3000,0.25,-30,2,-0.8\n',
      'g.csv',
    );
    assert.equal(gleam.name, 'J0001-3000');
    close(gleam.fluxJy(100e6), 2 * 2 ** 0.8);
    const [own] = parseCatalogue(
      'name,ra_deg,dec_deg,flux_jy,frequency_hz,spectral_index,curvature\nx,1,2,5,50e6,-1,0.2\n',
      'o.csv',
    );
    close(own.fluxJy(500e6), 5 * 10 ** (-1 + 0.2));
    assert.throws(() => parseCatalogue('name,ra_deg,flux_jy\nx,1,2\n', 'b.csv'), /has no column for dec/);
    assert.throws(
      () => parseCatalogue('ra_deg,dec_deg,flux_jy\n1,2,?\n', 'b.csv'),
      /b\.csv, line 2: its flux is '\?'/,
    );
  });

  it('refuse what they cannot be sure of', () => {
    const wrong = (line: string) => () =>
      parseComponentList(`Format = Name, Type, Ra, Dec, I, SpectralIndex\n${line}\n`, 'm.txt');
    assert.throws(wrong('a,SHAPELET,1:0:0,1.0.0,1,'), /line 2: is a SHAPELET/);
    assert.throws(wrong('a,POINT,1:0:0,1.0.0,1,[-0.7]'), /no ReferenceFrequency/);
    assert.throws(wrong('a,POINT,noon,1.0.0,1,'), /its Ra is 'noon'/);
  });

  it('by name: calibrators as the literature has them at 150 MHz', () => {
    // Scaife & Heald (2012): 3C48 64.8, 3C147 66.7, 3C196 83.1, 3C286 27.5, 3C295 97.8, 3C380 77.4 Jy.
    const known = { '3C48': 64.8, '3C147': 66.7, '3C196': 83.1, '3C286': 27.5, '3C295': 97.8, '3C380': 77.4 };
    for (const [name, jy] of Object.entries(known)) {
      const [source] = findSources([name]);
      assert.ok(Math.abs(source.fluxJy(150e6) / jy - 1) < 0.12, `${name}: ${source.fluxJy(150e6)}`);
    }
    assert.ok(!findSources('all').some(({ name }) => name.startsWith('3C')));
  });
});
