import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { gainPaths, holdsGains, readGainFile, writeGainFiles } from './gain-files.js';
import { trioGains } from '../testing/gain-subjects.js';
import { trio } from '../testing/trio.js';

describe('files of gains', () => {
  const folder = temporaryFolder('gains');
  const facts = { telescope: trio, channelWidthHz: 1e6, durationS: 1 };

  it('come in pairs, and are known for what they are', async () => {
    const path = join(folder, 'pair.json');
    const paths = await writeGainFiles(path, trioGains, facts);
    assert.deepEqual(paths, [path, join(folder, 'pair.calh5')]);
    for (const one of paths) {
      assert.equal(await holdsGains(one), true, one);
      assert.deepEqual((await readGainFile(one)).solved, trioGains.solved, one);
    }
    assert.throws(() => gainPaths('gains.txt'), /is no name for JSON; end it in \.json/);
  });

  it('are refused where a gain is of a size that no receiver has, which would make NaN of what it is applied to', async () => {
    const path = join(folder, 'huge.json');
    for (const size of [1e-100, 1e90, 1e300]) {
      const gains = trioGains.gains.slice() as typeof trioGains.gains;
      const n = trioGains.solved.lastIndexOf(1);
      gains.set([0, size], 2 * n);
      await writeGainFiles(path, { ...trioGains, gains }, facts);
      await assert.rejects(
        readGainFile(path),
        /the gain of input \d+ in channel \d+ is 1e[+-]\d+: no receiver/,
      );
    }
  });

  it('leave neither behind when one cannot be written', async () => {
    const before = await readdir(folder);
    const wrong = { ...facts, telescope: { ...trio, stations: trio.stations.slice(1) } };
    await assert.rejects(writeGainFiles(join(folder, 'half.json'), trioGains, wrong));
    assert.deepEqual(await readdir(folder), before);
  });

  it('are distinguished from other JSON, other HDF5 and what is no file', async () => {
    const [json, text] = [join(folder, 'other.json'), join(folder, 'other.txt')];
    await writeFile(json, '{ "global": {} }');
    await writeFile(text, 'twelve gains');
    assert.equal(await holdsGains(json), false);
    assert.equal(await holdsGains(text), false);
    assert.equal(await holdsGains(folder), false);
    assert.equal(await holdsGains(join(folder, 'nowhere')), false);
    // JSON of another origin is examined, so that the message states the problem.
    await assert.rejects(readGainFile(json), /other\.json: is not a gains file \(.*format/);
    await assert.rejects(
      readGainFile(text),
      /other\.txt: holds no gains: it is neither JSON, CalH5 nor CalFITS/,
    );
  });

  it('report a channel without data as such', async () => {
    const path = join(folder, 'empty.json');
    const solutions = [{ channel: 0, polarisation: 0, iterations: 0, converged: false, residual: NaN }];
    await writeGainFiles(path, { ...trioGains, solutions }, facts);
    assert.deepEqual((await readGainFile(path)).solutions, solutions);
  });
});
