/** An observation of packets: several products at once, each with the same data as the one made alone. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { runLive } from '../live/index.js';
import { readObservation } from '../observation/index.js';
import type { Steering } from '../live/index.js';
import { corellaHere } from './corella.js';

const folder = temporaryFolder('live-observation');
const START = '2026-06-21T04:00:00Z';
const products = {
  visibilities: '{ visibilities: run.uvh5, integration: 200ms, align: utc }',
  images: '{ images: sky.fits, every: 100ms, align: utc, picture: false }',
  direct: '{ images: direct.fits, every: 50ms, method: direct, field: 20, align: utc, picture: false }',
  spectra: '{ spectra: ch.sigmf-meta }',
} as const;

const ran = async (...words: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await corellaHere(folder, ...words);
  assert.equal(code, 0, `corella ${words.join(' ')}\n${stderr}${stdout}`);
  return stdout;
};

const sources = {
  capture: '{ capture: lost.pcap, rate: 25kHz }',
  recording: '{ recording: sky.sigmf-meta }\nfront: { channels: 4, bits: 4 }',
} as const;

const write = (
  name: string,
  source: string,
  made: readonly string[],
  more = 'flags: { inputs: [3] }\n',
): Promise<void> =>
  writeFile(
    join(folder, name),
    `corella: 1\nsource: ${source}\ntelescope: lwasv\nstations: 4\n${more}products:\n${made.map((one) => `  - ${one}\n`).join('')}`,
  );

const same = (x: string, y: string): Promise<string> => ran('compare', x, y);
const filesIn = async (name: string): Promise<string[]> =>
  (await readdir(join(folder, name))).filter((one) => /\.(?:uvh5|fits|sigmf-meta)$/.test(one)).sort();

before(async () => {
  const sky = ['simulate', '--stations', '4', '--rate', '100kHz', '--duration', '410ms', '--time', START];
  await ran(...sky, '-o', 'sky');
  await ran('channelise', 'sky.sigmf-meta', '--channels', '4', '--bits', '4', '-o', 'nibbles');
  const lossy = ['--to', 'lost.pcap', '--truth', 'arrived', '--lose', '2%', '--seed', '5'];
  await ran('send', 'nibbles.sigmf-meta', '--format', 'snap2', ...lossy);
});

describe('several products at once', () => {
  for (const [kind, source] of Object.entries(sources))
    it(`of a ${kind}${kind === 'capture' ? ' with 2 % of the packets lost' : ''} have the data of each made alone`, async () => {
      await write('all.yaml', source, Object.values(products));
      await ran('run', 'all.yaml', '--into', `${kind}-all`, '--backend', 'cpu');
      for (const [name, product] of Object.entries(products)) {
        await write(`${name}.yaml`, source, [product]);
        await ran('run', `${name}.yaml`, '--into', `${kind}-alone`, '--backend', 'cpu');
      }
      const names = await filesIn(`${kind}-all`);
      assert.deepEqual(names, ['ch.sigmf-meta', 'direct.fits', 'run.uvh5', 'sky.fits']);
      assert.deepEqual(names, await filesIn(`${kind}-alone`));
      for (const name of names) await same(`${kind}-all/${name}`, `${kind}-alone/${name}`);
    });

  it("are made again from a product's own observation, byte for byte", async () => {
    const other = '{ visibilities: run.uvfits, integration: 200ms, align: utc }';
    await write('other.yaml', sources.capture, [other]);
    await ran('run', 'other.yaml', '--into', 'capture-all', '--backend', 'cpu');
    for (const name of ['run.uvh5', 'run.uvfits', 'sky.fits', 'direct.fits', 'ch.sigmf-meta']) {
      const plan = await ran('inspect', `capture-all/${name}`, '--plan');
      assert.match(plan, /capture: lost\.pcap/);
      await writeFile(join(folder, 'again.yaml'), plan);
      const into = `again-${name.replace('.', '-')}`;
      await ran('run', 'again.yaml', '--into', into, '--backend', 'cpu');
      const files = name === 'ch.sigmf-meta' ? [name, 'ch.sigmf-data'] : [name];
      for (const file of files) {
        const [once, again] = await Promise.all(
          ['capture-all', into].map((one) => readFile(join(folder, one, file))),
        );
        assert.ok(once.equals(again), `${file} differs`);
      }
    }
  });
});

/** Steers at the first integration, as a page would. */
async function steered(path: string, into: string, steer: (steering: Steering) => void): Promise<void> {
  const { observation } = await readObservation(join(folder, path));
  let steering: Steering | undefined;
  let count = 0;
  const capture = join(folder, observation.source.capture ?? '');
  await runLive(
    { ...observation, source: { ...observation.source, capture } },
    {
      ...{ version: '0.1.0', into: join(folder, into) },
      ...{ say: () => undefined, onEvent: () => undefined, onFile: () => undefined },
      openPage: (input) =>
        Promise.resolve({
          close: () => Promise.resolve(),
          page: {
            ...{ input, look: () => Promise.resolve(), file: () => undefined },
            gainsEvents: { solved: () => undefined, failed: () => undefined },
            begin: (_, { live }) => {
              steering = live.steering;
            },
            watcher: {
              session: () => undefined,
              image: () => undefined,
              integration: () => {
                if (count++ === 0 && steering) steer(steering);
              },
            },
          },
        }),
    },
  );
}

describe('a run that was steered', () => {
  const by = { who: 'an observer', authenticated: true };
  it('is made again from its capture and its log', async () => {
    const product = '{ visibilities: run.uvh5, integration: 50ms, align: utc }';
    await write('steer.yaml', sources.capture, [product], 'machine: { backend: cpu }\n');
    await steered('steer.yaml', 'steered', (steering) => {
      steering.make({ flags: { inputs: [2, 5], flag: true } }, by);
      const cancelled = steering.make({ flags: { inputs: [6], flag: true } }, by);
      steering.make({ integrationS: 0.1 }, by, parseInstant('2026-06-21T04:00:00.15Z'));
      assert.throws(() => steering.make({ integrationS: 86_400 }, by), /longer than an hour/);
      steering.cancel(cancelled.id, by);
    });
    const made = await filesIn('steered');
    assert.equal(made.length, 2, 'a new file begins with the longer integrations');
    const log = (await readFile(join(folder, 'steered', 'run.changes.jsonl'), 'utf8')).trim().split('\n');
    assert.equal(log.length, 5, log.join('\n'));
    const [, first] = log.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual([first.who, first.authenticated, first.epoch], ['an observer', true, 0]);
    assert.equal(typeof first.fromSpectrum, 'number');
    const plan = await ran('inspect', 'steered/run.uvh5', '--plan');
    assert.match(plan, /log: run\.changes\.jsonl/);
    const here = plan.replace('log: run', 'log: steered/run');
    await writeFile(join(folder, 'again.yaml'), here);
    await ran('run', 'again.yaml', '--into', 'replayed', '--backend', 'cpu');
    assert.deepEqual(await filesIn('replayed'), made);
    for (const name of made) await same(`steered/${name}`, `replayed/${name}`);
    await writeFile(join(folder, 'plain.yaml'), plan.replace(/^log:.*\n/m, ''));
    await ran('run', 'plain.yaml', '--into', 'unsteered', '--backend', 'cpu');
    const differ = await corellaHere(folder, 'compare', 'steered/run.uvh5', 'unsteered/run.uvh5');
    assert.equal(differ.code, 1, 'the changes change the data');
  });
});
