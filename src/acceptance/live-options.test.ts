/**
 * Every option of the front and of the flags gives the same data live, from a recording or from packets, as in
 * correlate.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Integration } from '../core/blocks.js';
import { openFile, type VisibilityHeader } from '../formats/index.js';
import { corellaHere as corella, type Ran } from './corella.js';

const START = '2026-06-21T04:00:00Z';
const EVERY = ['--integration', '100ms', '--align', 'utc', '--overwrite'];
/** Batch would derive a gain from the first samples, which live cannot read. */
const FOUR = ['--channels', '4', '--gain', '1'];

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corella-live-options-'));
  const sky = ['simulate', '--stations', '8', '--rate', '100kHz', '--duration', '320ms', '--time', START];
  await ran(...sky, '-o', 'sky');
  await ran('channelise', 'sky.sigmf-meta', '--channels', '4', '--bits', '4', '-o', 'nibbles');
  const fixed = [
    { input: 3, delayS: 25e-6 },
    { input: 8, delayS: -13e-6 },
  ];
  await writeFile(join(folder, 'cables.json'), JSON.stringify({ fixed }));
  // With correction by phases only, the loss must stay small: 25 kHz · 2 µs.
  const short = fixed.map(({ input, delayS }) => ({ input, delayS: delayS / 20 }));
  await writeFile(join(folder, 'short.json'), JSON.stringify({ fixed: short }));
  const rules = [
    { times: `${START}..2026-06-21T04:00:00.1Z`, channels: '1' },
    { baselines: ['stand33&stand65'] },
  ];
  await writeFile(join(folder, 'flags.json'), JSON.stringify({ flags: rules }));
});
after(() => rm(folder, { recursive: true, force: true }));

async function ran(...words: readonly string[]): Promise<Ran> {
  const made = await corella(folder, ...words);
  assert.equal(made.code, 0, `corella ${words.join(' ')}\n${made.stderr}`);
  return made;
}

async function refused(words: readonly string[], what: RegExp): Promise<void> {
  const { code, stdout, stderr } = await corella(folder, ...words);
  assert.notEqual(code, 0, `corella ${words.join(' ')}`);
  assert.match(stderr + stdout, what);
}

async function read(
  name: string,
): Promise<{ readonly header: VisibilityHeader; readonly all: Integration[] }> {
  const file = await openFile(join(folder, name));
  assert.ok(file.kind === 'visibilities');
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return { header: file.header, all };
}

/** Files are phased at different centres, in float32. */
function assertSame(ours: readonly Integration[], theirs: readonly Integration[]): void {
  assert.ok(theirs.length >= 3);
  assert.equal(ours.length, theirs.length);
  theirs.forEach((one, k) => {
    assert.deepEqual(ours[k].counts, one.counts, `counts of integration ${k}`);
    assert.deepEqual(ours[k].productCounts, one.productCounts);
    assert.deepEqual(ours[k].passThrough?.weights, one.passThrough?.weights, `weights of integration ${k}`);
    const most = one.visibilities.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    const off = one.visibilities.reduce(
      (largest, value, at) => Math.max(largest, Math.abs(value - ours[k].visibilities[at])),
      0,
    );
    assert.ok(off <= 2e-6 * most, `integration ${k} is off by ${off / most}`);
  });
}

/** For voltages or for spectra; the result of correlate without it differs. */
const trials: readonly (readonly [string, 'sky' | 'nibbles', readonly string[]])[] = [
  ['fixed delays', 'sky', ['--delays', 'cables.json']],
  ['fixed delays by phases', 'nibbles', ['--delays', 'short.json']],
  ['tracking', 'sky', ['--track', 'CygA']],
  ['tracking by phases', 'nibbles', ['--track', 'CygA']],
  ['van Vleck', 'sky', ['--van-vleck']],
  ['van Vleck of 4 bits', 'nibbles', ['--van-vleck']],
  ['finer channels', 'nibbles', ['--fine-channels', '8', '--gain', '1']],
  ['equaliser gains', 'sky', ['--equaliser', 'levels.json']],
  ['flags of channels and inputs', 'sky', ['--flag', '3,channels=1-2']],
  ['flags of a time', 'sky', ['--flag', `times=${START}..2026-06-21T04:00:00.1Z`]],
  ['a file of flags', 'nibbles', ['--flags', 'flags.json']],
  ['channels that are kept, flags among them', 'sky', ['--keep-channels', '1-2', '--flag', 'channels=2']],
  [
    'delays, flags and van Vleck at once',
    'sky',
    ['--delays', 'cables.json', '--van-vleck', '--flag', 'channels=2'],
  ],
];

