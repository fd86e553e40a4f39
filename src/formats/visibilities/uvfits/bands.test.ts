/** UVFITS with several IFs, each with its own channel step. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { tableBytes } from '../../fits/table.js';
import { axis, direction, foreignBytes, least } from '../../testing/foreign-uvfits.js';
import { openUvfits } from './read.js';

describe('UVFITS of several IFs', () => {
  const path = join(temporaryFolder('bands'), 'bands.uvfits');

  /** Two IFs of two channels, real parts 1 to 4 in file order. */
  const open = async (widthsHz: readonly number[], sides: readonly number[], stepHz = 5e5) => {
    await writeFile(
      path,
      foreignBytes({
        ...least,
        axes: [
          axis('COMPLEX', 3),
          axis('STOKES', 1, -5, -1),
          axis('FREQ', 2, 150e6, stepHz),
          axis('IF', 2),
          ...direction,
        ],
        groups: [[...least.groups[0].slice(0, 5), ...[1, 2, 3, 4].flatMap((re) => [re, 0, 1])]],
        tables: [
          tableBytes(
            'AIPS FQ',
            [
              { name: 'FRQSEL', form: '1J', rows: [[1]] },
              { name: 'IF FREQ', form: '2D', rows: [[0, 20e6]] },
              { name: 'CH WIDTH', form: '2E', rows: [widthsHz] },
              { name: 'SIDEBAND', form: '2J', rows: [sides] },
            ],
            [],
          ),
        ],
      }),
    );
    const file = await openUvfits(path);
    const values: number[] = [];
    for await (const { visibilities } of file.integrations())
      for (let c = 0; c < 4; c++) values.push(visibilities[c * 6 + 2]);
    await file.close();
    const warnings = (file.assumed ?? []).filter((line) => line.includes('AIPS FQ'));
    return {
      mHz: Array.from(file.header.frequenciesHz, (hz) => hz / 1e6),
      widthHz: file.header.channelWidthHz,
      values,
      warnings,
    };
  };

  it('go by CH WIDTH and its sign, as casacore has them', async () => {
    const width = { widthHz: 5e5, warnings: [] };
    assert.deepEqual(await open([5e5, 5e5], [1, 1]), {
      ...width,
      mHz: [150, 150.5, 170, 170.5],
      values: [1, 2, 3, 4],
    });
    assert.deepEqual(await open([5e5, -5e5], [1, -1]), {
      ...width,
      mHz: [150, 150.5, 169.5, 170],
      values: [1, 2, 4, 3],
    });
  });

  it('report what contradicts them', async () => {
    const lower = await open([5e5, 5e5], [1, -1]);
    assert.deepEqual(lower.mHz, [150, 150.5, 170, 170.5]);
    assert.match(
      String(lower.warnings),
      /calls IF 2 a lower sideband, its CH WIDTH rises: treated as rising/,
    );
    const wide = await open([4e5, 4e5], [1, 1]);
    assert.deepEqual([wide.mHz, wide.widthHz], [[150, 150.4, 170, 170.4], 4e5]);
    assert.match(
      String(wide.warnings),
      /goes by 500 kHz a channel, its AIPS FQ table by 400 kHz, which is used/,
    );
    const falling = await open([5e5, 5e5], [1, 1], -5e5);
    assert.deepEqual(falling.mHz, [150, 150.5, 170, 170.5]);
    assert.match(String(falling.warnings), /goes by −500 kHz a channel, its AIPS FQ table by 500 kHz/);
  });

  it('are refused where their widths differ: files have one width for all here', async () => {
    await assert.rejects(
      open([5e5, 1e5], [1, 1]),
      /channels of its IF 1 are 500 kHz wide, those of IF 2 100 kHz/,
    );
  });
});
