import assert from 'node:assert/strict';
import { chmod, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { imageCPML, planeML } from '../../core/axes.js';
import { addSeconds, parseInstant, type Instant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { averageChannels, stationBeam, stokesI } from '../../image/index.js';
import { textOf, type Line } from '../../messages/index.js';
import { skyFrame } from '../../sky/frame.js';
import {
  centreOf,
  planSkyGeometry,
  writeSeries,
  type PictureOptions,
  type SkyImage,
} from '../../stages/index.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import { ImageCubes } from './cubes.js';

const PIXELS = 16;
const PLANE_BYTES = 4 * PIXELS ** 2;
const telescope = selectStations(await loadTelescope('lwasv'), 4);
const frequenciesHz = Float64Array.of(50e6);
const began = parseInstant('2026-06-21T04:00:00Z');

/** Every pixel is `value`. */
function skyAt(start: Instant, value = 1): SkyImage {
  const frame = skyFrame(telescope.site, start);
  const settings = { pixels: PIXELS, field: { kind: 'all-sky' }, kernelSize: 5 } as const;
  const plan = planSkyGeometry(telescope, frame, frequenciesHz, settings);
  const image = imageCPML(new Float64Array(4 * PIXELS ** 2).fill(value), 1, 4, PIXELS);
  return { image, plan, frame, start, durationS: 0.5 };
}

const about: PictureOptions = {
  channels: 'average',
  telescope,
  unit: 'counts',
  channelWidthHz: 25e3,
  history: ['made by a test'],
  method: '',
  sources: [],
};

/** Cubes in a new folder; `show` takes image `n` of a second each, of value `n` + 1. */
function cubesIn(
  folder: string,
  fields: { readonly picture?: boolean; readonly 'file-every'?: number } = {},
) {
  const path = join(folder, 'sky.fits');
  const notes: Line[] = [];
  const cubes = new ImageCubes(
    {
      fields: { images: path, picture: false, ...fields },
      path,
      spectra: { frequenciesHz, channelWidthHz: 25e3 },
      overwrite: false,
      about: () => about,
    },
    (line) => notes.push(line),
  );
  return {
    path,
    cubes,
    show: (n: number) => cubes.show(skyAt(addSeconds(began, n), n + 1), 'counts'),
    lines: () => notes.map(textOf),
  };
}

/** What astronomers' software sees: images by NAXIS3, the first value of each, and whether table TIMES follows. */
async function seen(path: string): Promise<{ readonly values: number[]; readonly times: boolean }> {
  const bytes = await readFile(path);
  assert.equal(bytes.length % 2880, 0, `${path} is of whole blocks`);
  const text = bytes.toString('latin1');
  const blocks = Math.ceil((/(?:.{80})*?END {77}/s.exec(text)?.[0].length ?? 0) / 2880);
  const count = Number(/NAXIS3 {2}= +(\d+)/.exec(text)?.[1]);
  const first = Array.from({ length: count }, (_, k) => bytes.readFloatBE(2880 * blocks + PLANE_BYTES * k));
  return { values: first, times: text.includes("EXTNAME = 'TIMES") };
}

/** Until the result is called, writes to files fail as on a full disk. */
async function fillDisk(t: TestContext): Promise<() => void> {
  const probe = await open('/dev/null');
  const prototype = Object.getPrototypeOf(probe) as typeof probe;
  await probe.close();
  const mocked = t.mock.method(prototype, 'write', () =>
    Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
  );
  return () => {
    mocked.mock.restore();
  };
}

/** Ten seconds later. */
function passTime(t: TestContext): void {
  const now = performance.now() + 11_000;
  t.mock.method(performance, 'now', () => now);
}

describe('cubes of a live run', () => {
  it('leave a leap second out, reported, and a new cube begins after it', async () => {
    const { path, cubes, lines } = cubesIn(temporaryFolder('cubes'));
    const before = parseInstant('2016-12-31T23:59:58Z');
    for (let n = 0; n < 10; n++) await cubes.show(skyAt(addSeconds(before, n / 2)), 'counts');
    await cubes.close();
    assert.deepEqual([cubes.drawn, cubes.paths.length], [8, 2]);
    assert.deepEqual(lines(), [
      `${path}: the leap second 2016-12-31T23:59:60Z is not written: dates of files cannot hold it`,
    ]);
  });

  it('are on disk after every image, without memory of earlier ones', async () => {
    const { path, show, cubes } = cubesIn(temporaryFolder('cubes'));
    await show(0);
    assert.deepEqual(await seen(path), { values: [1], times: false });
    await show(1);
    await show(2);
    assert.deepEqual(await seen(path), { values: [1, 2, 3], times: false });
    assert.match(await readFile(path, 'latin1'), /HISTORY not finished/);
    assert.equal(cubes.drawn, 3);
    await cubes.close();
    assert.deepEqual(await seen(path), { values: [1, 2, 3], times: true });
    assert.doesNotMatch(await readFile(path, 'latin1'), /not finished/);
  });

  it('are in the end what a series written at once is, with its pictures', async () => {
    const folder = temporaryFolder('cubes');
    const { path, show, cubes } = cubesIn(folder, { picture: true });
    for (let n = 0; n < 3; n++) await show(n);
    await cubes.close();
    const skies = [0, 1, 2].map((n) => skyAt(addSeconds(began, n), n + 1));
    const last = skies[2];
    const png = join(folder, 'whole.png');
    await writeSeries(
      { fits: join(folder, 'whole.fits'), png },
      {
        images: skies.map((sky) => ({
          plane: planeML(stokesI(averageChannels(sky.image, sky.plan), sky.plan, 0), PIXELS),
          start: sky.start,
          durationS: sky.durationS,
          frame: sky.frame,
          centre: centreOf(sky).position,
        })),
        plan: last.plan,
        everyS: 1,
        centreName: centreOf(last).name,
        beam: stationBeam(last.plan),
        frequencyHz: 50e6,
        bandHz: 25e3,
      },
      about,
    );
    assert.deepEqual(await readFile(path), await readFile(join(folder, 'whole.fits')));
    assert.deepEqual(await readFile(join(folder, 'sky.png')), await readFile(png));
  });

  it('on a full disk: reported at once, what is written is whole, what is left out is counted, and it resumes', async (t) => {
    const { path, show, cubes, lines } = cubesIn(temporaryFolder('cubes'));
    await show(0);
    await show(1);
    const empty = await fillDisk(t);
    await show(2);
    assert.equal(lines().length, 1, 'at once');
    assert.match(lines()[0], /sky.fits: .*is full.* holds 2 images; trying again in 10 s/);
    await show(3);
    empty();
    assert.deepEqual((await seen(path)).values, [1, 2]);
    passTime(t);
    await show(4);
    await cubes.close();
    assert.equal(lines().length, 1);
    assert.deepEqual([cubes.drawn, cubes.leftOut, cubes.paths.length], [3, 2, 2]);
    assert.deepEqual(await seen(cubes.paths[1]), { values: [5], times: true });
  });

  it('in a folder that may not be written for a while', async (t) => {
    const folder = join(temporaryFolder('cubes'), 'locked');
    await mkdir(folder);
    const { show, cubes, lines } = cubesIn(folder, { 'file-every': 2 });
    await show(0);
    await show(1);
    await chmod(join(folder, '..'), 0o755);
    await chmod(folder, 0o555);
    await asAnother(() => show(2));
    assert.match(lines().join('\n'), /may not be written; trying again in 10 s/);
    await chmod(folder, 0o777);
    passTime(t);
    await show(3);
    await cubes.close();
    assert.deepEqual([cubes.drawn, cubes.leftOut, cubes.paths.length], [3, 1, 2]);
  });

  it('that are removed: what was in them counts as left out, and a new one begins', async () => {
    const folder = temporaryFolder('cubes');
    const { path, show, cubes, lines } = cubesIn(folder);
    await show(0);
    await rm(path);
    await show(1);
    await cubes.close();
    assert.match(lines().join('\n'), /was removed while it was written.*1 image lost/);
    assert.deepEqual([cubes.drawn, cubes.leftOut, (await readdir(folder)).length], [1, 1, 1]);
  });
});

/** The superuser may write everywhere. */
async function asAnother(work: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
