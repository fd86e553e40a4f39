/** An observation on a farm: jobs of different ranges give the files of one process, byte for byte. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { corellaHere, withFolder } from './corella.js';

const well = async (folder: string, ...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await corellaHere(folder, ...words);
  assert.equal(code, 0, stderr);
  return stdout;
};

/** Runs an observation whole, and on a farm of files; both folders have the same bytes. */
async function isSame(folder: string, observation: object, ...cut: string[]): Promise<number> {
  await writeFile(join(folder, 'o.json'), JSON.stringify({ corella: 1, ...observation }));
  await well(folder, 'run', 'o.json', '--backend', 'reference', '--overwrite');
  const names = (await readdir(folder)).filter((name) => name.startsWith('made'));
  const once = await Promise.all(names.map((name) => readFile(join(folder, name))));
  const submit = [
    'farm',
    'submit',
    'o.json',
    '--backend',
    'reference',
    '--overwrite',
    '--farm',
    `f${cut.join('')}`,
  ];
  const { jobs } = JSON.parse(await well(folder, ...submit, '--json', ...cut)) as { readonly jobs: number };
  for (let n = jobs - 1; n >= 0; n--)
    await well(
      folder,
      'worker',
      '--job',
      `f${cut.join('')}/jobs/${n}.json`,
      '--root',
      '.',
      '--backend',
      'reference',
    );
  await well(folder, 'farm', 'collect', `f${cut.join('')}`);
  for (const [n, name] of names.entries())
    assert.ok(once[n].equals(await readFile(join(folder, name))), `${name} with ${cut.join(' ')}`);
  assert.ok(names.length > 0);
  return jobs;
}

describe('an observation on a farm', () => {
  it('tracks, flags by kurtosis, input, channel, time and file, equalises and corrects for rounding', () =>
    withFolder(async (folder) => {
      await well(
        folder,
        ...'simulate --stations 4 --rate 200kHz --duration 150ms --drop 0.02 -o sky'.split(' '),
      );
      const text = await readFile(join(folder, 'sky.sigmf-meta'), 'utf8');
      const [, start] = /"core:datetime": *"([^"]+)"/.exec(text) ?? [];
      const at = (ms: number): string => new Date(Date.parse(start) + ms).toISOString();
      await writeFile(join(folder, 'flags.json'), JSON.stringify({ flags: [{ channels: '3', times: `${at(60)}..${at(90)}` }] })); // prettier-ignore
      await writeFile(
        join(folder, 'cables.json'),
        JSON.stringify({ fixed: [{ input: 1, delayS: 0.00031 }] }),
      );
      const observation = {
        source: { recording: 'sky.sigmf-meta' },
        front: { channels: 16, delays: { track: 'Cyg A', fixed: 'cables.json' } },
        flags: { inputs: [3], channels: [5], times: [`${at(20)}..${at(30)}`], file: 'flags.json', kurtosis: true, 'kurtosis-spectra': 64 }, // prettier-ignore
        products: [{ visibilities: 'made.uvh5', integration: '25ms', 'van-vleck': true }],
      };
      assert.ok((await isSame(folder, observation, '--job-time', '40ms', '--job-channels', '9')) > 10);
      const first = {
        source: { recording: 'sky.sigmf-meta', duration: '60ms' },
        front: { channels: 16 },
        products: [
          { visibilities: 'made.uvh5', integration: '20ms' },
          { images: 'made.fits', method: 'direct', every: '10ms', pixels: 64, picture: false },
        ],
      };
      assert.equal(await isSame(folder, first, '--job-time', '20ms'), 3);
      const measured = {
        ...observation,
        front: { channels: 16, bits: 4, equaliser: 'measured', 'equaliser-out': 'made-levels.json' },
        products: [{ visibilities: 'made.uvh5', integration: '40ms' }],
      };
      await well(folder, 'farm', 'submit', ...(await file(folder, measured)), '--farm', 'levels');
      const equalised = { ...measured, front: { channels: 16, bits: 4, equaliser: 'made-levels.json' } };
      assert.ok((await isSame(folder, equalised, '--job-time', '30ms')) > 3);
    }));

  it('makes finer channels, and images from visibilities of merged integrations', () =>
    withFolder(async (folder) => {
      await well(
        folder,
        ...'simulate --stations 5 --rate 100kHz --duration 200ms --drop 0.02 -o sky'.split(' '),
      );
      await well(
        folder,
        ...'channelise sky.sigmf-meta --channels 8 --backend reference -o coarse'.split(' '),
      );
      const observation = {
        source: { recording: 'coarse.sigmf-meta' },
        front: { finer: 4 },
        products: [
          { visibilities: 'made.uvh5', integration: '30ms' },
          { images: 'made.fits', every: '50ms', pixels: 48, method: 'visibilities' },
        ],
      };
      assert.ok((await isSame(folder, observation, '--job-time', '43ms', '--job-channels', '17')) > 7);
    }));

  it('makes visibilities, direct images with gains over time, and spectra in the same jobs', () =>
    withFolder(async (folder) => {
      await well(
        folder,
        ...'simulate --stations 6 --rate 40kHz --duration 120ms --drop 0.05 -o sky'.split(' '),
      );
      const base = { source: { recording: 'sky.sigmf-meta' }, front: { channels: 4 } };
      const visibilities = { visibilities: 'made.uvh5', integration: '20ms' };
      const images = { images: 'made.fits', every: '10ms', pixels: 48, method: 'direct' };
      await well(folder, 'run', ...(await file(folder, { ...base, products: [{ visibilities: 'v.uvfits', integration: '40ms' }] })), '--backend', 'reference'); // prettier-ignore
      await well(folder, ...'calibrate v.uvfits --solve-every 40ms -o gains.json'.split(' '));
      const gains = { file: 'gains.json' };
      const spectra = { spectra: 'made.sigmf-meta' };
      assert.ok((await isSame(folder, { ...base, gains, products: [visibilities, images, spectra] }, '--job-time', '45ms')) >= 3); // prettier-ignore
    }));
});

async function file(folder: string, observation: object): Promise<readonly string[]> {
  await writeFile(join(folder, 'p.json'), JSON.stringify({ corella: 1, ...observation }));
  return ['p.json', '--overwrite'];
}