describe('live makes what correlate makes', () => {
  before(async () => {
    const measure = ['--channels', '4', '--equaliser', 'measured', '--equaliser-out', 'levels.json'];
    await ran('correlate', 'sky.sigmf-meta', ...measure, ...EVERY, '-o', 'measured.uvh5');
  });

  for (const [title, recording, words] of trials)
    it(title, async () => {
      const channels =
        recording === 'nibbles' ? [] : words.includes('--equaliser') ? ['--channels', '4'] : FOUR;
      const plain = words.includes('--equaliser') ? FOUR : channels;
      const path = `${recording}.sigmf-meta`;
      await ran('correlate', path, ...plain, ...EVERY, '-o', 'plain.uvh5');
      await ran('correlate', path, ...channels, ...EVERY, ...words, '-o', 'batch.uvh5');
      await ran('live', path, ...channels, ...EVERY, ...words, '-o', 'live.uvh5');
      const [plainly, batch, live] = [
        await read('plain.uvh5'),
        await read('batch.uvh5'),
        await read('live.uvh5'),
      ];
      assert.deepEqual(live.header.frequenciesHz, batch.header.frequenciesHz);
      assertSame(live.all, batch.all);
      assert.throws(() => {
        assertSame(batch.all, plainly.all);
      }, 'the option changes something');
    });

  it("cables of the telescope's own description", async () => {
    const three = {
      name: 'three',
      title: 'Three',
      polarisations: 1,
      positions: 'three.csv',
      beamExponent: 0,
      site: { latitudeDeg: 34.3, longitudeDeg: -106.9, heightM: 1477 },
      band: { lowHz: 40e6, highHz: 80e6 },
      recording: { centreFrequencyHz: 58e6, sampleRateHz: 1e5, channels: 4, bits: 8 },
    };
    await writeFile(join(folder, 'three.csv'), 'name,east_m,north_m,up_m\na,0,0,0\nb,30,0,0\nc,0,40,0\n');
    await writeFile(join(folder, 'three.json'), JSON.stringify(three));
    const sky = ['--rate', '100kHz', '--duration', '320ms', '--time', START, '-o', 'three'];
    await ran('simulate', '--telescope', 'three.json', ...sky);
    const how = ['three.sigmf-meta', '--telescope', 'three.json', ...FOUR, ...EVERY];
    await ran('live', ...how, '-o', 'plain.uvh5');
    const delays = [{ input: 'b', delayS: 25e-6 }];
    await writeFile(join(folder, 'three.json'), JSON.stringify({ ...three, delays }));
    await ran('correlate', ...how, '-o', 'batch.uvh5');
    await ran('live', ...how, '-o', 'live.uvh5');
    const [plain, batch, live] = [
      await read('plain.uvh5'),
      await read('batch.uvh5'),
      await read('live.uvh5'),
    ];
    assertSame(live.all, batch.all);
    assert.throws(() => {
      assertSame(live.all, plain.all);
    });
  });

  it('from packets, with 2 % of them lost', async () => {
    const send = [
      '--format',
      'snap2',
      '--to',
      'lost.pcap',
      '--truth',
      'arrived',
      '--lose',
      '2%',
      '--seed',
      '5',
    ];
    await ran('send', 'nibbles.sigmf-meta', ...send);
    const options = ['--track', 'CygA', '--flag', 'channels=2', '--keep-channels', '1-3'];
    await ran('correlate', 'arrived.sigmf-meta', ...EVERY, ...options, '-o', 'batch.uvh5');
    const packets = ['--from', 'lost.pcap', '--rate', '25kHz', '--telescope', 'lwasv', '--stations', '8'];
    await ran('live', ...packets, ...EVERY, ...options, '-o', 'live.uvh5');
    const [batch, live] = [await read('batch.uvh5'), await read('live.uvh5')];
    assertSame(live.all, batch.all);
    assert.ok(live.all.some(({ counts }) => counts.some((count) => count > 0 && count < 2500)));
  });
});

