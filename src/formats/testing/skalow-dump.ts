/** A small dump of a SKA-Low station's correlator: two times; real parts count up, imaginary parts are 0.5 larger. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { File, ready } from 'h5wasm/node';
import { inTemporaryFolder } from '../../core/testing/temporary-folder.js';

export async function encodeSkalow(antennas: number): Promise<Uint8Array> {
  await ready;
  return inTemporaryFolder('dump', (folder) => {
    const path = join(folder, 'dump.hdf5');
    const file = new File(path, 'w');
    const root = file.create_group('root');
    root.create_attribute('n_antennas', antennas);
    root.create_attribute('channel_id', 204);
    root.create_attribute('tsamp', 2, null, '<d');
    root.create_attribute('ts_start', 1_639_195_173.5, null, '<d');
    const baselines = (antennas * (antennas + 1)) / 2;
    const count = 2 * baselines * 4;
    file.create_group('correlation_matrix').create_dataset({
      name: 'data',
      data: new Map([
        ['r', Float32Array.from({ length: count }, (_, k) => k)],
        ['i', Float32Array.from({ length: count }, (_, k) => k + 0.5)],
      ]),
      shape: [1, 2, baselines, 4],
      dtype: [
        ['r', '<f'],
        ['i', '<f'],
      ],
    });
    file.close();
    return Promise.resolve(readFileSync(path));
  });
}
