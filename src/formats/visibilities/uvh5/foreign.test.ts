import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { real, reals, text, texts } from '../../hdf5/items.js';
import type { GroupPlan } from '../../hdf5/write.js';
import { openFile } from '../../registry.js';
import { openUvh5 } from './read.js';
import { altered, readAll, telescope, together } from './testing.js';

describe('UVH5 that others have made or changed', () => {
  it('reads old files: no version, an axis of spectral windows, a phase type', async () => {
    const path = await altered((items) => {
      for (const name of ['version', 'phase_center_catalog', 'phase_center_id_array', 'extra_keywords']) {
        Reflect.deleteProperty(items, name);
      }
      items.phase_type = { kind: 'fixed', type: { textBytes: 5 }, dims: [], bytes: Buffer.from('drift') };
      items['Data/visdata'] = { ...items['Data/visdata'], dims: [12, 1, 2, 4] } as GroupPlan['items'][string];
      items.freq_array = reals([159e6, 160e6], [1, 2]);
    });
    const { file, all } = await readAll(path);
    assert.equal(file.details.version, '0.x');
    assert.equal(all.length, 2);
    assert.equal(all[0].counts[0], 5);
    // The antennas keep their positions through geocentric coordinates.
    together.stations.forEach(({ name, eastM, northM, upM }, s) => {
      const there = file.telescope.stations[s];
      assert.equal(there.name, name);
      assert.ok(Math.hypot(eastM - there.eastM, northM - there.northM, upM - there.upM) < 1e-6, name);
    });
  });

  it('believes the arrays where someone has moved or renamed the antennas of a file of ours', async () => {
    const untouched = await readAll(await altered(() => undefined));
    assert.equal(untouched.file.telescope.title, telescope.title);
    const shifted = await altered((items) => {
      const { bytes } = items.antenna_positions as { bytes: Uint8Array };
      const places = new Float64Array(bytes.slice().buffer);
      places[4] += 2;
      // Plausible for antennas two metres apart.
      items.uvw_array = reals(new Array<number>(36).fill(0.5), [12, 3]);
      items.antenna_positions = reals([...places], [3, 3]);
    });
    const [, two] = (await readAll(shifted)).file.telescope.stations;
    assert.equal(two.name, 'two');
    assert.ok(Math.abs(Math.hypot(two.eastM - 0.012, two.northM + 0.003, two.upM - 0.0005) - 2) < 1e-6);
    const renamed = await altered((items) => {
      items.antenna_names = texts(['one', 'three', 'two']);
    });
    assert.deepEqual(
      (await readAll(renamed)).file.telescope.stations.map(({ name }) => name),
      ['one', 'three', 'two'],
    );
  });

  it('takes unset sample counts as one each', async () => {
    const path = await altered((items) => {
      items['Data/nsamples'] = {
        ...items['Data/nsamples'],
        bytes: new Uint8Array(12 * 8 * 4),
      } as GroupPlan['items'][string];
    });
    assert.equal((await readAll(path)).all[0].counts[0], 1);
    // If everything is flagged there is no assumption.
    const empty = await altered((items) => {
      items['Data/nsamples'] = {
        ...items['Data/nsamples'],
        bytes: new Uint8Array(12 * 8 * 4),
      } as GroupPlan['items'][string];
      items['Data/flags'] = {
        ...items['Data/flags'],
        bytes: new Uint8Array(12 * 8).fill(1),
      } as GroupPlan['items'][string];
    });
    assert.equal((await readAll(empty)).file.assumed, undefined);
  });

  it('believes sample counts of which the first time has none', async () => {
    const counts = Float32Array.from({ length: 12 * 8 }, (_, at) => (at < 6 * 8 ? 0 : 5));
    const path = await altered((items) => {
      items['Data/nsamples'] = {
        ...items['Data/nsamples'],
        bytes: new Uint8Array(counts.buffer),
      } as GroupPlan['items'][string];
    });
    const { file, all } = await readAll(path);
    assert.deepEqual(
      all.map((one) => one.counts[0]),
      [0, 5],
    );
    assert.equal(file.assumed, undefined);
  });

  it('exchanges the polarisations of a file whose X points north', async () => {
    const east = (await readAll(await altered(() => undefined))).all[0];
    const path = await altered((items) => {
      items.x_orientation = { kind: 'fixed', type: { textBytes: 5 }, dims: [], bytes: Buffer.from('north') };
    });
    const { file, all } = await readAll(path);
    const [north] = all;
    assert.match(String(file.assumed), /X points north: X and Y are exchanged/);
    assert.deepEqual([...north.visibilities.subarray(0, 2)], [...east.visibilities.subarray(6, 8)]);
  });

  it('knows where X points by the angles of the feeds, where nothing else states it', async () => {
    const east = (await readAll(await altered(() => undefined))).all[0];
    for (const [xRad, yRad, orientation, place] of [
      [Math.PI / 2, 0, 'east', 0],
      [0, Math.PI / 2, 'east', 6],
      [0, 0, 'unknown', 0],
    ] as const) {
      const path = await altered((items) => {
        delete items.x_orientation;
        items.feed_array = {
          kind: 'fixed',
          type: { textBytes: 1 },
          dims: [3, 2],
          bytes: Buffer.from('xyxyxy'),
        };
        items.feed_angle = {
          kind: 'fixed',
          type: 'float64',
          dims: [3, 2],
          bytes: new Uint8Array(Float64Array.of(xRad, yRad, xRad, yRad, xRad, yRad).buffer),
        };
      });
      const { file, all } = await readAll(path);
      assert.equal(file.header.xOrientation, orientation);
      assert.equal(String(file.assumed).includes('exchanged'), place > 0);
      assert.deepEqual(
        [...all[0].visibilities.subarray(0, 2)],
        [...east.visibilities.subarray(place, place + 2)],
      );
    }
  });

  it('takes integrations of different lengths, close together in time', async () => {
    // The second time is 2 s after the first and lasts 10 s: they overlap, but at each time all baselines agree.
    const path = await altered((items) => {
      items.integration_time = reals(Array.from({ length: 12 }, (_, row) => (row < 6 ? 2 : 10)));
    });
    const { all } = await readAll(path);
    assert.deepEqual(
      all.map(({ durationS }) => durationS),
      [2, 10],
    );
  });

  it('leaves right and left alone in a file whose X points north', async () => {
    const circular = (items: Parameters<Parameters<typeof altered>[0]>[0]): void => {
      items.polarization_array = reals([-1, -2, -3, -4]);
    };
    const { file, all } = await readAll(await altered(circular));
    assert.equal(file.header.feeds, 'circular');
    const north = await readAll(
      await altered((items) => {
        circular(items);
        items.x_orientation = {
          kind: 'fixed',
          type: { textBytes: 5 },
          dims: [],
          bytes: Buffer.from('north'),
        };
      }),
    );
    assert.deepEqual(north.all[0].visibilities, all[0].visibilities);
  });

  it('refuses baseline-dependent averaging and what contradicts itself', async () => {
    const refuses = async (change: Parameters<typeof altered>[0], words: RegExp): Promise<void> => {
      await assert.rejects(openUvh5(await altered(change)), { name: 'CorellaError', message: words });
    };
    // The fifth row lasts forty seconds and has its own time: one time has five pairs, another six.
    const uneven: Parameters<typeof altered>[0] = (items) => {
      items.integration_time = reals(Array.from({ length: 12 }, (_, row) => (row === 4 ? 40 : 2)));
      items.time_array = reals(Array.from({ length: 12 }, (_, row) => 2_459_560 + (row < 5 ? 0 : 1e-4)));
    };
    await refuses((items) => {
      uneven(items);
      items.blt_order = { kind: 'fixed', type: { textBytes: 3 }, dims: [], bytes: Buffer.from('bda') };
    }, /baseline-dependent averaging/);
    const opened = await openUvh5(await altered(uneven));
    assert.match(String(opened.assumed), /pairs overlap with times that they are missing at/);
    await opened.close();
    await refuses((items) => {
      items.ant_2_array = reals(new Array<number>(12).fill(9));
    }, /antenna 9 is in the data but not in antenna_numbers/);
    await refuses((items) => {
      items.time_array = reals([1, 2, 3]);
    }, /time_array holds 3 values where 12 belong/);
    await refuses((items) => {
      Reflect.deleteProperty(items, 'Data/flags');
    }, /has no Data\/flags/);
    await refuses((items) => {
      items.polarization_array = reals([1, 2, 3, 4]);
    }, /polarisation 1, no product/);
    await refuses((items) => {
      items.polarization_array = reals([-5, -6, -5, -6]);
    }, /lists XX twice among its products/);
    await refuses((items) => {
      items.latitude = reals([Number.NaN]);
    }, /latitude holds NaN/);
    await assert.rejects(
      openFile(
        await altered((items) => {
          items.antenna_positions = reals([1e12, 0, 0, 10, 0, 0, 0, 10, 0], [3, 3]);
        }),
      ),
      /its antenna one is 1\d*(?:\.\d+)? m from the site/,
    );
    const widths = await openUvh5(
      await altered((items) => {
        items.channel_width = reals([1e6, Number.NaN]);
      }),
    );
    assert.match(String(widths.assumed), /channel_width is NaN Hz at place 1: that of the first is used/);
    await widths.close();
  });

  it('refuses phase centres of other frames, whose degrees are another place', async () => {
    const centred = (frame: string, epoch: number): Promise<string> =>
      altered((items) => {
        const own = (items.phase_center_catalog as GroupPlan).items[0] as GroupPlan;
        const changed = { ...own.items, cat_frame: text(frame), cat_epoch: real(epoch) };
        items.phase_center_catalog = { kind: 'group', items: { 0: { kind: 'group', items: changed } } };
      });
    for (const [frame, epoch] of [
      ['fk4', 1950],
      ['fk5', 1975],
      ['galactic', 2000],
    ] as const)
      // prettier-ignore
      await assert.rejects(openUvh5(await centred(frame, epoch)), {
        name: 'CorellaError',
        message: new RegExp(`gives its phase centre in ${frame} of ${epoch}; phase it to a place in ICRS`),
      });
    for (const frame of ['icrs', 'fk5']) await (await openUvh5(await centred(frame, 2000))).close();
  });

  it('knows the frames of files before the catalogue, and refuses what is elsewhere', async () => {
    const old = (frame: string | undefined, epoch = 2000): Promise<string> =>
      altered((items) => {
        for (const item of ['phase_center_catalog', 'phase_center_id_array', 'phase_center_frame'])
          Reflect.deleteProperty(items, item);
        items.phase_type = text('phased');
        items.phase_center_ra = real(1);
        items.phase_center_dec = real(-0.5);
        items.phase_center_epoch = real(epoch);
        if (frame !== undefined) items.phase_center_frame = text(frame);
      });
    for (const frame of [undefined, 'icrs', 'fk5', 'gcrs']) {
      const { file, all } = await readAll(await old(frame));
      assert.ok(Math.abs(file.header.phaseCentre.raDeg - 180 / Math.PI) < 1e-9);
      // Apparent axes are 20″ from ICRS: such uvw do not belong to this position.
      assert.equal(all[0].passThrough?.stopped === undefined, frame === 'gcrs', frame);
    }
    for (const [frame, epoch] of [
      ['fk5', 1975],
      ['fk4', 1950],
      ['altaz', 2000],
      ['unprojected', 2000],
      ['galactic', 2000],
    ] as const)
      // prettier-ignore
      await assert.rejects(openUvh5(await old(frame, epoch)), {
        name: 'CorellaError',
        message: new RegExp(`gives its phase centre in ${frame} of ${epoch}; phase it to a place in ICRS`),
      });
  });

  it('reads one of several phase centres, by name or number, or lists all', async () => {
    const path = await altered((items) => {
      const own = (items.phase_center_catalog as GroupPlan).items[0] as GroupPlan;
      const other = { ...own.items, cat_name: text('other'), cat_lon: real(1), cat_lat: real(0.5) };
      items.phase_center_catalog = {
        kind: 'group',
        items: { 0: own, 4: { kind: 'group', items: other } },
      };
      items.phase_center_id_array = reals(Array.from({ length: 12 }, (_, row) => (row < 6 ? 0 : 4)));
    });
    const both = await openUvh5(path);
    assert.equal(both.targets, 'a place (0), other (4)');
    assert.match(
      String(both.assumed),
      /several targets, a place \(0\), other \(4\), and all of them are read/,
    );
    await both.close();
    const middles = async (target: string): Promise<readonly [number, string, string | undefined]> => {
      const file = await openUvh5(path, { target });
      const starts: number[] = [];
      for await (const one of file.integrations()) starts.push(one.start.unixSeconds);
      await file.close();
      assert.equal(starts.length, file.integrationCount);
      return [starts.length, file.header.object, file.targets];
    };
    assert.deepEqual(await middles('other'), [1, 'other', undefined]);
    assert.deepEqual(await middles('4'), [1, 'other', undefined]);
    assert.deepEqual(await middles('A Place'), [1, 'a place', undefined]);
    assert.deepEqual(await middles('all'), [2, 'a place', undefined]);
    await assert.rejects(
      openUvh5(path, { target: '1' }),
      /holds no target '1'; it holds a place \(0\), other/,
    );
    await assert.rejects(openUvh5(await altered(() => undefined), { target: 'x' }), /no target 'x'/);
  });
});
