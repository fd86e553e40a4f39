/** A capture on the page of corella view: the sky of its packets, their senders, and an image made again. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import type { SendersView, Status } from '../serve/index.js';
import { program } from './corella.js';

const folder = temporaryFolder('view');

it('corella view shows a capture, and ends at a signal', async () => {
  const sent = spawnSync(
    process.execPath,
    [
      program,
      'send',
      '--simulate',
      '--stations',
      '4',
      '--rate',
      '1.6kHz',
      '--perfect',
      '--duration',
      '2s',
      '--time',
      '2026-06-21T08:00:00Z',
      '--format',
      'snap2',
      '--channels',
      '2',
      '--to',
      'c.pcap',
    ],
    { cwd: folder, encoding: 'utf8' },
  );
  assert.equal(sent.status, 0, sent.stderr);
  const child = spawn(
    process.execPath,
    [program, 'view', 'c.pcap', '--telescope', 'lwasv', '--stations', '4', '--rate', '800', '--page', '0'],
    { cwd: folder },
  );
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        said += text.toString();
        const found = /the sky is at (http:\S+);/.exec(said);
        if (found) resolve(found[1]);
      });
    child.on('exit', () => {
      reject(new Error(said));
    });
  });
  const get = async <Value>(name: string): Promise<Value> =>
    (await (await fetch(`${url}api/v1/${name}`)).json()) as Value;
  const status = await get<Status>('status');
  assert.deepEqual([status.state, status.word, status.alarms.alarms], ['showing', 'c.pcap', 0]);
  assert.ok((status.image?.number ?? 0) >= 2);
  const images = await get<readonly { time: string }[]>('images');
  assert.equal(images[0].time, '2026-06-21T08:00:00.500Z');
  const again = await fetch(`${url}api/v1/images/again?unixS=1782028800&weight=uniform`);
  assert.equal(again.status, 200);
  assert.match(Buffer.from(await again.arrayBuffer()).toString('latin1'), /"weight":"uniform"/);
  for (let packets = 0; packets === 0;) {
    // The account is updated every second.
    const sources = await fetch(`${url}api/v1/sources`);
    if (sources.ok) packets = ((await sources.json()) as SendersView).packets;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGINT');
  assert.equal(await ended, 0, said);
});

it('corella view reports why there is no image of an array that is too wide', async () => {
  const made = spawnSync(process.execPath, [program, 'sample', 'hour'], { cwd: folder, encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const child = spawn(process.execPath, [program, 'view', 'hour.uvfits', '--page', '0'], { cwd: folder });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      said += text.toString();
      if (said.includes('the sky is at')) resolve();
    });
    child.on('exit', () => {
      reject(new Error(said));
    });
  });
  assert.match(said, /no image of 20 of the integrations; .* image a field of at most 38° \(--field\)/);
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGINT');
  assert.equal(await ended, 0, said);
});
