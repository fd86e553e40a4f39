/** Work distributed by files, without a server, as under Slurm. */
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openFile } from '../formats/index.js';
import { corella, corellaHere, withFolder } from './corella.js';

interface Submitted {
  readonly jobs: number;
  readonly put: number;
}

async function integrationsIn(path: string) {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error('no visibilities');
    const all = [];
    for await (const one of file.integrations('own'))
      all.push({ ...one.start, durationS: one.durationS, sums: [...one.visibilities], counts: [...one.counts], flags: [...one.flaggedInputs] }); // prettier-ignore
    return all;
  } finally {
    await file.close();
  }
}

const well = async (folder: string, ...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await corellaHere(folder, ...words);
  assert.equal(code, 0, stderr);
  return stdout;
};

/** Serves the folder's files under /data, by ranges, like a web server. */
async function served(
  folder: string,
  work: (url: string, version: { etag: string }) => Promise<void>,
): Promise<void> {
  const version = { etag: '"first"' };
  const server = createServer((request, response) => {
    void (async () => {
      const name = /^\/data\/([\w.-]+)$/.exec(request.url ?? '')?.[1] ?? 'none';
      const bytes = await readFile(join(folder, name)).catch(() => undefined);
      const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
      if (!bytes || !range) {
        response.writeHead(bytes ? 200 : 404).end(bytes);
        return;
      }
      const [first, last] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)];
      const head = { 'content-range': `bytes ${first}-${last}/${bytes.length}`, etag: version.etag };
      response.writeHead(206, head).end(bytes.subarray(first, last + 1));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, version);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('a farm of files', () => {
  it('works on the recording that was submitted alone: a copy of it elsewhere, but no other of its name', () =>
    withFolder(async (folder) => {
      const simulate = 'simulate --stations 3 --rate 100kHz --duration 60ms --overwrite -o';
      for (const at of ['here', 'there', 'later']) await mkdir(join(folder, at));
      await well(folder, ...simulate.split(' '), 'here/sky');
      for (const end of ['meta', 'data'])
        await writeFile(join(folder, `there/sky.sigmf-${end}`), await readFile(join(folder, `here/sky.sigmf-${end}`))); // prettier-ignore
      await well(folder, ...simulate.split(' '), 'later/sky', '--time', '2026-01-01T00:00:00Z');
      const submit = 'farm submit correlate here/sky.sigmf-meta --channels 8 --integration 10ms --root here --job-time 30ms -o w.uvh5'; // prettier-ignore
      await well(folder, ...submit.split(' '));
      const job = ['worker', '--backend', 'reference', '--job', 'w.uvh5.farm/jobs/1.json', '--root'];
      await well(folder, ...job, 'there', '-o', 'result');
      const later = await corellaHere(folder, ...job, 'later');
      assert.match(
        later.stderr,
        /not the recording that was submitted: start 2026-01-01T00:00:00\.0+Z, not 20/,
      );
      // In the middle of the file; its length is unchanged.
      const data = await readFile(join(folder, 'there/sky.sigmf-data'));
      data[data.length >> 1] ^= 1;
      await writeFile(join(folder, 'there/sky.sigmf-data'), data);
      const other = await corellaHere(folder, ...job, 'there');
      assert.match(other.stderr, /sky\.sigmf-data: holds something else than when it was submitted/);
      await writeFile(join(folder, 'there/sky.sigmf-data'), data.subarray(0, data.length - 12));
      assert.match((await corellaHere(folder, ...job, 'there')).stderr, /samples 5999, not 6000/);
    }));

  it('correlates as one process does, bit for bit, and reports what is missing', () =>
    withFolder(async (folder) => {
      const how = '--channels 8 --integration 10ms --flag 3 --values sums --backend reference'.split(' ');
      await mkdir(join(folder, 'data'));
      await well(
        folder,
        ...'simulate --stations 4 --rate 50kHz --duration 60ms --drop 0.05 -o data/sky'.split(' '),
      );
      await well(folder, 'correlate', 'data/sky.sigmf-meta', ...how, '-o', 'one.uvh5');
      const submit = ['farm', 'submit', 'correlate', 'data/sky.sigmf-meta', ...how, '-o', 'farm.uvh5'];
      const cut = ['--job-time', '8ms', '--job-channels', '3', '--root', 'data', '--json'];
      const { jobs } = JSON.parse(await well(folder, ...submit, ...cut)) as Submitted;
      assert.ok(jobs > 15, `${jobs} jobs`);
      // In any order, one of them twice, one in a separate process.
      for (let n = jobs - 1; n >= 2; n--)
        await well(
          folder,
          'worker',
          '--job',
          `farm.uvh5.farm/jobs/${n}.json`,
          '--root',
          'data',
          '--backend',
          'reference',
        );
      const early = await corellaHere(folder, 'farm', 'collect', 'farm.uvh5.farm');
      assert.equal(early.code, 1);
      assert.match(early.stderr, new RegExp(`2 of ${jobs} jobs have no result yet: 0-1`));
      assert.equal((await corella(folder, 'worker', '--job', 'farm.uvh5.farm/jobs/0.json', '--root', 'data', '--backend', 'reference')).code, 0); // prettier-ignore
      await well(
        folder,
        'worker',
        '--job',
        'farm.uvh5.farm/jobs/1.json',
        '--root',
        'data',
        '--backend',
        'reference',
      );
      const twice = await well(
        folder,
        'worker',
        '--job',
        'farm.uvh5.farm/jobs/1.json',
        '--root',
        'data',
        '--json',
      );
      assert.equal((JSON.parse(twice) as { isNew: boolean }).isNew, false);
      await well(folder, 'farm', 'collect', 'farm.uvh5.farm');
      const [one, farm] = await Promise.all(
        ['one.uvh5', 'farm.uvh5'].map((name) => integrationsIn(join(folder, name))),
      );
      assert.ok(one.length >= 5);
      assert.deepEqual(farm, one);
      const again = JSON.parse(await well(folder, ...submit, ...cut, '--overwrite')) as Submitted;
      assert.deepEqual([again.jobs, again.put], [jobs, 0]);
    }));

  it('channelises as one process does, byte for byte', () =>
    withFolder(async (folder) => {
      await well(
        folder,
        ...'simulate --stations 3 --rate 100kHz --duration 80ms --drop 0.05 -o sky'.split(' '),
      );
      const how = '--channels 8 --backend reference'.split(' ');
      await well(folder, 'channelise', 'sky.sigmf-meta', ...how, '-o', 'one.sigmf-meta');
      const submit = ['farm', 'submit', 'channelise', 'sky.sigmf-meta', ...how, '-o', 'farm.sigmf-meta'];
      const { jobs } = JSON.parse(await well(folder, ...submit, '--json')) as Submitted;
      for (let n = 0; n < jobs; n++)
        await well(
          folder,
          'worker',
          '--job',
          `farm.sigmf-meta.farm/jobs/${n}.json`,
          '--root',
          '.',
          '--backend',
          'reference',
        );
      await well(folder, 'farm', 'collect', 'farm.sigmf-meta.farm');
      const [one, farm] = await Promise.all(
        ['one', 'farm'].map((name) => readFile(join(folder, `${name}.sigmf-data`))),
      );
      assert.ok(one.equals(farm));
      const metas = await Promise.all(
        ['one', 'farm'].map(async (name) => {
          const text = await readFile(join(folder, `${name}.sigmf-meta`), 'utf8');
          const meta = JSON.parse(text) as { global: Record<string, unknown> };
          delete meta.global['corella:history'];
          return meta;
        }),
      );
      assert.deepEqual(metas[1], metas[0]);
    }));

  it('takes fixed delays, a time range, flags and channels that are kept', () =>
    withFolder(async (folder) => {
      await well(
        folder,
        ...'simulate --stations 4 --rate 50kHz --duration 60ms --drop 0.05 -o sky'.split(' '),
      );
      const text = await readFile(join(folder, 'sky.sigmf-meta'), 'utf8');
      const [, start] = /"core:datetime": *"([^"]+)"/.exec(text) ?? [];
      const at = (ms: number): string => new Date(Date.parse(start) + ms).toISOString();
      await writeFile(
        join(folder, 'cables.json'),
        JSON.stringify({ fixed: [{ input: 1, delayS: 0.00031 }, { input: 5, delayS: -0.000177 }] }), // prettier-ignore
      );
      const how = [
        ...'--channels 8 --integration 10ms --delays cables.json --keep-channels 1-6 --flag 3,channels=2'.split(
          ' ',
        ),
        '--times',
        `${at(7)}..${at(55)}`,
        '--values',
        'sums',
        '--backend',
        'reference',
      ];
      await well(folder, 'correlate', 'sky.sigmf-meta', ...how, '-o', 'one.uvh5');
      const submit = ['farm', 'submit', 'correlate', 'sky.sigmf-meta', ...how, '-o', 'farm.uvh5'];
      const cut = ['--job-time', '8ms', '--job-channels', '3', '--json'];
      const { jobs } = JSON.parse(await well(folder, ...submit, ...cut)) as Submitted;
      assert.ok(jobs > 12, `${jobs} jobs`);
      for (let n = 0; n < jobs; n++)
        await well(folder, 'worker', '--job', `farm.uvh5.farm/jobs/${n}.json`, '--root', '.', '--backend', 'reference'); // prettier-ignore
      await well(folder, 'farm', 'collect', 'farm.uvh5.farm');
      const [one, farm] = await Promise.all(
        ['one.uvh5', 'farm.uvh5'].map((name) => integrationsIn(join(folder, name))),
      );
      assert.ok(one.length >= 4);
      assert.deepEqual(farm, one);
    }));

  it('images as one process does, pixel for pixel, with the plans it would have had', () =>
    withFolder(async (folder) => {
      await well(
        folder,
        ...'simulate --stations 6 --rate 40kHz --duration 120ms --drop 0.05 -o sky'.split(' '),
      );
      const how = '--channels 4 --every 10ms --pixels 48 --sheet --backend reference'.split(' ');
      await well(folder, 'image', '--direct', 'sky.sigmf-meta', ...how, '-o', 'one.fits');
      const submit = ['farm', 'submit', 'image', '--direct', 'sky.sigmf-meta', ...how, '-o', 'farm.fits'];
      const { jobs } = JSON.parse(await well(folder, ...submit, '--job-time', '25ms', '--json')) as Submitted;
      assert.equal(jobs, 6);
      for (let n = jobs - 1; n >= 0; n--)
        await well(folder, 'worker', '--job', `farm.fits.farm/jobs/${n}.json`, '--root', '.', '--backend', 'reference'); // prettier-ignore
      await well(folder, 'farm', 'collect', 'farm.fits.farm');
      for (const ending of ['.png', '-sheet.png']) {
        const [one, farm] = await Promise.all(
          ['one', 'farm'].map((name) => readFile(join(folder, `${name}${ending}`))),
        );
        assert.ok(one.equals(farm), ending);
      }
      // The whole FITS except its history, which names the commands.
      const [one, farm] = await Promise.all(
        ['one', 'farm'].map(async (name) => {
          const bytes = await readFile(join(folder, `${name}.fits`));
          const cards = bytes.toString('latin1').match(/.{80}/gs) ?? [];
          return cards.filter((card) => !card.startsWith('HISTORY') && card.trim() !== '');
        }),
      );
      assert.ok(one.length > 100);
      assert.deepEqual(farm, one);
    }));

  it('reads a recording by HTTP ranges, under the addresses it was given, and notices one that has changed', () =>
    withFolder(async (folder) => {
      await well(folder, ...'simulate --stations 3 --rate 50kHz --duration 40ms -o sky'.split(' '));
      const how = '--channels 4 --integration 10ms --values sums --backend reference'.split(' ');
      await well(folder, 'correlate', 'sky.sigmf-meta', ...how, '-o', 'one.uvh5');
      await served(folder, async (url, version) => {
        const submit = [
          'farm',
          'submit',
          'correlate',
          `${url}/data/sky.sigmf-meta`,
          ...how,
          '-o',
          'farm.uvh5',
        ];
        const { jobs } = JSON.parse(
          await well(folder, ...submit, '--job-time', '20ms', '--json'),
        ) as Submitted;
        assert.equal(jobs, 2);
        const worker = (n: number, root: string) =>
          corellaHere(folder, 'worker', '--job', `farm.uvh5.farm/jobs/${n}.json`, '--root', root, '--backend', 'reference'); // prettier-ignore
        for (const root of ['.', `${url}/other`])
          assert.match((await worker(0, root)).stderr, /is outside .*where this process may read/);
        assert.equal((await worker(0, `${url}/data`)).code, 0);
        version.etag = '"other"';
        assert.match((await worker(1, `${url}/data`)).stderr, /has changed since it was opened/);
        version.etag = '"first"';
        assert.equal((await worker(1, `${url}/data`)).code, 0);
        await well(folder, 'farm', 'collect', 'farm.uvh5.farm');
      });
      const [one, farm] = await Promise.all(
        ['one.uvh5', 'farm.uvh5'].map((name) => integrationsIn(join(folder, name))),
      );
      assert.deepEqual(farm, one);
    }));

  it('reads only under its roots, wherever links lead', () =>
    withFolder(async (folder) => {
      for (const name of ['open', 'secret']) await mkdir(join(folder, name));
      await well(folder, ...'simulate --stations 2 --rate 50kHz --duration 20ms -o secret/sky'.split(' '));
      await writeFile(
        join(folder, 'open', 'sky.sigmf-meta'),
        await readFile(join(folder, 'secret', 'sky.sigmf-meta')),
      );
      await symlink(join(folder, 'secret', 'sky.sigmf-data'), join(folder, 'open', 'sky.sigmf-data'));
      await well(
        folder,
        'farm',
        'submit',
        'correlate',
        'secret/sky.sigmf-meta',
        '-o',
        'far.uvh5',
        '--channels',
        '4',
      );
      await well(
        folder,
        'farm',
        'submit',
        'correlate',
        'open/sky.sigmf-meta',
        '-o',
        'link.uvh5',
        '--channels',
        '4',
      );
      for (const name of ['far', 'link']) {
        const { code, stderr } = await corella(
          folder,
          'worker',
          '--job',
          `${name}.uvh5.farm/jobs/0.json`,
          '--root',
          'open',
        );
        assert.equal(code, 1);
        assert.match(stderr, /is outside .*open.*--root/);
      }
      assert.match(
        (await corella(folder, 'worker', '--job', 'far.uvh5.farm/jobs/0.json')).stderr,
        /--root: is missing/,
      );
    }));
});
