/** Measurement Sets of several fields and columns, through the command line. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { alteredSet, CORRECTED, noAlteredSets, SECOND_FIELD } from '../formats/testing/altered-sets.js';
import { readVisibilities } from '../formats/testing/visibility-files.js';
import { corellaHere } from './corella.js';

describe('Measurement Sets of several fields and columns', () => {
  // For each test: a file with all tests skipped still contains tests.
  const skip = noAlteredSets;
  const folder = temporaryFolder('measurement-sets');
  const corella = (words: string) => corellaHere(folder, ...words.split(' '));
  before(async () => {
    if (!skip) await alteredSet(folder, 'two.ms', [...CORRECTED, ...SECOND_FIELD]);
  });

  it('are not imaged or calibrated together unasked', { skip }, async () => {
    for (const words of ['image', 'calibrate --sources spot@60:90:5000']) {
      const { code, stderr } = await corella(`${words} two.ms --quiet`);
      assert.equal(code, 1, words);
      assert.match(stderr, /holds several targets: a place \(0\), other \(1\); choose one by name/);
    }
    const { code, stdout, stderr } = await corella(
      'image two.ms --target other --backend reference --no-picture --out one.fits --json',
    );
    assert.equal(code, 0, stderr);
    // Every command reports the assumption, not only convert.
    assert.match(stdout, /it has CORRECTED_DATA beside DATA/);
  });

  it('are read from the column that is asked for', { skip }, async () => {
    const first = async (column: string): Promise<number> => {
      const { code, stderr } = await corella(
        `convert two.ms ${column}.uvh5 --column ${column} --target 0 --quiet`,
      );
      assert.equal(code, 0, stderr);
      const { all } = await readVisibilities(join(folder, `${column}.uvh5`));
      assert.equal(all.length, 1);
      return all[0].passThrough?.means[0] ?? Number.NaN;
    };
    assert.equal(await first('CORRECTED_DATA'), 2 * (await first('DATA')));
    for (const words of [
      'image two.ms',
      'calibrate two.ms',
      'inspect two.ms',
      'apply two.ms none.json x.uvh5',
    ]) {
      const { code, stderr } = await corella(`${words} --column NONE --quiet`);
      assert.equal(code, 1);
      assert.doesNotMatch(stderr, /unknown option/);
    }
  });
});
