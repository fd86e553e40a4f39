/** corella sample writes the files of its pages: all or nothing, and overwrites nothing. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { samples } from '../cli/sample/recipes.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';

const documentation = new URL('../../', import.meta.url);
const skip = existsSync(new URL('docs', documentation)) ? false : 'the documentation is not here';

describe('a sample', () => {
  const folder = temporaryFolder('sample');

  it('is listed with its page, which names it or its files', { skip }, async () => {
    const { stdout } = await corellaHere(folder, 'sample', '--list');
    for (const { name, page, files } of samples) {
      assert.match(stdout, new RegExp(`^${name} `, 'm'));
      for (const one of page.split(', ')) {
        const text = await readFile(new URL(one, documentation), 'utf8');
        assert.ok(text.includes(`corella sample ${name}`) || text.includes(files[0]), `${one}: ${name}`);
      }
    }
  });

  it('appears whole, reports how it was made, and is not written over', async () => {
    const made = await corellaHere(folder, 'sample', 'dishes', '--json');
    assert.equal(made.code, 0, made.stderr);
    const said = JSON.parse(made.stdout) as { files: { path: string }[]; made: string[] };
    const names = ['dishes.csv', 'dishes.json', 'recording.sigmf-data', 'recording.sigmf-meta'];
    assert.deepEqual((await readdir(folder)).sort(), names);
    assert.deepEqual(said.files.map(({ path }) => path).sort(), names);
    assert.match(said.made[2], /^corella simulate --telescope dishes.json /);
    const again = await corellaHere(folder, 'sample', 'dishes');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /dishes.json: is there already; .*--overwrite/);
    const none = await corellaHere(folder, 'sample', 'dish');
    assert.match(
      none.stderr,
      /^corella: sample: there is no 'dish'; choose station, .*--list describes each/,
    );
  });

  it('of an hour shows the five sources it was given', async () => {
    const made = await corellaHere(folder, 'sample', 'hour', '-o', 'there');
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual(await readdir(join(folder, 'there')), ['hour.uvfits']);
    const words =
      'image there/hour.uvfits --cell 30arcsec --pixels 512 --weights briggs:0 --clean --no-picture';
    const image = await corellaHere(folder, ...words.split(' '), '--json');
    assert.equal(image.code, 0, image.stderr);
    const { peak, clean } = JSON.parse(image.stdout) as { peak: number; clean: { fluxJy: number }[] };
    // 10 + 7 + 5 + 3 + 2 Jy; the noise of the image is 0.01.
    assert.ok(Math.abs(peak - 10) < 0.1, String(peak));
    assert.ok(Math.abs(clean[0].fluxJy - 27) < 0.3, String(clean[0].fluxJy));
  });
});
