import assert from 'node:assert/strict';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { checkOutputs, refuseWrittenTwice } from './outputs.js';

describe('results of one observation', () => {
  const folder = temporaryFolder('written-twice');
  const at = (name: string): string => join(folder, name);

  it('have a path each, by whatever name: in other words, by links to folders and files, of what is there and not', async () => {
    await mkdir(at('place'));
    await symlink('place', at('other-place'));
    await writeFile(at('there'), 'x');
    await link(at('there'), at('hard'));
    await symlink('there', at('soft'));
    // A link to a link to what is not there yet.
    await symlink('second', at('first'));
    await symlink('new', at('second'));
    const pairs = [
      ['a.fits', 'a.fits'],
      ['a.fits', 'place/../a.fits'],
      ['place/a.fits', 'other-place/a.fits'],
      ['there', 'hard'],
      ['soft', 'there'],
      ['first', 'new'],
    ] as const;
    for (const [x, y] of pairs) {
      const paths = ['b.fits', x, 'c.fits', y].map(at);
      await assert.rejects(refuseWrittenTwice(paths), { kind: 'refused', where: at(y) }, `${x} and ${y}`);
      await assert.rejects(checkOutputs({ paths, overwrite: true }), { where: at(y) });
    }
    await refuseWrittenTwice(['a.fits', 'place/a.fits', 'there', 'second', 'b.fits'].map(at));
  });

  it('cannot be written through links that lead in a circle', async () => {
    await symlink('round', at('and'));
    await symlink('and', at('round'));
    await assert.rejects(checkOutputs({ paths: [at('round')] }), /links that lead in a circle/);
  });
});
