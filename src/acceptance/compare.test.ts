/** corella compare in scripts: exit codes and output. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';

describe('corella compare', () => {
  const folder = temporaryFolder('compare-command');
  const corella = (words: string) => corellaHere(folder, ...words.split(' '));

  before(async () => {
    for (const [name, place] of [
      ['a', 'CygA'],
      ['b', 'CygA'],
      ['c', 'CasA'],
    ])
      await writeFile(
        join(folder, `${name}.yaml`),
        `corella: 1\nsource: { recording: v.sigmf-meta }\nfront: { channels: 4 }\nproducts: [{ beams: ${name}.fil, towards: [${place}] }]\n`,
      );
    for (const words of [
      'simulate --stations 4 --rate 100kHz --duration 40ms -o v',
      'correlate v.sigmf-meta --channels 4 --integration 10ms -o a.uvh5',
      'correlate v.sigmf-meta --channels 4 --integration 10ms -o b.uvh5 --quiet',
      'correlate v.sigmf-meta --channels 4 --integration 10ms --flag stand65:Y -o c.uvh5',
      'run a.yaml',
      'run b.yaml --quiet',
      'run c.yaml',
    ]) {
      const { code, stderr } = await corella(words);
      assert.equal(code, 0, stderr);
    }
  });

  it('ends with 0 where the data are the same, whatever the history', async () => {
    const { code, stdout } = await corella('compare a.uvh5 b.uvh5');
    assert.equal(code, 0);
    assert.match(stdout, /^the same visibilities: \d+ numbers and every header card\n$/);
  });

  it('ends with 1 where they differ, and prints what, where, by how much and how many', async () => {
    const { code, stdout, stderr } = await corella('compare a.uvh5 c.uvh5');
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^flags: integration 0, channel 0, baseline stand65–stand1, product 10: 0 and 1; \d+ of \d+ differ, by at most 1/m,
    );
    assert.equal(stderr, 'corella: a.uvh5 and c.uvh5 differ\n');
    const json = await corella('compare a.uvh5 c.uvh5 --json');
    assert.equal(json.code, 1);
    const { same, differences } = JSON.parse(json.stdout) as {
      same: boolean;
      differences: { what: string }[];
    };
    assert.equal(same, false);
    assert.ok(differences.some(({ what }) => what === 'flags'));
  });

  it('compares beams by what they point at and every power', async () => {
    const same = await corella('compare a.fil b.fil');
    assert.match(same.stdout, /^the same beam: \d+ numbers/);
    const other = await corella('compare a.fil c.fil');
    assert.equal(other.code, 1);
    assert.match(other.stdout, /^powers: value 0, time 0, .*differ/m);
    assert.match(other.stdout, /sourceName/);
  });

  it('ends with 2 where they cannot be compared, or the words are wrong', async () => {
    for (const words of [
      'a.uvh5 v.sigmf-meta',
      'a.uvh5 none.uvh5',
      'a.uvh5',
      'a.uvh5 b.uvh5 --tolerance 3',
      'a.uvh5 b.uvh5 --tolerances',
    ])
      assert.equal((await corella(`compare ${words}`)).code, 2, words);
  });
});
