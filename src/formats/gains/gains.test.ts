import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gainsCA } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { readGains, writeGains, type GainsFile } from './gains.js';

const file: GainsFile = {
  telescope: 'toy',
  stations: ['s0', 's1'],
  polarisations: 1,
  frequenciesHz: Float64Array.of(50e6, 51e6),
  time: instant(1_000_000_000, 0.25),
  referenceStation: 0,
  gains: gainsCA(Float64Array.of(1, 0, 0.5, -2, 3, 0, NaN, NaN), 2, 2),
  solved: Uint8Array.of(1, 1, 1, 0),
  solutions: [{ channel: 0, polarisation: 0, iterations: 12, converged: true, residual: 0.01 }],
  sources: ['Cyg A'],
  history: ['corella test'],
};

describe('gains on disk', () => {
  const folder = temporaryFolder('gains');

  it('come back as they were, unsolved ones as NaN', async () => {
    const path = join(folder, 'gains.json');
    await writeGains(path, file);
    const read = await readGains(path);
    assert.deepEqual([...read.gains], [...file.gains]);
    assert.deepEqual(read.solved, file.solved);
    assert.deepEqual(read.time, file.time);
    assert.deepEqual(read.frequenciesHz, file.frequenciesHz);
    assert.deepEqual(read.solutions, file.solutions);
  });

  it('of several times come in the order of time, and of one time twice not at all', async () => {
    const path = join(folder, 'shuffled.json');
    const at = (seconds: number, size: number) => ({
      time: instant(seconds),
      solved: Uint8Array.of(1, 1, 1, 1),
      solutions: [],
      gains: gainsCA(Float64Array.of(size, 0, size, 0, size, 0, size, 0), 2, 2),
    });
    await writeGains(path, { ...file, ...at(200, 2), later: [at(300, 3), at(100, 1)] });
    const read = await readGains(path);
    const series = [read, ...(read.later ?? [])].map(({ time, gains }) => [time.unixSeconds, gains[0]]);
    assert.deepEqual(series, [[100, 1], [200, 2], [300, 3]]); // prettier-ignore
    await writeGains(path, { ...file, ...at(200, 2), later: [at(300, 3), at(200, 1)] });
    await assert.rejects(readGains(path), /holds gains of 1970-01-01T00:03:20.* twice/);
  });

  it('of zero divide nothing, and so count as unsolved', async () => {
    const path = join(folder, 'zero.json');
    await writeGains(path, { ...file, gains: gainsCA(Float64Array.of(0, 0, 0.5, -2, 3, 0, NaN, NaN), 2, 2) });
    assert.deepEqual([...(await readGains(path)).solved], [0, 1, 1, 0]);
  });

  it('are refused when something is wrong, saying what and where', async () => {
    const path = join(folder, 'bad.json');
    await assert.rejects(readGains(join(folder, 'none.json')), /none\.json: there is no such file/);
    await writeFile(path, '{');
    await assert.rejects(readGains(path), /bad\.json: is not valid JSON/);
    await writeFile(path, '{"format":"corella-gains","version":2}');
    await assert.rejects(readGains(path), /not a gains file \(version/);
    await writeGains(path, file);
    const { readFile } = await import('node:fs/promises');
    await writeFile(path, (await readFile(path, 'utf8')).replace('[3,0],null', '[3,0]'));
    await assert.rejects(readGains(path), /2 channels × 2 inputs/);
    await writeGains(path, { ...file, referenceStation: 2 });
    await assert.rejects(readGains(path), /its reference is station 2 of 0 to 1/);
  });
});
