/** Missing data in wide images and series: left out and counted, blank, reported by hand, or refused. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openReference } from '../../backend/reference.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { altitudeDeg, skyFrame } from '../../sky/frame.js';
import { fixedCentre } from '../../sky/phase-centre.js';
import { writeSeries } from '../../stages/index.js';
import { imageWide } from './image.js';
import { writeWide } from './products.js';
import { imageWideSeries } from './series.js';
import type { WideSettings } from './settings.js';
import { arrayOf, pointSeen, type Seen } from './testing.js';

const PIXELS = 32;
const MIDDLE = PIXELS * (PIXELS / 2) + PIXELS / 2;
const telescope = arrayOf(8, 30);
const frequenciesHz = Float64Array.of(100e6);
const start = parseInstant('2022-06-21T20:00:00Z');
const at = skyFrame(telescope.site, start).zenith;
const setup = { backend: openReference(), telescope, frequenciesHz, channelWidthHz: 1e5, polarisations: 2 } as const; // prettier-ignore
const seenAt = (laterS: number, weight?: Seen['weight'], durationS = 10): Integration =>
  pointSeen({
    telescope,
    frequenciesHz,
    start: addSeconds(start, laterS),
    durationS,
    at,
    fluxJy: 10,
    ...(weight && { weight }),
  });
const settings = (more: Partial<WideSettings> = {}): WideSettings => ({
  centre: fixedCentre('here', at),
  field: { pixels: PIXELS, cellDeg: 0.5 },
  stokes: 'I',
  weighting: { kind: 'natural' },
  channels: 'together',
  ...more,
});
const files = { telescope, method: 'a test', unit: 'counts', history: [], sources: [] };

describe('a station without one of its products', () => {
  it('is in the planes of the others, however far its baselines reach beyond those of the first', async () => {
    // Station 7 stands on a tower: without it the first product, XX, reaches less far in w.
    const tower = telescope.stations.map((one, s) => ({ ...one, upM: s === 7 ? 200 : 0 }));
    const wide = { ...telescope, stations: tower };
    const many = Float64Array.from({ length: 256 }, (_, c) => 100e6 + 1e3 * c);
    const one = pointSeen({
      ...{ telescope: wide, frequenciesHz: many, start, at, fluxJy: 10 },
      weight: (_, i, j, pi, pj) => ((i === 7 || j === 7) && pi + pj === 0 ? 0 : 1),
    });
    // So many pixels that visibilities are gridded, on planes of w, rather than summed by the formula.
    const pixels = 128;
    const field = { pixels, cellDeg: 0.12 };
    const sky = await imageWide(
      () => [one],
      { ...setup, telescope: wide, frequenciesHz: many },
      settings({ stokes: 'IQUV', field }),
    );
    assert.equal(sky.method, 'gridded');
    assert.deepEqual(sky.products.slice(0, 2), ['XX', 'YY']);
    const middle = (pixels * (pixels + 1)) / 2;
    for (const p of [0, 1])
      assert.ok(Math.abs(sky.image[p * pixels ** 2 + middle] - 10) < 0.01, `plane ${p}`);
  });
});

describe('an image of four products', () => {
  it('reads its data once', async () => {
    let passes = 0;
    const read = (): Integration[] => {
      passes++;
      return [seenAt(0), seenAt(10)];
    };
    const sky = await imageWide(read, setup, settings({ stokes: 'IQUV' }));
    assert.deepEqual([passes, sky.products.length], [1, 4]);
  });
});

describe('baselines that are too long for the pixels', () => {
  const { stations } = telescope;
  /** Baselines on the uv grid are at most 1/(2 · cell) long, along each axis. */
  const within = (cellDeg: number): number =>
    stations
      .flatMap((a, i) => stations.slice(0, i).map((b) => [a.eastM - b.eastM, a.northM - b.northM]))
      .filter(([u, v]) => {
        const most = (180 / Math.PI / cellDeg / 2) * (299_792_458 / 100e6);
        return Math.abs(u) < most && Math.abs(v) < most;
      }).length;

  it('are left out of uniform weights, and counted', async () => {
    const cellDeg = 2;
    const pairs = (stations.length * (stations.length - 1)) / 2;
    const wanted = pairs - within(cellDeg);
    assert.ok(wanted > 0 && wanted < pairs, String(wanted));
    for (const [kind, left] of [
      ['uniform', wanted],
      ['natural', 0],
    ] as const) {
      // prettier-ignore
      const sky = await imageWide(
        () => [seenAt(0)],
        setup,
        settings({ weighting: { kind }, field: { pixels: PIXELS, cellDeg } }),
      );
      assert.deepEqual([sky.beyond.visibilities, sky.visibilities], [left, pairs - left]);
    }
  });

  it('are no image where there is no other', async () => {
    const coarse = settings({ weighting: { kind: 'uniform' }, field: { pixels: 16, cellDeg: 7 } });
    const far = telescope.stations.map((one, s) => ({ ...one, eastM: 400 * s, northM: 300 * s * s }));
    const wide = { ...telescope, stations: far };
    const one = pointSeen({ telescope: wide, frequenciesHz, start, at, fluxJy: 10 });
    const made = { ...setup, telescope: wide };
    await assert.rejects(
      imageWide(() => [one], made, coarse),
      /every baseline is too long .*; take a products\.images\.cell of 0\.\d+ degrees/,
    );
    await assert.rejects(
      imageWideSeries(() => [one], made, coarse, 10),
      /every baseline is too long/,
    );
  });
});

