/** bench prints its rows as it measures them, and keeps them when it is stopped. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { corella, program, withFolder } from './corella.js';

const words = ['bench', 'channelise', '--backend', 'reference'];
const isRow = (line: string): boolean => /^\d+ .* %/.test(line);

describe('a bench', () => {
  it('shows each row when it is measured, and ends when stopped', async () => {
    // Enough rounds that the cases after the first take much longer than a signal's delivery.
    const child = spawn(process.execPath, [program, ...words, '--rounds', '20'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.stdout.on('data', (data: Buffer) => {
      stdout += data.toString();
      if (stdout.split('\n').some(isRow)) child.kill('SIGTERM');
    });
    const by = await new Promise((resolve) => {
      child.on('close', (code, signal) => {
        resolve(signal ?? code);
      });
    });
    assert.equal(by, 'SIGTERM');
    assert.match(stdout, /^\nchannelise on reference: .*inputs 32.*\nchannels +taps .*Gsamples\/s/);
    const rows = stdout.split('\n').filter(isRow).length;
    const [, cases] = /channelise: 1 of (\d+), channels 1024, taps 8/.exec(stderr) ?? [];
    assert.ok(rows >= 1 && rows < Number(cases), `${rows} rows of ${cases} cases`);
  });

  it('gives machines what it has', async () => {
    // Stops itself as soon as it can handle a signal.
    const stop = `const wait = setInterval(() => {
      if (process.listenerCount('SIGTERM') === 0) return;
      clearInterval(wait);
      process.kill(process.pid, 'SIGTERM');
    }, 1).unref();`;
    const hook = `data:text/javascript,${encodeURIComponent(stop)}`;
    const child = spawn(process.execPath, ['--import', hook, program, ...words, '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    const by = await new Promise((resolve) => {
      child.on('close', (code, signal) => {
        resolve(signal ?? code);
      });
    });
    assert.equal(by, 'SIGTERM');
    const said = JSON.parse(stdout) as { jsonVersion: number; rows: unknown };
    assert.equal(said.jsonVersion, 1);
    assert.ok(Array.isArray(said.rows));
  });

  it('runs only the cases asked for', async () => {
    await withFolder(async (folder) => {
      const only = ['--only', 'channels=256', '--rounds', '1'];
      const ran = await corella(folder, ...words, ...only, '--json');
      assert.equal(ran.code, 0, ran.stderr);
      const { rows } = JSON.parse(ran.stdout) as { rows: { parameters: { channels: number } }[] };
      assert.ok(rows.length > 0 && rows.every(({ parameters }) => parameters.channels === 256));
      const none = await corella(folder, ...words, '--only', 'chanels=256');
      assert.equal(none.code, 1);
      assert.match(
        none.stderr,
        /corella: --only: channelise has no parameter 'chanels'; choose .*channels, taps/,
      );
    });
  });
});
