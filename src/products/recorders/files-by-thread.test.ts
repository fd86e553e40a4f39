import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, formatInstant, instant, parseInstant } from '../../core/instant.js';
import { openFile } from '../../formats/index.js';
import { parsePhaseCentre } from '../../sky/phase-centre.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import { FilesByTime, type FileEvent, type FileSettings } from './files.js';
import { openFilesByThread } from './files-by-thread.js';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corella-files-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const [channels, stations, baselines] = [2, 3, 6];
const integration = (n: number): Integration => ({
  start: instant(1_790_000_000 + n),
  durationS: 1,
  channels,
  stations,
  polarisations: 2,
  visibilities: visibilitiesCBPP(
    Float64Array.from({ length: channels * baselines * 8 }, (_, k) => k + 100 * n),
    channels,
    baselines,
    2,
  ),
  counts: countsCB(new Float64Array(channels * baselines).fill(10 + n), channels, baselines),
  flaggedInputs: new Uint8Array(2 * stations),
});

async function settingsFor(name: string): Promise<FileSettings> {
  return {
    path: join(folder, name),
    values: 'sums',
    header: {
      telescope: selectStations(await loadTelescope('lwasv'), stations),
      polarisations: 2,
      frequenciesHz: Float64Array.of(50e6, 51e6),
      channelWidthHz: 1e6,
      history: ['made by a test'],
    },
  };
}

async function opened(name: string) {
  const file = await openFile(join(folder, name));
  assert.ok(file.kind === 'visibilities');
  return file;
}

async function read(name: string): Promise<Integration[]> {
  const file = await opened(name);
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return all;
}

describe('files by a thread of their own', () => {
  it('hold what the main thread would write, and report the same', async () => {
    const events: Record<string, FileEvent['kind'][]> = { thread: [], plain: [] };
    const note =
      (who: string) =>
      ({ kind }: FileEvent): void => {
        events[who].push(kind);
      };
    const ours = openFilesByThread(await settingsFor('thread.uvh5'), note('thread'));
    const plain = new FilesByTime(await settingsFor('plain.uvh5'), note('plain'));
    for (let n = 0; n < 3; n++) {
      await ours.append(integration(n));
      await plain.append(integration(n));
    }
    for (const files of [ours, plain]) await files.close();
    await ours.end?.();
    assert.deepEqual(await read('thread.uvh5'), await read('plain.uvh5'));
    assert.deepEqual(events.thread, events.plain);
    assert.deepEqual(ours.paths, [join(folder, 'thread.uvh5')]);
    assert.deepEqual([ours.written, ours.unwritten], [3, 0]);
  });

  it('have the phase centre of the settings', async () => {
    const centre = parsePhaseCentre('CygA', 'a test');
    const ours = openFilesByThread(
      { ...(await settingsFor('centre.uvfits')), values: 'means', centre },
      () => undefined,
    );
    await ours.append(integration(0));
    await ours.close();
    await ours.end?.();
    const file = await opened('centre.uvfits');
    await file.close();
    assert.equal(file.header.object, 'Cyg A');
    // 19h59m28.36s +40d44m02.1s in the catalogue
    const { raDeg, decDeg } = file.header.phaseCentre;
    assert.ok(Math.abs(raDeg - 299.86817) < 1e-4 && Math.abs(decDeg - 40.73392) < 1e-4);
  });

  it('a leap second is left out, reported, and a new file begins after it', async () => {
    const events: FileEvent[] = [];
    const files = new FilesByTime(await settingsFor('leap.uvh5'), (event) => events.push(event));
    const before = parseInstant('2016-12-31T23:59:58Z');
    for (let n = 0; n < 5; n++) await files.append({ ...integration(n), start: addSeconds(before, n) });
    await files.close();
    const names = ['leap.uvh5', 'leap-2017-01-01T000000Z.uvh5'];
    assert.deepEqual(
      files.paths,
      names.map((name) => join(folder, name)),
    );
    const starts = await Promise.all(
      names.map(async (name) => (await read(name)).map(({ start }) => formatInstant(start, 0))),
    );
    assert.deepEqual(starts, [
      ['2016-12-31T23:59:58Z', '2016-12-31T23:59:59Z'],
      ['2017-01-01T00:00:00Z', '2017-01-01T00:00:01Z'],
    ]);
    const closed = events.filter(({ kind }) => kind === 'closed');
    assert.match(closed[0].why ?? '', /leap second 2016-12-31T23:59:60Z is not written/);
    assert.equal(closed[1].why, undefined);
    assert.deepEqual([files.written, files.unwritten], [4, 0]);
  });

  it('a file does not go on over a leap second that no integration has its middle in', async () => {
    const files = new FilesByTime(await settingsFor('over.uvh5'), () => undefined);
    const before = parseInstant('2016-12-31T23:59:55Z');
    for (let n = 0; n < 3; n++)
      await files.append({ ...integration(n), start: addSeconds(before, 4 * n), durationS: 4 });
    await files.close();
    assert.deepEqual([files.paths.length, files.written, files.unwritten], [2, 3, 0]);
  });

  it('a refusal there is a refusal here, and leaves nothing behind', async () => {
    const ours = openFilesByThread(await settingsFor('nowhere/thread.uvh5'), () => undefined);
    await assert.rejects(ours.append(integration(0)), /nowhere/);
    await ours.end?.();
    assert.ok(!(await readdir(folder)).includes('nowhere'));
  });
});

