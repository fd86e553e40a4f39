import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freeBytesFor } from '../formats/index.js';
import { textOf } from '../messages/index.js';
import { checkDisk } from './disk.js';

describe('a disk', () => {
  const small = { integrationS: 10, stations: 4, channels: 4, polarisations: 2 };
  const out = join(tmpdir(), 'run.uvh5');
  /** One station and channel, 13 bytes at a time, so often that the disk is full after this time. */
  const fullIn = async (seconds: number) => ({
    ...{ out, stations: 1, channels: 1, polarisations: 1 },
    integrationS: (13 * seconds) / (await freeBytesFor(out)),
  });

  it('that a run of an hour would fill is refused before the observation, and by how much', async () => {
    // 2¹⁹ pairs, 2¹² channels, 4 products, 13 bytes, a thousand times a second.
    const large = { integrationS: 0.001, stations: 1023, channels: 4096, polarisations: 2, out };
    await assert.rejects(checkDisk({ ...large, for: 3600 }), /would take .*, and the disk of .* has .* left/);
    // A microsecond is one integration, which may fit: the refusal above was for an hour.
    await checkDisk({ ...large, channels: 1, for: 1e-6 });
  });

  it('has room for so long, where a run has no end: less than a day is a warning, a minute refused', async () => {
    const found = async (seconds: number) => {
      const room = await checkDisk(await fullIn(seconds));
      return room && { code: room.code, severity: room.severity, text: textOf(room) };
    };
    const days = await found(5.5 * 86_400);
    assert.deepEqual([days?.code, days?.severity], ['disk.full-in', 'note']);
    assert.match(String(days?.text), /the disk of .*, with .* free, is full in 5 days/);
    const hours = await found(12.3 * 3600);
    assert.deepEqual([hours?.code, hours?.severity], ['disk.full-soon', 'warning']);
    assert.match(String(hours?.text), /is full in 12\.[234] h/);
    // An hour was refused once, and nothing said why an hour.
    assert.equal((await found(1800))?.code, 'disk.full-soon');
    await assert.rejects(found(30), { kind: 'disk.full', message: /it would be full in (?:29|30)/ });
    // A run that ends before.
    assert.equal(await checkDisk({ ...(await fullIn(12 * 3600)), for: 4 * 3600 }), undefined);
    assert.equal((await checkDisk({ ...(await fullIn(2 * 3600)), for: 4 * 3600 }))?.code, 'disk.full-soon');
  });

  it('is none of our business where nothing is written', async () => {
    assert.equal(await checkDisk(small), undefined);
  });
});
