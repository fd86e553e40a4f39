import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gainsCA } from '../core/axes.js';
import { parseInstant } from '../core/instant.js';
import { writeGainFiles } from './gain-files.js';
import { readGains } from './gains.js';
import { openHdf5 } from './hdf5/read.js';
import { trio } from './testing/subjects.js';

describe('CalH5', () => {
  const gains = {
    telescope: 'trio',
    stations: trio.stations.map(({ name }) => name),
    polarisations: 2 as const,
    frequenciesHz: Float64Array.of(100e6, 101e6),
    time: parseInstant('2021-12-11T12:00:00'),
    referenceStation: 1,
    // [c][a]: re counts inputs over channels, im is a half more.
    gains: gainsCA(
      Float64Array.from({ length: 24 }, (_, k) => Math.floor(k / 2) + (k % 2) / 2),
      2,
      6,
    ),
    solved: Uint8Array.from({ length: 12 }, (_, k) => (k === 7 ? 0 : 1)),
    solutions: [],
    sources: ['Sun', 'Cas A'],
    history: ['solved by hand'],
  };
  const facts = { telescope: trio, channelWidthHz: 1e6, durationS: 2 };

  it('keeps [station][channel][time][polarisation], unsolved gains flagged', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'corella-calh5-')), 'gains.json');
    const [, calh5] = await writeGainFiles(path, gains, facts);
    const file = await openHdf5(calh5);
    const { shape } = file.dataset('Data/gains');
    assert.deepEqual(shape, [3, 2, 1, 2]);
    const values = file.dataset('Data/gains').rows(0, 3);
    // Station 1, channel 1, polarisation 0: input 2 of 6 in channel 1 is the ninth, 8 + 8.5i; the file keeps conjugates.
    const at = 2 * ((1 * 2 + 1) * 2 + 0);
    assert.deepEqual([...values.subarray(at, at + 2)], [8, -8.5]);
    // Input 1 (station 0, Y) of channel 1 is unsolved.
    assert.deepEqual(
      [...file.dataset('Data/flags').rows(0, 3)].flatMap((flag, k) => (flag ? [k] : [])),
      [3],
    );
    assert.deepEqual([...values.subarray(6, 8)], [1, 0]);
    assert.equal(file.number('Header/time_array'), 2_459_560);
    assert.equal(file.text('Header/gain_convention'), 'divide');
    assert.equal(file.text('Header/ref_antenna_name'), 's1');
    file.close();
    // The JSON beside it says the same, unconjugated.
    const json = await readGains(path);
    assert.deepEqual([...json.gains.subarray(16, 18)], [8, 8.5]);
    assert.equal(json.solved[7], 0);
    await assert.rejects(
      writeGainFiles(path, gains, { ...facts, telescope: { ...trio, stations: trio.stations.slice(1) } }),
      /gains of 3 stations where trio has 2/,
    );
  });
});
