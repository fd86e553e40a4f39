/** The library in programs: the programs of docs/library.md, unchanged, and observations from a program. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  calibrate,
  image,
  inspect,
  observe,
  open,
  write,
  type Integration,
  type VisibilityHeader,
} from '../index.js';
import { corella, withFolder } from './corella.js';
import { differences } from './on-a-card.js';

const page = new URL('../../docs/library.md', import.meta.url);
const skip = existsSync(page) ? false : 'the documentation is not here';

const simulated = async (folder: string): Promise<void> => {
  const made = await corella(folder, 'simulate', '--stations', '12', '--rate', '400kHz', '--duration', '12ms', '--quiet'); // prettier-ignore
  assert.equal(made.code, 0, made.stderr);
};

describe('docs/library.md', { skip }, () => {
  const programs = skip === false ? [...readFileSync(page, 'utf8').matchAll(/```ts\n(.*?)```/gs)] : [];
  const here = (name: string): string => new URL(`../${name}.js`, import.meta.url).href;

  for (const [number, pictures, said] of [
    [
      0,
      ['sky-0.png', 'sky-1.png', 'sky-2.png'],
      /^3 images of \d+ spectra, 0 samples missing; visibilities.uvh5\n$/,
    ],
    [1, [], /^(4992 products\n){3}3 integrations of \d+ spectra\n$/],
  ] as const)
    it(`program ${number + 1} makes its products`, async () => {
      await withFolder(async (folder) => {
        await simulated(folder);
        const program = programs[number][1]
          .replace("'corella'", `'${here('index')}'`)
          .replace("'corella/stages'", `'${here('library/stages')}'`);
        await writeFile(join(folder, 'program.mjs'), program);
        const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder });
        // 12 ms minus the filter's length are two whole integrations of 5 ms, and a remainder.
        assert.match(stdout, said);
        const made = (await readdir(folder)).filter((name) => name.endsWith('.png'));
        assert.deepEqual(made.sort(), pictures);
      });
    });
});

const integrationsOf = async (path: string): Promise<Integration[]> => {
  const file = await open(path);
  if (file.kind !== 'visibilities') throw new Error('no visibilities');
  const found: Integration[] = [];
  for await (const one of file.integrations()) found.push(one);
  await file.close();
  return found;
};

it('inspect reports the same as the command', async () => {
  await withFolder(async (folder) => {
    await simulated(folder);
    const path = join(folder, 'voltages.sigmf-meta');
    const { json, lines } = await inspect(path);
    const asJson = await corella(folder, 'inspect', path, '--json');
    assert.deepEqual(
      { jsonVersion: 1, ...(JSON.parse(JSON.stringify(json)) as object), messages: [] },
      JSON.parse(asJson.stdout),
    );
    assert.deepEqual(lines, (await corella(folder, 'inspect', path)).stdout.trimEnd().split('\n'));
    await assert.rejects(inspect(join(folder, 'nothing.uvh5')), /nothing\.uvh5/);
  });
});

describe('observe', () => {
  it('has the messages of a command in its outcome: old elements of a satellite', async () => {
    await withFolder(async (folder) => {
      await simulated(folder);
      const at = (name: string): string => join(folder, name);
      const recording = await open(at('voltages.sigmf-meta'));
      if (recording.kind !== 'voltages') throw new Error('no voltages');
      const { unixSeconds } = recording.start;
      await recording.close();
      const still = {
        OBJECT_NAME: 'STILL 1',
        NORAD_CAT_ID: 90001,
        EPOCH: new Date(1000 * (unixSeconds - 40 * 86_400)).toISOString().replace('Z', ''),
        MEAN_MOTION: 1.00273791,
        ECCENTRICITY: 0,
        INCLINATION: 0.01,
        RA_OF_ASC_NODE: 0,
        ARG_OF_PERICENTER: 0,
        MEAN_ANOMALY: 300,
        BSTAR: 0,
        MEAN_MOTION_DOT: 0,
        MEAN_MOTION_DDOT: 0,
      };
      await writeFile(at('orbits.json'), JSON.stringify([still]));
      const notes: string[] = [];
      const run = observe(
        {
          corella: 1,
          source: { recording: at('voltages.sigmf-meta') },
          orbits: at('orbits.json'),
          products: [{ images: at('sky.fits'), pixels: 64, sources: 'STILL 1' }],
        },
        { onNote: (line) => notes.push(line) },
      );
      const { messages } = await run.done;
      const old = messages.find(({ code }) => code === 'sky.orbits-old');
      assert.deepEqual(old?.data, { satellites: ['STILL 1'] });
      assert.ok(messages.some(({ code }) => code === 'sky.orbits-used'));
      assert.equal(notes.filter((line) => line === old.text).length, 1);
    });
  });

  it('hands over integrations with the values of a file, of 4-bit channelised data too', async () => {
    await withFolder(async (folder) => {
      await simulated(folder);
      const at = (name: string): string => join(folder, name);
      const spectra = observe({
        corella: 1,
        source: { recording: at('voltages.sigmf-meta') },
        front: { channels: 16, bits: 4 },
        products: [{ spectra: at('four.sigmf-meta') }],
      });
      assert.deepEqual((await spectra.done).failures, []);
      const made = await corella(folder, 'correlate', 'four.sigmf-meta', '-o', 'by-command.uvh5', '--integration', '4ms'); // prettier-ignore
      assert.equal(made.code, 0, made.stderr);
      const run = observe({
        corella: 1,
        source: { recording: at('four.sigmf-meta') },
        products: [{ visibilities: null, integration: '4ms' }, { images: null }],
      });
      const handed: Integration[] = [];
      let header: VisibilityHeader | undefined;
      let images = 0;
      for await (const item of run) {
        if (item.kind === 'visibilities') {
          handed.push(structuredClone(item.integration));
          ({ header } = item);
        }
        if (item.kind === 'images') {
          images++;
          await write(at('sky.fits'), item);
        }
      }
      await run.done;
      assert.equal(images, 1);
      // Written by the program and by the command: the same data.
      assert.ok(header);
      await write(at('by-program.uvh5'), { integrations: handed, header });
      const compared = await corella(folder, 'compare', 'by-program.uvh5', 'by-command.uvh5');
      assert.equal(compared.code, 0, compared.stdout + compared.stderr);
      assert.equal((await integrationsOf(at('by-program.uvh5'))).length, handed.length);
      assert.ok(handed.length > 1);
    });
  });

  it('calibrates and images visibilities, as the commands do', async () => {
    await withFolder(async (folder) => {
      await simulated(folder);
      const at = (name: string): string => join(folder, name);
      for (const words of [
        'correlate voltages.sigmf-meta -o v.uvh5 --channels 16',
        'calibrate v.uvh5 -o by-command.json',
        'image v.uvh5 --gains by-command.json -o by-command.fits --pixels 64',
      ]) {
        const { code, stderr } = await corella(folder, ...words.split(' '));
        assert.equal(code, 0, stderr);
      }
      const { gains, solved } = await calibrate(at('v.uvh5'));
      const { telescope } = solved.plan;
      const { channelWidthHz } = solved.plan.header;
      await write(at('by-program.json'), { gains, about: { telescope, channelWidthHz, durationS: solved.first.integration.durationS } }); // prettier-ignore
      const made = await image(at('v.uvh5'), { pixels: 64 }, { gains: at('by-command.json') });
      await write(at('by-program.fits'), made);
      for (const name of ['json', 'fits'])
        assert.deepEqual(await differences(at(`by-program.${name}`), at(`by-command.${name}`)), []);
    });
  });

  it('ends when the loop is left, and keeps what is finished', async () => {
    await withFolder(async (folder) => {
      await simulated(folder);
      const run = observe(
        {
          corella: 1,
          source: { recording: join(folder, 'voltages.sigmf-meta') },
          front: { channels: 16 },
          products: [
            { visibilities: null, integration: '1ms' },
            { visibilities: 'kept.uvh5', integration: '1ms' },
          ],
        },
        { into: folder },
      );
      for await (const item of run) {
        assert.equal(item.product, 0);
        break;
      }
      const { paths } = await run.done;
      assert.deepEqual(paths, [join(folder, 'kept.uvh5')]);
      assert.ok((await integrationsOf(paths[0])).length > 0);
    });
  });

  it('rejects in the loop and in done, naming the field', async () => {
    const run = observe({
      corella: 1,
      source: { recording: 'nothere.sigmf-meta' },
      products: [{ images: null }],
    });
    await assert.rejects(async () => {
      for await (const item of run) assert.fail(item.kind);
    }, /nothere/);
    await assert.rejects(run.done, /nothere/);
    const wrong = observe({
      corella: 1,
      source: { recording: 'x' },
      products: [{ images: null, evry: '1s' }],
    } as never);
    await assert.rejects(wrong.done, /products.images.evry.*did you mean/s);
  });

  it('hands over live items, is steered and has a page', async () => {
    await withFolder(async (folder) => {
      const sent = await corella(folder, 'send', '--simulate', '--stations', '8', '--rate', '25kHz', '--duration', '4s', '--perfect', '--format', 'snap2', '--channels', '4', '--to', 'run.pcap', '--quiet'); // prettier-ignore
      assert.equal(sent.code, 0, sent.stderr);
      const run = observe({
        corella: 1,
        source: { capture: join(folder, 'run.pcap'), rate: 6250 },
        telescope: 'lwasv',
        stations: 8,
        products: [{ visibilities: null, integration: '1s' }],
        page: { address: '127.0.0.1:0' },
      });
      const flagged: number[] = [];
      let from: number | undefined;
      let shown = 0;
      for await (const item of run) {
        if (item.kind !== 'visibilities') continue;
        const { integration } = item;
        if (from === undefined) shown = (await fetch((await run.page)?.url ?? '')).status;
        from ??= (await run.steer({ flag: ['0', '1'] })).unixSeconds;
        if (integration.flaggedInputs[1] === 1) flagged.push(integration.start.unixSeconds);
      }
      await run.done;
      assert.equal(shown, 200);
      assert.ok(flagged.length > 0, 'nothing was flagged');
      assert.equal(Math.min(...flagged), from);
    });
  });
});