describe('a series with an interval that is lost', () => {
  const folder = temporaryFolder('series');
  const none: Seen['weight'] = () => 0;
  const lone: Seen['weight'] = (_c, _i, _j, pi, pj) => (pi + pj === 2 ? 0 : 1);

  it('has a blank plane for it, so that planes are as far apart as the header states', async () => {
    // Flagged from 20 s on, and no data from 30 s to 50 s.
    const integrations = [seenAt(0), seenAt(10, lone), seenAt(20, none), seenAt(50)];
    const shown: number[] = [];
    const series = await imageWideSeries(
      () => integrations,
      setup,
      settings(),
      10,
      ({ plane }, { beam }) => {
        assert.ok(beam, 'what the header states is known with the first image');
        shown.push(Math.round(plane[MIDDLE]));
        return Promise.resolve();
      },
    );
    assert.deepEqual(shown, [10, 10, NaN, NaN, NaN, 10]);
    assert.deepEqual(
      series.images.map(({ plane }) => Math.round(plane[MIDDLE])),
      [10, 10, NaN, NaN, NaN, 10],
    );
    assert.deepEqual(series.lost, [2, 3, 4]);
    assert.equal((series.hands?.one ?? 0) * 2, series.hands?.both);
    assert.ok(series.smearing);
    const fits = join(folder, 's.fits');
    await writeSeries({ fits, png: join(folder, 's.png') }, series, files);
    const header = (await readFile(fits)).toString('latin1', 0, 5760);
    assert.match(header, /NAXIS3 {2}= +6 /);
    assert.match(header, /CDELT3 {2}= +10\.0 /);
    assert.match(header, /EXPTIME = +30\.0 /);
    assert.match(header, /TELAPSE = +60\.0 /);
  });

  it('is refused for intervals shorter than an integration', async () => {
    await assert.rejects(
      imageWideSeries(() => [seenAt(0), seenAt(10)], setup, settings(), 5),
      /integrations of 10\.0 s are longer than 5\.0 s; give products\.images\.every: 10\.0 s or more/,
    );
  });
});

describe('one hand alone', () => {
  const folder = temporaryFolder('hand');

  it('is named, where the other is lost all the time', async () => {
    for (const [hand, product, code] of [
      [0, 'XX', -5],
      [1, 'YY', -6],
    ] as const) {
      // prettier-ignore
      const weight: Seen['weight'] = (_c, _i, _j, pi, pj) => (pi === pj && pi !== hand ? 0 : 1);
      const sky = await imageWide(() => [seenAt(0, weight)], setup, settings());
      assert.deepEqual(sky.products, [product]);
      assert.equal(Math.round(sky.image[MIDDLE]), 10);
      const fits = join(folder, `${product}.fits`);
      await writeWide({ fits }, sky, files);
      assert.match(
        (await readFile(fits)).toString('latin1', 0, 5760),
        new RegExp(`CRVAL4 {2}= +${code}\\.0 `),
      );
    }
    // I from X of some pairs and Y of others, the best available.
    const either: Seen['weight'] = (_c, i, j, pi, pj) => (pi === pj && pi === (i + j) % 2 ? 0 : 1);
    assert.deepEqual((await imageWide(() => [seenAt(0, either)], setup, settings())).products, ['I']);
  });
});

describe('a centre that is up in one scan of three', () => {
  it('is imaged by it, and pixels are blank that no scan saw', async () => {
    const upAt = (hours: number): boolean =>
      altitudeDeg(skyFrame(telescope.site, addSeconds(start, 3600 * hours)).directionEnu(at)) > 0;
    // Below the horizon in the first scan, in the last, and midway between them.
    assert.deepEqual([-9, 0, 12, 33].map(upAt), [false, true, false, false]);
    const scans = [-9, 0, 33].map((h) => seenAt(3600 * h));
    const sky = await imageWide(() => scans, setup, settings());
    assert.ok(Number.isFinite(sky.image[MIDDLE]));
    await assert.rejects(
      imageWide(() => [seenAt(-9 * 3600), seenAt(33 * 3600)], setup, settings()),
      /below the horizon at the best/,
    );
  });
});
