/** An observation of packets: several products at once, each with the same data as when made alone. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFilterbank } from '../formats/index.js';
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

/** Steers at the first integration, like a page. */
async function steered(path: string, into: string, steer: (steering: Steering) => void): Promise<void> {
  const { observation } = await readObservation(join(folder, path));
  let steering: Steering | undefined;
  let count = 0;
  const { capture, recording } = observation.source;
  const source =
    typeof capture === 'string'
      ? { ...observation.source, capture: join(folder, capture) }
      : { recording: join(folder, String(recording)) };
  await runLive(
    { ...observation, source },
    {
      version: '0.1.0',
      into: join(folder, into),
      say: () => undefined,
      onEvent: () => undefined,
      onFile: () => undefined,
      openPage: (input) =>
        Promise.resolve({
          close: () => Promise.resolve(),
          page: {
            input,
            look: () => Promise.resolve(),
            file: () => undefined,
            gainsEvents: { solved: () => undefined, failed: () => undefined },
            arrived: () => undefined,
            begin: ({ shown }) => {
              steering = shown.steering;
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

  const places = ['"az 30 el 70"', '"az 200 el 60"', '"az 90 el 50"', 'Cyg A'];
  const sourcesOfBeams = { capture: sources.capture, recording: '{ recording: arrived.sigmf-meta }' };
  for (const [kind, source] of Object.entries(sourcesOfBeams))
    it(`of a ${kind} changes, adds and stops beams; those that stay have no gap, and the log makes all again`, async () => {
      const visibilities = '{ visibilities: run.uvh5, integration: 50ms, align: utc }';
      const beams = (path: string, towards: readonly string[], more = ''): string =>
        `{ beams: ${path}, towards: [${towards.join(', ')}]${more} }`;
      const two = places.slice(0, 2);
      const more = 'machine: { backend: cpu }\n';
      await write(
        'beams.yaml',
        ...([
          source,
          [visibilities, beams('b.fil', two, ', every: 1ms, weights: float'), beams('v.vdif', two)],
          more,
        ] as const),
      );
      const folderOf = (name: string): string => `beams-${kind}-${name}`;
      await steered('beams.yaml', folderOf('steered'), (steering) => {
        const later = parseInstant('2026-06-21T04:00:00.25Z');
        const change = (beams: object, product = 1): Parameters<Steering['make']>[0] =>
          ({ beams: { product, ...beams } }) as Parameters<Steering['make']>[0];
        steering.make(change({ add: ['az 90 el 50', 'Cyg A'] }), by);
        steering.make(change({ stop: ['az 200 el 60'] }), by, later);
        steering.make(change({ towards: ['az 30 el 70', 'az 90 el 50'] }, 2), by, later);
        const cancelled = steering.make(change({ add: ['Cas A'] }, 2), by, later);
        steering.cancel(cancelled.id, by);
        for (const [wrong, why] of [
          [{ add: ['Nowhere'] }, /'Nowhere' is no source/],
          [{ add: ['For A'] }, /For A is below the horizon/],
          [{ add: ['az 30 el 70'] }, /a beam towards az 30 el 70 already/],
          [{ stop: ['Sun'] }, /no beam towards Sun/],
        ] as const)
          assert.throws(() => steering.make(change(wrong), by), why);
        assert.throws(() => steering.make(change({ add: ['Sun'] }, 0), by), /product 0 makes no beams/);
      });
      const made = (await readdir(join(folder, folderOf('steered')))).filter((one) =>
        /\.(?:fil|vdif|json)$/.test(one),
      );
      const wanted = ['b-1', 'b-2', 'b-3', 'b-4', 'b-samples'].map((one) => `${one}.fil`);
      assert.deepEqual(
        made.sort(),
        [...wanted, 'b.fil.json', 'v-1.vdif', 'v-2.vdif', 'v-3.vdif', 'v-samples.fil', 'v.vdif.json'].sort(),
      );
      // Repeated from the log.
      assert.match(
        await ran('inspect', `${folderOf('steered')}/b-1.fil`, '--plan'),
        /log: run\.changes\.jsonl/,
      );
      await write(
        'beams-again.yaml',
        ...([
          source,
          [visibilities, beams('b.fil', two, ', every: 1ms, weights: float'), beams('v.vdif', two)],
          `${more}log: ${folderOf('steered')}/run.changes.jsonl\n`,
        ] as const),
      );
      await ran('run', 'beams-again.yaml', '--into', folderOf('again'), '--backend', 'cpu');
      const bytes = (name: string, file: string): Promise<Buffer> =>
        readFile(join(folder, folderOf(name), file));
      for (const name of made.filter((one) => !one.endsWith('.json')))
        assert.ok((await bytes('steered', name)).equals(await bytes('again', name)), `${name} differs`);
      // A run with all of them from the start.
      await write(
        'beams-all.yaml',
        ...([source, [visibilities, beams('b.fil', places, ', every: 1ms, weights: float')], more] as const),
      );
      await ran('run', 'beams-all.yaml', '--into', folderOf('all'), '--backend', 'cpu');
      const values = async (name: string, file: string): Promise<Float32Array> => {
        const opened = await openFilterbank(join(folder, folderOf(name), file));
        const read = await opened.read(0, opened.values);
        await opened.close();
        return read;
      };
      const whole = (await values('all', 'b-1.fil')).length;
      assert.deepEqual(await values('steered', 'b-1.fil'), await values('all', 'b-1.fil'));
      const stopped = await values('steered', 'b-2.fil');
      assert.ok(
        stopped.length > 0.5 * whole && stopped.length < 0.7 * whole,
        `${stopped.length} of ${whole}`,
      );
      assert.deepEqual(stopped, (await values('all', 'b-2.fil')).subarray(0, stopped.length));
      for (const file of ['b-3.fil', 'b-4.fil']) {
        const added = await values('steered', file);
        assert.ok(added.length > 0.7 * whole && added.length < 0.9 * whole, `${added.length} of ${whole}`);
        assert.deepEqual(added, (await values('all', file)).subarray(whole - added.length));
      }
      assert.deepEqual(await values('steered', 'b-samples.fil'), await values('all', 'b-samples.fil'));
    });
});
