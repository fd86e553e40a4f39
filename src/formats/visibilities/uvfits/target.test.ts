/** UVFITS with several sources. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { tableBytes } from '../../fits/table.js';
import { axis, foreignBytes, least } from '../../testing/foreign-uvfits.js';
import { openUvfits } from './read.js';

describe('UVFITS of several sources', () => {
  const path = join(temporaryFolder('target'), 'several.uvfits');

  it('reads one of several sources, by name or number, or lists all', async () => {
    const [group] = least.groups;
    const at = least.parameters.length;
    /** Sources 3, 7, 3 and 7 in turn: their rows are interleaved. */
    const groups = [3, 7, 3, 7].map((id, k) =>
      group
        .map((value, n) => (n === 3 ? 0.25 + k / 8192 : value))
        .map((value, n) => (n === at ? 10 * k + 1 : value))
        .toSpliced(at, 0, id),
    );
    await writeFile(
      path,
      foreignBytes({
        ...least,
        axes: [...least.axes.slice(0, 3), axis('RA', 1, 0), axis('DEC', 1, 0)],
        parameters: [...least.parameters, ['SOURCE', 1, 0]],
        groups,
        tables: [
          tableBytes(
            'AIPS SU',
            [
              { name: 'ID. NO.', form: '1J', rows: [[3], [7]] },
              { name: 'SOURCE', form: '8A', rows: ['3C84', '3C286'] },
              { name: 'RAEPO', form: '1D', rows: [[49.95], [202.78]] },
              { name: 'DECEPO', form: '1D', rows: [[41.5], [30.5]] },
            ],
            [],
          ),
        ],
      }),
    );
    const of = async (target?: string) => {
      const file = await openUvfits(path, target === undefined ? {} : { target });
      const sums: number[] = [];
      for await (const one of file.integrations()) sums.push(one.visibilities[2] / 3);
      await file.close();
      return { file, sums };
    };
    const all = await of();
    assert.equal(all.file.targets, '3C84 (3), 3C286 (7)');
    assert.match(String(all.file.assumed), /several targets, 3C84 \(3\), 3C286 \(7\)/);
    assert.deepEqual(all.sums, [1, 11, 21, 31]);
    assert.deepEqual((await of('3C84')).sums, [1, 21]);
    const { file, sums } = await of('7');
    assert.deepEqual(sums, [11, 31]);
    assert.deepEqual([file.header.object, file.header.phaseCentre.raDeg], ['3C286', 202.78]);
    assert.equal(file.targets, undefined);
    await assert.rejects(of('3C273'), /holds no target '3C273'; it holds 3C84 \(3\), 3C286 \(7\)/);
  });

  it('takes place and name from the source table, whatever place the header has, and reports where they contradict', async () => {
    const [group] = least.groups;
    const at = least.parameters.length;
    const open = async (of: {
      readonly rows: number;
      readonly header: readonly [number, number];
      readonly named?: boolean;
      readonly id?: number;
    }) => {
      const { rows, header, named = true, id = 7 } = of;
      await writeFile(
        path,
        foreignBytes({
          ...least,
          axes: [...least.axes.slice(0, 3), axis('RA', 1, header[0]), axis('DEC', 1, header[1])],
          parameters: named ? [...least.parameters, ['SOURCE', 1, 0]] : least.parameters,
          groups: [named ? group.toSpliced(at, 0, id) : group],
          tables: [
            tableBytes(
              'AIPS SU',
              [
                { name: 'ID. NO.', form: '1J', rows: [[7], [3]].slice(0, rows) },
                { name: 'SOURCE', form: '8A', rows: ['3C286', '3C84'].slice(0, rows) },
                { name: 'RAEPO', form: '1D', rows: [[202.78], [49.95]].slice(0, rows) },
                { name: 'DECEPO', form: '1D', rows: [[30.5], [41.5]].slice(0, rows) },
              ],
              [],
            ),
          ],
        }),
      );
      const file = await openUvfits(path);
      await file.close();
      const { phaseCentre, object } = file.header;
      const warnings = (file.assumed ?? []).filter((line) => line.includes('AIPS SU'));
      return { at: [phaseCentre.raDeg, phaseCentre.decDeg], object, warnings };
    };
    const table = { at: [202.78, 30.5], object: '3C286' };
    // The header has the other source's position, as in files of several sources.
    assert.deepEqual(await open({ rows: 2, header: [49.95, 41.5] }), { ...table, warnings: [] });
    assert.deepEqual(await open({ rows: 1, header: [202.78 - 360, 30.5] }), { ...table, warnings: [] });
    const radians = await open({ rows: 1, header: [3.54, 30.5] });
    assert.deepEqual([radians.at, radians.object], [table.at, table.object]);
    assert.match(
      String(radians.warnings),
      /has 3C286 at 202\.7800° 30\.5000°, which is used.*3\.5400° 30\.5000°, are ignored/,
    );
    const unnamed = await open({ rows: 1, header: [10, -20], named: false });
    assert.deepEqual(unnamed.at, [10, -20]);
    assert.match(String(unnamed.warnings), /no group names its source.*3C286 elsewhere/);
    const unknown = await open({ rows: 2, header: [10, -20], id: 4 });
    assert.deepEqual(unknown.at, [10, -20]);
    assert.match(String(unknown.warnings), /is of source 4, which its AIPS SU table lacks/);
    await assert.rejects(open({ rows: 2, header: [0, 0], id: 4 }), /source 4.*lacks/);
  });
});
