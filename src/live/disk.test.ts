import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkDisk } from './disk.js';

describe('a disk', () => {
  const small = { integrationS: 10, stations: 4, channels: 4, polarisations: 2 };
  const out = join(tmpdir(), 'run.uvh5');

  it('that an hour would fill is refused before the observation, and by how much', async () => {
    // 2¹⁹ pairs, 2¹² channels, 4 products, 13 bytes, a thousand times a second.
    const large = { integrationS: 0.001, stations: 1023, channels: 4096, polarisations: 2, out };
    await assert.rejects(checkDisk(large), /would take .*, and the disk of .* has .* left/);
    // A microsecond is one integration, which may fit: the refusal above was for an hour.
    await checkDisk({ ...large, channels: 1, for: 1e-6 });
  });

  it('is none of our business where nothing is written', async () => {
    await checkDisk(small);
    await checkDisk({ ...small, out });
  });
});
