/** A misspelt input is reported before an existing output; results are named after their inputs. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';

const folder = temporaryFolder('inputs-first');

describe('inputs', () => {
  for (const line of [
    'correlate gone.vdif -o there.uvfits',
    'image gone.vdif -o there.fits',
    'convert gone.vdif there.uvfits',
    'fold gone.vdif --period 1s --dm 1 --picture there.png',
    'search gone.vdif --picture there.png',
    'inspect gone.vdif --picture there.png',
    'send gone.vdif --format chips --to there.pcap',
    'farm combine gone.vdif other.vdif -o there.uvh5',
    'live --from gone.vdif --telescope lwasv -o there.uvfits',
  ])
    it(`are checked before outputs: ${line}`, async () => {
      for (const ending of ['uvfits', 'fits', 'png', 'pcap', 'uvh5'])
        await writeFile(join(folder, `there.${ending}`), 'x');
      const { code, stderr } = await corellaHere(folder, ...line.split(' '));
      assert.equal(code, 1);
      assert.match(stderr, /gone\.vdif: there is no such file/);
    });
});

describe('results without a name', () => {
  it('have the name of their input', async () => {
    const run = async (line: string): Promise<void> => {
      const { code, stderr } = await corellaHere(folder, ...line.split(' '), '--quiet');
      assert.equal(code, 0, `${line}: ${stderr}`);
    };
    const made = async (): Promise<string[]> =>
      (await readdir(folder)).filter((name) => name.startsWith('sky'));
    await run('simulate --stations 8 --duration 2ms --perfect --sources spot@80:0:50000 -o sky.sigmf-meta');
    await run('correlate sky.sigmf-meta --channels 8');
    await run('channelise sky.sigmf-meta --channels 8');
    await run('calibrate sky.uvfits --sources spot@80:0:50000 --min-baseline 0 --accept-model');
    await run('image sky.uvfits --pixels 32');
    assert.deepEqual((await made()).sort(), [
      'sky-channels.sigmf-data',
      'sky-channels.sigmf-meta',
      'sky-gains.calh5',
      'sky-gains.json',
      'sky.fits',
      'sky.png',
      'sky.sigmf-data',
      'sky.sigmf-meta',
      'sky.uvfits',
    ]);
    await run('image --direct sky.sigmf-meta --channels 8 --every 1ms --no-picture');
    assert.ok((await made()).includes('sky-series.fits'));
  });
});
