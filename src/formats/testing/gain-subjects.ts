/** Gains of three stations, in both formats. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gainsCA } from '../../core/axes.js';
import { parseInstant } from '../../core/instant.js';
import { inTemporaryFolder } from '../../core/testing/temporary-folder.js';
import { writeGainFiles } from '../gains/gain-files.js';
import type { GainsFile } from '../gains/gains.js';
import type { GainSubject } from './trial.js';
import { trio } from './trio.js';

export const trioGains: GainsFile = {
  telescope: 'trio',
  stations: trio.stations.map(({ name }) => name),
  polarisations: 2,
  frequenciesHz: Float64Array.of(100e6, 101e6),
  time: parseInstant('2021-12-11T12:00:00'),
  referenceStation: 1,
  // [c][a]: re counts inputs over channels, im is larger by a half.
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

export async function gainSubjects(): Promise<GainSubject[]> {
  const how = { telescope: trio, channelWidthHz: 1e6, durationS: 2 };
  const [json, calh5] = await inTemporaryFolder('gains', async (folder) =>
    (await writeGainFiles(join(folder, 'gains.json'), trioGains, how)).map((path) => readFileSync(path)),
  );
  return [
    { name: 'gains', holds: 'gains', extension: '.json', bytes: json },
    { name: 'calh5', holds: 'gains', extension: '.calh5', bytes: calh5 },
  ];
}
