/** Terminal output while a command works, and images without a picture. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it, before } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere, type Ran } from './corella.js';

describe('progress', () => {
  const folder = temporaryFolder('progress');
  const corella = (words: string): Promise<Ran> => corellaHere(folder, ...words.split(' '));
  /** With standard error as a terminal. */
  async function watched(words: string): Promise<string> {
    const { isTTY } = process.stderr;
    process.stderr.isTTY = true;
    try {
      const { code, stderr } = await corella(words);
      assert.equal(code, 0, stderr);
      return stderr;
    } finally {
      process.stderr.isTTY = isTTY;
    }
  }

  before(async () => {
    for (const line of [
      'simulate --telescope eda2 --stations 6 --time 2026-03-01T12:00:00Z --sources spot@60:90:5000 --rate 100kHz --duration 60ms -o t.sigmf-meta --quiet',
      'correlate t.sigmf-meta --channels 4 --integration 10ms -o t.uvfits --quiet',
    ])
      assert.equal((await corella(line)).code, 0);
  });

  it('goes on inside calibrate, image and write', async () => {
    const calibrating = await watched('calibrate t.uvfits --sources spot@60:90:5000 -o gains.json');
    assert.match(calibrating, /read .*integrations/);
    assert.match(calibrating, /calibrate .*%.*: the model/);
    assert.match(calibrating, /calibrate .*%.*: the gains/);
    const imaging = await watched('image t.uvfits --gains gains.json');
    assert.match(imaging, /image .*%.*: I/);
    assert.match(imaging, /write .*%.*: the picture/);
    assert.match(imaging, /write .*%.*: t\.fits/);
    const wide = await watched(
      'image t.uvfits --gains gains.json --field 30 --pixels 64 --centre zenith -o wide.fits',
    );
    assert.match(wide, /write .*%.*: wide\.fits/);
  });

  it('leaves the picture out without a terminal', async () => {
    for (const [out, how] of [
      ['a', '--centre zenith'],
      ['b', '--field 30 --pixels 64 --centre zenith'],
    ] as const) {
      const { code, stdout } = await corella(`image t.uvfits --no-picture -o ${out}.fits ${how} --quiet`);
      assert.equal(code, 0);
      assert.match(stdout, new RegExp(`^${out}\\.fits: `));
      const names = await readdir(folder);
      assert.deepEqual([names.includes(`${out}.fits`), names.includes(`${out}.png`)], [true, false]);
    }
    const direct = await corella('image --direct t.sigmf-meta --channels 4 --no-picture -o d.fits --quiet');
    assert.equal(direct.code, 0);
    assert.ok(!(await readdir(folder)).includes('d.png'));
  });
});