describe('files that are taken away while they are written', () => {
  const begin = async (place: string): Promise<{ files: FilesByTime; events: FileEvent[] }> => {
    await mkdir(join(folder, place));
    const events: FileEvent[] = [];
    const files = new FilesByTime(await settingsFor(`${place}/v.uvh5`), (event) => events.push(event));
    for (let n = 0; n < 3; n++) await files.append(integration(n));
    return { files, events };
  };
  const kinds = (events: readonly FileEvent[]): unknown[] =>
    events.map(({ kind, integrations }) => [kind, integrations]);

  it('with their folder: reported, what was in them counts as lost, a new one begins when the folder is back', async () => {
    const { files, events } = await begin('removed');
    await rm(join(folder, 'removed'), { recursive: true });
    for (let n = 3; n < 5; n++) await files.append(integration(n));
    assert.deepEqual([files.written, files.unwritten], [0, 5]);
    await mkdir(join(folder, 'removed'));
    for (let n = 5; n < 7; n++) await files.append(integration(n));
    await files.close();
    assert.deepEqual([files.written, files.unwritten], [2, 5]);
    assert.deepEqual(kinds(events), [
      ['opened', 0],
      ['gone', 3],
      ['gone', 0],
      ['opened', 0],
      ['closed', 2],
    ]);
    const [name] = await readdir(join(folder, 'removed'));
    assert.deepEqual(files.paths, [join(folder, 'removed', name)]);
    assert.equal((await read(join('removed', name))).length, 2);
  });

  it('cut by another program: what was in them counts as lost, and a new one begins', async () => {
    const { files, events } = await begin('cut');
    await truncate(join(folder, 'cut', 'v.uvh5'), 1000);
    for (let n = 3; n < 6; n++) await files.append(integration(n));
    // The integration during which the failure was noticed is lost too.
    assert.deepEqual([files.written, files.unwritten], [2, 4]);
    const [second] = (await readdir(join(folder, 'cut'))).filter((name) => name !== 'v.uvh5');
    await truncate(join(folder, 'cut', second), 1000);
    await files.close();
    assert.deepEqual([files.paths, files.written, files.unwritten], [[], 0, 6]);
    assert.deepEqual(kinds(events), [
      ['opened', 0],
      ['gone', 3],
      ['opened', 0],
      ['gone', 2],
    ]);
    assert.match(events[1].why ?? '', /was truncated by another program .* 1000 bytes are left of \d{4,}/);
    assert.equal(
      (await stat(join(folder, 'cut', 'v.uvh5'))).size,
      1000,
      'nothing was written after the hole',
    );
  });

  it('at the very end', async () => {
    const { files, events } = await begin('late');
    await rm(join(folder, 'late', 'v.uvh5'));
    await files.close();
    assert.deepEqual([files.paths, files.written, files.unwritten], [[], 0, 3]);
    assert.deepEqual(kinds(events.slice(1)), [['gone', 3]]);
  });

  it('another in its place is left alone', async () => {
    const { files } = await begin('replaced');
    await writeFile(join(folder, 'replaced', 'other'), 'not ours');
    await rename(join(folder, 'replaced', 'other'), join(folder, 'replaced', 'v.uvh5'));
    await files.append(integration(3));
    await files.close();
    assert.deepEqual([files.paths.length, files.written, files.unwritten], [1, 1, 3]);
  });

  it('moved: whole where they are, and named there', { skip: process.platform !== 'linux' }, async () => {
    const { files, events } = await begin('moved');
    await rename(join(folder, 'moved', 'v.uvh5'), join(folder, 'elsewhere.uvh5'));
    await files.append(integration(3));
    await files.close();
    assert.deepEqual(kinds(events.slice(1)), [
      ['moved', 3],
      ['opened', 0],
      ['closed', 1],
    ]);
    assert.deepEqual([files.written, files.unwritten, files.paths.length], [4, 0, 2]);
    assert.equal(files.paths[0], join(folder, 'elsewhere.uvh5'));
    assert.equal((await read('elsewhere.uvh5')).length, 3);
  });

  it('a folder that may not be written for a while ends no run, and the file is whole', async () => {
    for (const name of ['locked.uvh5', 'locked.uvfits']) {
      const place = join(folder, name);
      await mkdir(place);
      await chmod(folder, 0o755);
      await chmod(place, 0o777);
      const [path, events] = [join(name, `v${name.slice(6)}`), [] as FileEvent[]];
      const values = name.endsWith('h5') ? 'sums' : 'means';
      const files = new FilesByTime({ ...(await settingsFor(path)), values, everyS: 2 }, (event) =>
        events.push(event),
      );
      await asAnother(async () => {
        for (let n = 0; n < 3; n++) await files.append(integration(n));
      });
      await chmod(place, 0o555);
      // The slot ends here: the next file cannot be begun.
      await asAnother(async () => {
        for (let n = 3; n < 6; n++) await files.append(integration(n));
        await files.close();
      });
      assert.deepEqual([files.written, files.unwritten], [4, 2]);
      assert.deepEqual(kinds(events).at(-1), ['full', 0]);
      assert.match(events.at(-1)?.why ?? '', /may not be written/);
      await chmod(place, 0o777);
      const lengths = files.paths.map(async (one) => (await read(relative(folder, one))).length);
      assert.deepEqual(await Promise.all(lengths), [2, 2]);
    }
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

describe('data that begin anew all the time', () => {
  it('make at most sixty files a minute; the rest is counted and reported once', async () => {
    await mkdir(join(folder, 'anew'));
    const events: FileEvent[] = [];
    const files = new FilesByTime(await settingsFor('anew/v.uvh5'), (event) => events.push(event));
    for (let n = 0; n < 100; n++) {
      await files.append(integration(n));
      await files.close();
    }
    assert.equal((await readdir(join(folder, 'anew'))).length, 61);
    assert.deepEqual([files.written, files.unwritten], [61, 39]);
    assert.equal(events.filter(({ kind }) => kind === 'many').length, 1);
  });

  it('does not limit files by time', async () => {
    await mkdir(join(folder, 'slots'));
    const settings = { ...(await settingsFor('slots/v.uvh5')), everyS: 1 };
    const files = new FilesByTime(settings, () => undefined);
    for (let n = 0; n < 70; n++) await files.append(integration(n));
    await files.close();
    assert.deepEqual([files.written, files.unwritten], [70, 0]);
  });
});
