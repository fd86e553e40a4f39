import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { parseSources } from '../chosen-sources.js';
import type { Source } from '../source.js';
import { findSources } from '../sources.js';
import { brightestOf } from './brightest.js';
import * as catalogue from './catalogue.js';
import * as lists from './component-list.js';
import { parseHyperdrive } from './hyperdrive.js';
import { readSkyModel, readTextModel } from './read.js';

const { splitLine } = lists;
const parseCatalogue = (text: string, path: string): Source[] =>
  [...catalogue.parseCatalogue(text, path)].map(({ source }) => source);
const parseComponentList = (text: string, path: string): Source[] =>
  [...lists.parseComponentList(text, path)].map(({ source }) => source);

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
    // South of the equator by half a degree: the sign of −00 must be kept.
    assert.deepEqual(place(list[0]), { raDeg: (19 + 59 / 60 + 28 / 3600) * 15, decDeg: -0.5 });
    const x = Math.log10(2);
    close(list[0].fluxJy(120e6), 100 * 10 ** (-0.8 * x - 0.1 * x * x));
    assert.deepEqual(splitLine('a,,[1,2],'), ['a', '', '[1,2]', '']);
  });

  it('of BBS: right ascensions below 0 are 24 h later', () => {
    const of = (ra: string): number => {
      const [sun] = parseComponentList(
        `# (Name, Type, Patch, Ra, Dec, I) = format\nsun, POINT, , ${ra}, +02.00.00, 100\n`,
        'sky.bbs',
      );
      return (place(sun) as { readonly raDeg: number }).raDeg;
    };
    close(of('-09:48:39.26'), (24 - (9 + 48 / 60 + 39.26 / 3600)) * 15);
    // Less than an hour below: the sign of −0 must be kept.
    close(of('-0:30:00'), 352.5);
    close(of('-147.5deg'), 212.5);
    close(of('+09:48:00'), 147);
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

  it('of DP3: degrees of three digits', () => {
    const [one, two] = parseComponentList(
      'Format = Name, Type, Ra, Dec, I\na, POINT, 00:00:00, +031.39.42.012, 1\nb, POINT, 00:00:00, -005.30.00, 1\n',
      'dp3.skymodel',
    );
    close((place(one) as { decDeg: number }).decDeg, 31 + 39 / 60 + 42.012 / 3600);
    assert.deepEqual(place(two), { raDeg: 0, decDeg: -5.5 });
    assert.throws(
      () => parseComponentList('Format = Name, Type, Ra, Dec, I\na, POINT, 0:0:0, +131.0.0, 1\n', 'd.txt'),
      /its Dec is '\+131\.0\.0'/,
    );
  });

  it('of hyperdrive: points and Gaussians, power laws, curved ones and lists', () => {
    // A list in the format of hyperdrive, made by hand.
    const text = `
one:
- ra: 10.0
  dec: -27.0
  comp_type: point
  flux_type:
    list:
    - freq: 200e6
      i: 5.0
    - freq: 100e6
      i: 10.0
two:
- ra: 0.5
  dec: -35.0
  comp_type:
    gaussian: { maj: 20.0, min: 10.0, pa: 75.0 }
  flux_type:
    power_law:
      si: -0.8
      fd: { freq: 170000000.0, i: 5.0, q: 1.0, u: 2.0, v: 3.0 }
- ra: 155.0
  dec: -10.0
  comp_type: point
  flux_type:
    curved_power_law:
      si: -0.6
      fd: { freq: 150000000.0, i: 50.0 }
      q: 0.2
`;
    const found = [...parseHyperdrive(text, 'a.yaml')].map(({ source }) => source);
    assert.deepEqual(
      found.map(({ name }) => name),
      ['one', 'two 1', 'two 2'],
    );
    assert.deepEqual(place(found[0]), { raDeg: 10, decDeg: -27 });
    // An index of −1 between the two, and beyond them.
    close(found[0].fluxJy(125e6), 8);
    close(found[0].fluxJy(400e6), 2.5);
    assert.deepEqual(found[1].shape, { majorDeg: 20 / 3600, minorDeg: 10 / 3600, positionAngleDeg: 75 });
    assert.deepEqual(found[1].stokes, { q: 0.2, u: 0.4, v: 0.6 });
    close(found[1].fluxJy(340e6), 5 * 2 ** -0.8);
    close(found[2].fluxJy(300e6), 50 * 2 ** -0.6 * Math.exp(0.2 * Math.log(2) ** 2));
    const wrong = (from: string, to: string) => () => [...parseHyperdrive(text.replace(from, to), 'a.yaml')];
    assert.throws(wrong('gaussian:', 'shapelet:'), /two, component 1: its comp_type is shapelet/);
    for (const text of ['one: &a\n  - *a\n', `one: ${'['.repeat(5000)}${']'.repeat(5000)}`])
      assert.throws(() => [...parseHyperdrive(text, 'a.yaml')], /^CorellaError: a\.yaml: is not valid YAML/);
    assert.throws(wrong('i: 10.0', 'i: ten'), /one, component 1: its i is "ten"/);
    assert.throws(wrong('i: 10.0', 'i: 10.0\n      q: 1.0'), /Q is another fraction of I/);
    assert.throws(wrong('dec: -27.0', 'dec: -127.0'), /its dec is -127/);
  });

  it('of GLEAM without a fit: the wide band and its median index, reported', () => {
    const notes: string[] = [];
    const text = 'Name,RAJ2000,DEJ2000,int_flux_wide,alpha,int_flux_fit_200\na,1,2,3,-1,4\nb,1,2,3,,\n';
    const [one, two] = [...catalogue.parseCatalogue(text, 'g.csv', notes)];
    close(one.source.fluxJy(100e6), 8);
    close(two.source.fluxJy(100e6), 3 * 2 ** 0.8);
    assert.match(
      notes.join(),
      /^1 of its sources have no fitted spectrum: int_flux_wide and an index of -0\.8/,
    );
  });

  it('by file: what is no file is a file error, and lists of others are refused by name', () => {
    const folder = temporaryFolder('models');
    const refused = (name: string, text: string, words: RegExp): void => {
      writeFileSync(join(folder, name), text);
      assert.throws(() => readSkyModel(join(folder, name)), words);
    };
    for (const name of ['nothing.yaml', 'nothing.skyh5', './nothing', 'gone.fits'])
      assert.throws(
        () => parseSources(name),
        /nothing|gone.*: the sky model cannot be read; check the path/,
        name,
      );
    assert.throws(() => parseSources('unknown-source'), /'unknown-source' is unknown/);
    refused(
      'rts.txt',
      'SOURCE J1 12.5 -27.2\nFREQ 150e+6 1.0 0 0 0\nENDSOURCE\n',
      /is a source list of the RTS.*srclist-convert/,
    );
    refused(
      'woden.txt',
      'SOURCE a P 1 G 0 S 0 0\nCOMPONENT POINT 4.0 -27.0\nLINEAR 1.8e+08 10 0 0 0 -0.8\nENDCOMPONENT\n',
      /is a source list of WODEN/,
    );
    refused('v.xml', '<?xml version="1.0"?>\n<VOTABLE version="1.3">\n', /is a VOTable.*CSV or FITS/);
  });

  it('of many components: the brightest are kept, in bounded memory, and reported', () => {
    const brightest = brightestOf(2);
    const [source] = findSources(['Cyg A']);
    for (const fluxJy of [1, 5, 2, 3, -4, 1])
      brightest.add({ source: { ...source, name: String(fluxJy) }, fluxJy });
    const { sources, notes } = brightest.finish();
    assert.deepEqual(
      sources.map(({ name }) => name),
      ['5', '-4'],
    );
    assert.match(notes.join(), /^the 2 brightest of its 6 components are used: 56\.25 % of its flux/);
    const path = join(temporaryFolder('many'), 'many.txt');
    const lines = Array.from({ length: 2500 }, (_, k) => `s${k}, POINT, 00:00:00, +00.00.00, 1`);
    writeFileSync(path, ['Format = Name, Type, Ra, Dec, I', ...lines].join('\n'));
    const seen: number[] = [];
    const model = readTextModel(path, ({ done }) => seen.push(done));
    assert.deepEqual([model.sources.length, model.notes.length, seen], [2500, 0, [1000, 2000]]);
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
