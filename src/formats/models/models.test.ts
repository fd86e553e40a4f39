/** Sky models in FITS and HDF5, in the layout of GLEAM's catalogue and of pyradiosky's files; both made by hand. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { parseSources } from '../../sky/chosen-sources.js';
import type { Source } from '../../sky/source.js';
import { headerBytes, integerCard, logicalCard } from '../fits/fits.js';
import { tableBytes } from '../fits/table.js';
import { reals, text, texts } from '../hdf5/items.js';
import { createHdf5, type ItemPlan } from '../hdf5/write.js';
import { bytesOf } from '../io/interleave.js';
import { openOutput } from '../io/output.js';
import { prepareSkyModels } from './prepare.js';

const folder = temporaryFolder('sky-models');
const close = (found: number, wanted: number): void => {
  assert.ok(Math.abs(found - wanted) < 1e-6 * Math.abs(wanted), `${found} where ${wanted} belongs`);
};
const read = (path: string): readonly Source[] => parseSources(path)(undefined as never);
const placeOf = (source: Source): unknown => source.position(undefined as never);

describe('sky models in binary files', () => {
  it('of GLEAM: a FITS table, with sources that no power law fitted', async () => {
    const path = join(folder, 'GLEAM.fits');
    const column = (name: string, form: string, rows: readonly (string | readonly number[])[]) => ({
      name,
      form,
      rows,
    });
    const table = tableBytes(
      'GLEAM',
      [
        column('Name', '20A', ['GLEAM J000001-300000', 'GLEAM J000002-310000']),
        column('ra_str', '8A', ['00:00:01', '00:00:02']),
        column('RAJ2000', '1D', [[0.0042], [0.0083]]),
        column('DEJ2000', '1D', [[-30], [-31]]),
        column('int_flux_wide', '1D', [[2.5], [0.5]]),
        column('alpha', '1E', [[-0.75], [Number.NaN]]),
        column('int_flux_fit_200', '1E', [[2], [Number.NaN]]),
      ],
      [],
    );
    const primary = headerBytes([
      logicalCard('SIMPLE', true),
      integerCard('BITPIX', 8),
      integerCard('NAXIS', 0),
    ]);
    writeFileSync(path, Buffer.concat([primary, table]));
    const notes = await prepareSkyModels(`Sun,${path}`);
    assert.equal(notes.length, 1);
    assert.match(notes[0], /GLEAM\.fits: 1 of its sources have no fitted spectrum/);
    const [one, two] = read(path);
    assert.equal(one.name, 'GLEAM J000001-300000');
    assert.deepEqual(placeOf(one), { raDeg: 0.0042, decDeg: -30 });
    close(one.fluxJy(100e6), 2 * 2 ** 0.75);
    close(two.fluxJy(100e6), 0.5 * 2 ** 0.8);
  });

  /** stokes : [4][frequency][component] */
  async function skyh5(
    name: string,
    header: Record<string, ItemPlan>,
    stokes: readonly number[],
    frequencies: number,
  ): Promise<string> {
    const path = join(folder, name);
    const output = await openOutput(path);
    const file = await createHdf5(output, {
      kind: 'group',
      items: {
        Header: {
          kind: 'group',
          items: { component_type: text('point'), name: texts(['a', 'b']), ...header },
        },
        Data: {
          kind: 'group',
          items: {
            stokes: {
              kind: 'fixed',
              type: 'float64',
              dims: [4, frequencies, 2],
              bytes: bytesOf(Float64Array.from(stokes)),
            },
          },
        },
      },
    });
    await file.commit();
    await output.finish();
    return path;
  }
  const skycoord: ItemPlan = {
    kind: 'group',
    items: { frame: text('icrs'), ra: reals([10, 20]), dec: reals([-30, 40]) },
  };

  it('of pyradiosky: spectral indices, polarised, and spectra of several frequencies', async () => {
    const path = await skyh5(
      'index.skyh5',
      {
        skycoord,
        spectral_type: text('spectral_index'),
        reference_frequency: reals([150e6, 75e6]),
        spectral_index: reals([-0.7, 0]),
      },
      [4, 2, 0.4, 0, 0, 0, 0, -0.2],
      1,
    );
    assert.deepEqual(await prepareSkyModels(path), []);
    const [one, two] = read(path);
    assert.deepEqual(
      [one.name, placeOf(one), placeOf(two)],
      ['a', { raDeg: 10, decDeg: -30 }, { raDeg: 20, decDeg: 40 }],
    );
    close(one.fluxJy(300e6), 4 * 2 ** -0.7);
    close(two.fluxJy(300e6), 2);
    assert.deepEqual(
      [one.stokes, two.stokes],
      [
        { q: 0.1, u: 0, v: 0 },
        { q: 0, u: 0, v: -0.1 },
      ],
    );
    const full = await skyh5(
      'full.skyh5',
      {
        frame: text('icrs'),
        lon: reals([1, 2]),
        lat: reals([3, 4]),
        spectral_type: text('full'),
        freq_array: reals([100e6, 200e6]),
      },
      [8, 1, 4, 1, ...new Array<number>(12).fill(0)],
      2,
    );
    await prepareSkyModels(full);
    close(read(full)[0].fluxJy(160e6), 5);
    close(read(full)[1].fluxJy(160e6), 1);
  });

  it('of pyradiosky: what is not read is refused by name', async () => {
    const flat = { skycoord, spectral_type: text('flat') };
    const ones = [1, 1, 0, 0, 0, 0, 0, 0];
    for (const [name, header, words] of [
      ['h.skyh5', { ...flat, component_type: text('healpix') }, /holds components of type healpix/],
      ['s.skyh5', { ...flat, spectral_type: text('wavy') }, /its spectral_type is wavy/],
      [
        'g.skyh5',
        { ...flat, skycoord: { kind: 'group', items: { frame: text('galactic') } } },
        /gives its places in galactic/,
      ],
    ] as const)
      await assert.rejects(prepareSkyModels(await skyh5(name, header, ones, 1)), words);
  });
});
