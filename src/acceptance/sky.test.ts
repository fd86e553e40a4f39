/** corella sky for a short time, steered like its page does; and folders instead of files. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import type { SendersView, Status } from '../serve/index.js';
import { corella, program } from './corella.js';

describe('corella sky', () => {
  it('shows a simulated sky on a page, where losses can be switched on', async (test) => {
    const folder = temporaryFolder('sky');
    const child = spawn(
      process.execPath,
      [program, 'sky', '--stations', '9', '--rate', '4kHz', '--page', '0', '--token-file', 'token'],
      { cwd: folder },
    );
    test.after(() => child.kill('SIGKILL'));
    let said = '';
    const ended = new Promise((resolve) => child.once('close', resolve));
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.on('data', (text: Buffer) => {
        said += text.toString();
        const found = /the sky is at (http:[^\s;]+)/.exec(said);
        if (found) resolve(found[1]);
      });
      void ended.then(() => {
        reject(new Error(said));
      });
    });
    const get = async <Value>(name: string): Promise<Value | undefined> => {
      const response = await fetch(`${url}api/v1/${name}`);
      return response.ok ? ((await response.json()) as Value) : undefined;
    };
    const until = async (isSo: () => Promise<boolean>): Promise<void> => {
      while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100));
    };
    await until(async () => ((await get<Status>('status'))?.image?.number ?? 0) > 0);
    // The account is updated every second.
    await until(async () => (await get<SendersView>('sources')) !== undefined);
    const before = await get<SendersView>('sources');
    assert.deepEqual(before?.losses, { percent: 0, silent: [] });
    assert.deepEqual(
      before.senders.map(({ name, missing }) => [name, missing]),
      [
        ['board 1', 0],
        ['board 2', 0],
      ],
    );
    const headers = {
      authorization: `Bearer ${readFileSync(join(folder, 'token'), 'utf8').trim()}`,
      'content-type': 'application/json',
    };
    const lose = (body: object): Promise<Response> =>
      fetch(`${url}api/v1/losses`, { method: 'POST', headers, body: JSON.stringify(body) });
    assert.equal((await lose({ percent: 0, silent: ['board 7'] })).status, 400);
    assert.equal((await lose({ percent: 0, silent: ['board 2'] })).status, 200);
    await until(async () => ((await get<SendersView>('sources'))?.senders[1].missing ?? 0) > 0);
    assert.equal((await get<SendersView>('sources'))?.senders[0].missing, 0);
    child.kill('SIGINT');
    assert.equal(await ended, 0, said);
  });
});

describe('a folder in place of a file', () => {
  it('is inspected file by file; one of a demo with other options is kept', async () => {
    const folder = temporaryFolder('folder');
    const demo = [
      'demo',
      '--stations',
      '5',
      '--channels',
      '2',
      '--spectra',
      '64',
      '--pixels',
      '64',
      '--noise',
      '100',
    ];
    const first = await corella(folder, ...demo, '--json');
    const { calibrated, gains } = JSON.parse(first.stdout) as {
      calibrated: boolean;
      gains: { rmsRelativeError: number };
    };
    assert.equal(calibrated, gains.rmsRelativeError < 0.25);
    assert.equal(first.code, calibrated ? 0 : 1, first.stderr);
    const { stdout, code } = await corella(folder, 'inspect', 'first-light', '--json');
    assert.equal(code, 0);
    const { files, others } = JSON.parse(stdout) as { files: { file: string }[]; others: string[] };
    assert.deepEqual(
      files.map(({ file }) => file),
      [
        'direct.fits',
        'gains.calh5',
        'gains.json',
        'image.fits',
        'visibilities.uvfits',
        'visibilities.uvh5',
        'voltages.sigmf-meta',
      ],
    );
    assert.deepEqual(others, ['summary.json']);
    const drawn = await corella(folder, 'inspect', 'first-light', '--picture', 'x.png');
    assert.match(drawn.stderr, /--picture: is for one file, and first-light is a folder/);
    const other = await corella(folder, ...demo, '--seed', '2');
    assert.match(
      other.stderr,
      /first-light: holds the demo of other options; name another folder with --out/,
    );
    assert.notEqual(other.code, 0);
  });

  it('reports that its calibration failed', async () => {
    const folder = temporaryFolder('failed');
    const words = [
      '--stations',
      '4',
      '--channels',
      '2',
      '--spectra',
      '16',
      '--pixels',
      '64',
      '--noise',
      '1e7',
    ];
    const { stdout, code } = await corella(folder, 'demo', ...words);
    assert.equal(code, 1);
    assert.match(stdout, /THE CALIBRATION FAILED/);
  });
});
