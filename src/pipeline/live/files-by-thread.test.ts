import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, instant, parseInstant } from '../../core/instant.js';
import { openFile } from '../../formats/index.js';
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
  ...{ channels, stations, polarisations: 2 },
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

async function read(name: string): Promise<Integration[]> {
  const file = await openFile(join(folder, name));
  assert.ok(file.kind === 'visibilities');
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return all;
}

describe('files by a thread of their own', () => {
  it('hold what the main thread would write, and tell the same', async () => {
    const told: Record<string, FileEvent['kind'][]> = { thread: [], plain: [] };
    const note =
      (who: string) =>
      ({ kind }: FileEvent): void => {
        told[who].push(kind);
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
    assert.deepEqual(told.thread, told.plain);
    assert.deepEqual(ours.paths, [join(folder, 'thread.uvh5')]);
    assert.deepEqual([ours.written, ours.unwritten], [3, 0]);
  });

  it('a leap second and the second after it have one Julian Date: a new file begins', async () => {
    const files = new FilesByTime(await settingsFor('leap.uvh5'), () => undefined);
    const before = parseInstant('2016-12-31T23:59:59Z');
    for (let n = 0; n < 4; n++) await files.append({ ...integration(n), start: addSeconds(before, n) });
    await files.close();
    const names = ['leap.uvh5', 'leap-2017-01-01T000000Z.uvh5'];
    assert.deepEqual(
      files.paths,
      names.map((name) => join(folder, name)),
    );
    assert.deepEqual(await Promise.all(names.map(async (name) => (await read(name)).length)), [2, 2]);
  });

  it('a refusal there is a refusal here, and leaves nothing behind', async () => {
    const ours = openFilesByThread(await settingsFor('nowhere/thread.uvh5'), () => undefined);
    await assert.rejects(ours.append(integration(0)), /nowhere/);
    await ours.end?.();
    assert.ok(!(await readdir(folder)).includes('nowhere'));
  });
});