describe('the loss by phases alone', () => {
  const spectra = ['nibbles.sigmf-meta', ...EVERY, '-o', 'loss.uvh5'];
  const cables = async (delayS: number): Promise<void> => {
    await writeFile(join(folder, 'loss.json'), JSON.stringify({ fixed: [{ input: 0, delayS }] }));
  };
  for (const command of ['correlate', 'live'])
    it(`is reported and refused by ${command}`, async () => {
      // B·τ = 0.05: 0.41 %; 0.2: 6.5 %.
      await cables(2e-6);
      const { stdout, stderr } = await ran(command, ...spectra, '--delays', 'loss.json');
      assert.match(stdout + stderr, /phases alone.*loses 0\.41 % of its amplitude/);
      await cables(8e-6);
      await refused([command, ...spectra, '--delays', 'loss.json'], /6\.45 % of the amplitude would be lost/);
    });
});

describe('live refuses', () => {
  const from = ['live', 'sky.sigmf-meta', ...EVERY, '-o', 'refused.uvh5'];
  it('what cannot be done, by name', async () => {
    await refused([...from, ...FOUR, '--values', 'sums', '--track', 'CygA'], /sums.*tracked/);
    await refused(
      [...from, '--channels', '4', '--equaliser', 'measured'],
      /--equaliser: live data cannot be read ahead/,
    );
    await refused([...from, ...FOUR, '--fine-channels', '4'], /voltages have no channels yet.*--channels/s);
    await refused([...from, ...FOUR, '--bits', 'float', '--van-vleck'], /channels of floats are not rounded/);
    await refused([...from, ...FOUR, '--values', 'sums', '--van-vleck'], /sums are whole numbers/);
    await refused([...from, ...FOUR, '--flag', 'channels=9'], /outside channels 0 to 3/);
    const pairs = ['--flag', 'stand33&stand65', '--image', '100ms', '--direct', '--picture', 'refused.png'];
    await refused([...from, ...FOUR, ...pairs], /direct images.*pairs/);
    const spectra = ['live', 'nibbles.sigmf-meta', ...EVERY, '-o', 'refused.uvh5'];
    await refused(
      [...spectra, '--fine-channels', '4', '--delays', 'cables.json'],
      /finer channels are made of channels that were sampled without delays/,
    );
    await refused([...spectra, '--equaliser', 'cables.json'], /is for voltages/);
  });
});

describe('images live', () => {
  it('refuse gains that were solved from data in Jy', async () => {
    await ran('correlate', 'sky.sigmf-meta', ...FOUR, '--overwrite', '-o', 'solved.uvh5');
    await ran('calibrate', 'solved.uvh5', '-o', 'gains.json');
    const live = ['live', 'sky.sigmf-meta', ...FOUR, '--image', '100ms', '--picture', 'gains.png'];
    await ran(...live, '--gains', 'gains.json');
    const text = await readFile(join(folder, 'gains.json'), 'utf8');
    assert.match(text, /"dataUnits":"uncalibrated"/);
    await writeFile(
      join(folder, 'jansky.json'),
      text.replace('"dataUnits":"uncalibrated"', '"dataUnits":"Jy"'),
    );
    await refused([...live, '--gains', 'jansky.json'], /solved from data in Jy/);
  });

  it('leave out flagged channels and times, by either method', async () => {
    const flag = ['--flag', `channels=0-3,times=${START}..2026-06-21T04:00:00.1Z`];
    for (const how of [[], ['--direct']]) {
      const image = ['--image', '100ms', '--picture', 'flagged.png', '--json', ...how];
      const images = async (...words: readonly string[]): Promise<number> => {
        const { stdout } = await ran('live', 'sky.sigmf-meta', ...FOUR, '--align', 'utc', ...image, ...words);
        return (stdout.match(/"event":"image"/g) ?? []).length;
      };
      assert.equal(await images(), 4);
      assert.equal(await images('--flag', flag[1].split(',')[1]), 3);
      assert.equal(await images('--flag', 'channels=1-3'), 4);
    }
  });
});
