import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { Command } from 'commander';
import { parseInstant } from '../../core/instant.js';
import { earthOrientation, useEarthOrientation } from '../../sky/earth/orientation.js';
import { z } from 'zod';
import { useEop } from './eop-option.js';
import { addFields } from './own.js';
import { eop } from './shared.js';

describe('--eop', () => {
  after(() => {
    useEarthOrientation('built-in');
  });

  it('is the table that a command goes by; dates outside it give one warning, after the result', async () => {
    const folder = temporaryFolder('eop');
    const path = join(folder, 'finals');
    const row = (day: number): string =>
      `30 1 ${day} ${62_501 + day}.00 I  0.100000 0.000052  0.200000 0.000037  I 0.300000${day} 0.0000079`;
    await writeFile(path, [1, 2, 3, 4].map(row).join('\n'));
    const printed: string[] = [];
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (text: string | Uint8Array): boolean => printed.push(String(text)) > 0;
    const values: number[] = [];
    const run = (...words: string[]): Promise<unknown> =>
      useEop(
        addFields(new Command('where').exitOverride(), z.strictObject({ eop })).action(() => {
          for (const day of ['2030-01-02', '2031-01-01', '2031-01-02'])
            values.push(earthOrientation(parseInstant(day)).ut1MinusUtcS);
          assert.equal(printed.length, 0);
        }),
      ).parseAsync(words, { from: 'user' });
    try {
      await run('--eop', path);
    } finally {
      process.stderr.write = write;
    }
    assert.deepEqual(
      values.map((value) => value.toFixed(7)),
      ['0.3000002', '0.0000000', '0.0000000'],
    );
    assert.equal(printed.length, 1);
    assert.match(
      printed[0],
      /^warning: 2031-01-01T00:00:00Z: .*finals ends on 2030-01-04: .*\[sky\.orientation-unknown\]/,
    );
    await assert.rejects(run('--eop', join(folder, 'nowhere')), /nowhere: cannot be read .*check the path/);
  });
});
