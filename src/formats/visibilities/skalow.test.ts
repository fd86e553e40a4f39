import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineIndex } from '../../core/axes.js';
import { formatInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import type { Telescope } from '../../telescope/telescope.js';
import { skalow } from './skalow.js';
import { encodeSkalow } from '../testing/skalow-dump.js';

const folder = temporaryFolder('skalow');

async function dump(name: string, antennas: number): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, await encodeSkalow(antennas));
  return path;
}

const three = (name: string): Telescope => ({
  name,
  title: name,
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 },
  stations: [0, 1, 2].map((s) => ({ name: String(s), eastM: s, northM: 0, upM: 0 })),
  polarisations: 2,
  band: { lowHz: 50e6, highHz: 350e6 },
  recording: { centreFrequencyHz: 160e6, sampleRateHz: 1e6, channels: 2, bits: 8 },
  beamExponent: 1,
});

describe('SKA-Low correlator dumps', () => {
  // 2 s of 925.926 kHz.
  const samples = Math.round((2 * 781_250 * 32) / 27);
  // Baseline (0, 2) is the file's third; its XY is value 4·2 + 1, in the second time 24 values later.
  const passThrough = 24 + 9;
  for (const [name, sign, pair, said] of [
    // Conjugates with XY and YX exchanged are V₂₁ in file order: exactly our triangle.
    ['eda2', 1, 1],
    // V₁₂ becomes V₂₁ by conjugation, and XY of (0, 2) is YX of (2, 0).
    ['aavs2', -1, 2],
    // For any other station, V₁₂ is the default.
    ['aavs3', -1, 2],
    ['s8-6', -1, 2],
    ['mine', -1, 2],
    // The user's choice has priority.
    ['eda2', -1, 2, 'V12'],
    ['mine', 1, 1, 'V21'],
  ] as const) {
    it(`puts ${name}'s pairs into the lower triangle${said ? `, given ${said}` : ''}`, async () => {
      const file = await skalow.open(await dump(`${name}.hdf5`, 3), {
        telescope: three(name),
        storedPair: said,
      });
      assert.ok(file.kind === 'visibilities');
      assert.equal(file.header.frequenciesHz[0], 159_375_000);
      assert.equal(file.header.xOrientation, name === 's8-6' ? 'unknown' : undefined);
      const all = [];
      for await (const one of file.integrations()) all.push(one);
      await file.close();
      assert.equal(formatInstant(all[1].start, 1), '2021-12-11T03:59:35.5Z');
      const at = 2 * (baselineIndex(2, 0) * 4 + pair);
      assert.equal(all[1].visibilities[at], passThrough * samples);
      assert.equal(all[1].visibilities[at + 1], sign * (passThrough + 0.5) * samples);
      assert.equal(all[1].counts[0], samples);
    });
  }

  it('knows its station by name, and asks where the name is silent', async () => {
    const path = await dump('correlation_burst.hdf5', 3);
    await assert.rejects(skalow.open(path), /states its station; name it with telescope: NAME/);
    await assert.rejects(skalow.open(await dump('x_eda2_y.hdf5', 3)), /holds 3 antennas where eda2 has 256/);
  });
});
