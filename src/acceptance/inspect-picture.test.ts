/** Pictures drawn by inspect: complete, for voltages, visibilities and gains, with missing data in grey. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { decode } from 'fast-png';
import { corella, withFolder } from './corella.js';

/** The fraction of a picture with exactly this colour. */
async function share(path: string, colour: readonly number[]): Promise<number> {
  const { data, channels, width, height } = decode(await readFile(path));
  let same = 0;
  for (let at = 0; at < data.length; at += channels)
    if (colour.every((part, k) => data[at + k] === part)) same++;
  return same / (width * height);
}
const GREY = [96, 104, 116] as const;

it('inspect draws voltages, their gaps in grey, visibilities and gains', async () => {
  await withFolder(async (folder) => {
    const run = async (...words: string[]): Promise<void> => {
      const { code, stderr } = await corella(folder, ...words, '--quiet');
      assert.equal(code, 0, stderr);
    };
    const simulate = ['simulate', '--stations', '4', '--duration', '10ms'];
    await run(...simulate, '-o', 'sound.sigmf-meta');
    await run(...simulate, '--drop', '0.5', '-o', 'lossy.sigmf-meta');
    await run('correlate', 'sound.sigmf-meta', '--channels', '16', '--flag', '2-3', '-o', 'v.uvh5');
    await run('calibrate', 'v.uvh5', '--most-iterations', '1000', '-o', 'g.json');
    for (const name of ['sound.sigmf-meta', 'lossy.sigmf-meta', 'v.uvh5', 'g.json', 'g.calh5'])
      await run('inspect', name, '--picture', `${name}.png`);
    const grey = (name: string): Promise<number> => share(join(folder, `${name}.png`), GREY);
    // In a complete recording only the key of the colours is grey.
    const sound = await grey('sound.sigmf-meta');
    assert.ok(sound > 0 && sound < 0.01, `${sound}`);
    const lossy = await grey('lossy.sigmf-meta');
    assert.ok(lossy > 0.05, `${lossy}`);
    // One flagged station of four: 7 of 16 pairs in two squares that fill a third of the picture.
    const flagged = await grey('v.uvh5');
    assert.ok(flagged > 0.1 && flagged < 0.3, `${flagged}`);
    // Two inputs of eight have no gain, in two squares that fill half of the picture; both files hold the same.
    const unsolved = await grey('g.json');
    assert.ok(unsolved > 0.1 && unsolved < 0.15, `${unsolved}`);
    assert.ok(Math.abs((await grey('g.calh5')) - unsolved) < 0.001);
    const { stdout } = await corella(folder, 'inspect', 'g.calh5');
    assert.match(stdout, /format +calh5, gains\n/);
    assert.match(
      stdout,
      /solved +6 of 8 inputs in every channel\nunsolved +2 inputs: stand65:X, stand65:Y\n/,
    );
  });
});
