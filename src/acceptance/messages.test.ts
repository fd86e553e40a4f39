/** Error messages for user mistakes: the option by its name, what is wrong with it, and what would work. */
import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';

describe('messages', () => {
  const folder = temporaryFolder('messages');
  const file = (name: string): string => join(folder, name);
  const corella = (words: string) =>
    corellaHere(folder, ...words.split(' ').map((word) => (word === "''" ? '' : word)));
  const made = async (words: string): Promise<string> => {
    const { code, stdout, stderr } = await corella(words);
    assert.equal(code, 0, `corella ${words}\n${stderr}`);
    return stdout;
  };
  const SKY =
    '--telescope eda2 --time 2026-03-01T12:00:00Z --sources spot@60:90:5000 --rate 100kHz --duration 20ms';
  const MODEL = '--sources spot@60:90:5000';

  before(async () => {
    await made(`simulate ${SKY} --stations 4 -o t.sigmf-meta --quiet`);
    await made('correlate t.sigmf-meta --channels 8 -o t.uvfits --quiet');
    await made(`simulate ${SKY} --stations 1 -o one.sigmf-meta --quiet`);
    await made('correlate one.sigmf-meta --channels 8 -o one.uvfits --quiet');
  });

  async function prints(words: string, line: string | RegExp): Promise<void> {
    const there = (await readdir(folder)).sort();
    const { code, stderr } = await corella(`${words} --quiet`);
    assert.equal(code, 1, words);
    if (typeof line === 'string') assert.equal(stderr.trim(), `corella: ${line}`);
    else assert.match(stderr.trim(), line);
    assert.match(stderr, /^corella: [^\n]+\n$/, 'one line');
    assert.deepEqual((await readdir(folder)).sort(), there, 'nothing is left behind');
  }

  it('names of outputs that are none', async () => {
    for (const command of [
      `simulate ${SKY} --stations 4`,
      'correlate t.sigmf-meta --channels 8',
      'channelise t.sigmf-meta --channels 8',
      'image t.uvfits',
      `calibrate t.uvfits ${MODEL}`,
    ]) {
      const ending = command.startsWith('calibrate') ? ', ending in .json' : '';
      await prints(`${command} -o ''`, `--out: "" is empty; give the path of a file to write${ending}`);
      for (const name of ['.', '..', './'])
        await prints(
          `${command} -o ${name}`,
          `--out: "${name}" is a folder; give the path of a file to write${ending}`,
        );
    }
    await prints("demo -o ''", '--out: "" is empty; give the name of a folder');
  });

  it('frequencies, integrations, seeds', async () => {
    await prints(
      `simulate --frequency 5000GHz -o x.sigmf-meta`,
      "simulate: the band's middle in Hz (--frequency) is 5000000000000; give a number from 0 to 1000000000000",
    );
    await prints(
      'simulate --frequency 100kHz -o x.sigmf-meta',
      /the band of 1\.6 MHz around 100 kHz reaches below zero; give a higher frequency/,
    );
    for (const which of ['all', '-1', '1.5'])
      await prints(
        `image t.uvfits --integration-number ${which} -o x.fits`,
        new RegExp(
          `^corella: --integration-number: "?${which}"? .*; give the number of an integration, from 0, or sum$`,
        ),
      );
    await prints(
      'simulate --seed 12345678901234567890 -o x.sigmf-meta',
      /^corella: --seed: 12345678901234567000 is not allowed; give a whole number/,
    );
    await prints(
      'simulate --seed -1 -o x.sigmf-meta',
      '--seed: -1 is out of range; give a whole number, at least 0',
    );
    await prints(
      'simulate --seed 1.5 -o x.sigmf-meta',
      '--seed: 1.5 is not allowed; give a whole number, at least 0',
    );
  });

  it('units that were forgotten, or stand apart', async () => {
    await prints(
      'simulate --rate 1.6 -o x.sigmf-meta',
      '--rate, --duration: 100 ms at 1.6 Hz hold no sample; give a higher rate, like 1.6MHz, or a longer duration',
    );
    await prints(
      'simulate --duration 10 ms -o x.sigmf-meta',
      "simulate: 'ms' is separated from its number; write 10ms",
    );
    await prints(
      'correlate --integration 10 ms t.sigmf-meta -o x.uvfits',
      "correlate: 'ms' is separated from its number; write 10ms",
    );
    await prints('simulate 10', "simulate: '10' is an unexpected argument; it takes options alone");
    await prints(
      'correlate t.sigmf-meta t.uvfits',
      "correlate: 't.uvfits' is an unexpected argument; it takes recording and options",
    );
    await prints(
      'image t.uvfits --field 4parsec -o x.fits',
      /^corella: --field: "4parsec" is not an angle; give an angle, like 30arcsec, 2arcmin or plain degrees/,
    );
    const plan = 'plan --card h200 --telescope mwa128 --field';
    assert.equal(await made(`${plan} 240arcmin`), await made(`${plan} 4`));
  });

  it('help of a command that is none; in 80 columns', async () => {
    const { code, stdout, stderr } = await corella('help correlat');
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^corella: unknown command 'correlat'\n\(Did you mean correlate\?\)/);
    assert.match(await made('help correlate'), /^Usage: corella correlate /);
    const long = (await made('--help')).split('\n').filter((line) => line.length > 80);
    assert.deepEqual(long, []);
  });

  it('too little left to calibrate', async () => {
    await prints(
      `calibrate t.uvfits ${MODEL} --odd 1`,
      '--odd: 1 is not a factor; give a number above 1, like 4, or 0 to keep all inputs',
    );
    await prints(
      `calibrate t.uvfits ${MODEL} --odd 0.5`,
      '--odd: 0.5 is not a factor; give a number above 1, like 4, or 0 to keep all inputs',
    );
    await prints(
      `calibrate t.uvfits ${MODEL} --odd 1.000001`,
      /^corella: --odd: 1\.000001 leaves \d of 4 inputs of a polarisation, where gains take three; give a larger factor/,
    );
    await prints(
      `calibrate t.uvfits ${MODEL} --min-baseline 1e6`,
      /^corella: --min-baseline: no baseline is as long as 1000000 m; give less than \d+\.\d m, the longest$/,
    );
    await prints(`calibrate t.uvfits ${MODEL} --flag 0-7`, '--flag: 0-7 leave out every input; keep some');
    await prints(
      'correlate t.sigmf-meta --channels 8 --flag 0-7 -o x.uvfits',
      '--flag: 0-7 leave out every input; keep some',
    );
    await prints(
      `calibrate one.uvfits ${MODEL}`,
      'calibrate: 1 station is too few; gains take at least three stations',
    );
    await prints(
      'plan --stations 1 --card h200',
      'plan: 1 station is too few; gains take at least three stations',
    );
    await prints(
      'image one.uvfits -o x.fits',
      'one.uvfits: one station has no baselines; image its recording directly (corella image --direct)',
    );
  });

  it('options by their own names', async () => {
    await prints(
      'simulate --noise -1 -o x.sigmf-meta',
      /^corella: --noise: -1 is out of range; give a number, at least 0 Jy/,
    );
    await prints(
      'simulate --drop 2 -o x.sigmf-meta',
      /^corella: --drop: 2 is out of range; give a number, from 0 to 1$/,
    );
    await prints(
      'correlate t.sigmf-meta --passband 90 -o x.uvfits',
      /--passband: 90 is out of range; give a number, from 0\.1 to 10 channels$/,
    );
  });

  it("JSON that is not as it should be, without a library's words", async () => {
    const meta = await readFile(file('t.sigmf-meta'), 'utf8');
    await writeFile(file('odd.sigmf-data'), '');
    for (const [change, words] of [
      [
        (text: string) => text.replace('"core:num_channels": 8', '"core:num_channels": "eight"'),
        'core:num_channels is text where a number belongs',
      ],
      [(text: string) => text.replace(/"core:datatype": "[^"]*",/, ''), 'core:datatype is missing'],
    ] as const) {
      await writeFile(file('odd.sigmf-meta'), change(meta));
      await prints(
        'inspect odd.sigmf-meta',
        `odd.sigmf-meta: is not SigMF metadata (global.${words}); correct that key or record again`,
      );
    }
    await writeFile(file('tel.json'), '{"name": "x"}');
    await prints(
      'simulate --telescope tel.json',
      /tel\.json, line 1: "title" is missing; correct the description/,
    );
    await writeFile(file('g.json'), '{"format": "corella-gains", "version": 2}');
    await prints(
      'image t.uvfits --gains g.json -o x.fits',
      'g.json: is not a gains file (version is 2 where 1 belongs); make one with corella calibrate',
    );
  });

  it('places where nothing can be written, before the work', async () => {
    await prints(
      'inspect t.sigmf-meta --picture /proc/x.png',
      '/proc/x.png: cannot be written: the system makes no files in /proc; name a place on a disk',
    );
    await prints(
      'image t.uvfits -o /proc/x.fits',
      '/proc/x.fits: cannot be written: the system makes no files in /proc; name a place on a disk',
    );
    await prints(
      'demo -o /proc/demo',
      '/proc/demo: the folder cannot be made: the system makes none there; name a place that may be written',
    );
  });

  it('no other recording for one of a short name', async () => {
    await prints('inspect u.sigmf-data', /u\.sigmf-data: there is no such file; (?!did you mean)/);
    await prints('inspect t', /did you mean t\.sigmf-meta\?$/);
    await prints('inspect t.sigmf-dta', /did you mean t\.sigmf-data\?$/);
  });

  it('one set of limits for plan and image', async () => {
    await prints(
      'plan --card h200 --pixels 8',
      '--pixels: 8 is out of range; give a whole number, from 16 to 32768',
    );
    await prints('plan --card h200 --pixels 131', 'plan: 131 pixels; give an even number such as 132');
    await prints(
      'image t.uvfits --pixels 8 -o x.fits',
      '--pixels: 8 is out of range; give a whole number, from 16 to 32768',
    );
    await prints(
      'plan --card h200 --pixels 1026',
      /^corella: plan: pixels is 1026; give a whole number from 16 to 1024$/,
    );
    await made('plan --card h200 --pixels 1024');
    await made('image t.uvfits --pixels 1024 --no-picture -o most.fits --quiet');
    await prints('plan --card h200 --telescope mwa128', /where 128 pixels give 128; take --field [\d.]+$/);
    const { stderr } = await corella('plan --card h200 --telescope hera350 --pixels 64');
    const [, pixels] = /take --pixels (\d+) or --field/.exec(stderr) ?? [];
    await made(`plan --card h200 --telescope hera350 --pixels ${pixels}`);
  });

  it('a leap second is a time, and its data are refused in files whose dates cannot hold it', async () => {
    await made(
      `simulate ${SKY.replace('2026-03-01T12:00:00Z', '2016-12-31T23:59:60Z')} --stations 4 -o leap.sigmf-meta --quiet`,
    );
    await prints(
      'correlate leap.sigmf-meta -o leap.uvh5',
      'leap.uvh5: has data within the leap second 2016-12-31T23:59:60Z, which dates of such files cannot hold: their days have 86,400 s; use --times to choose data from 2017-01-01T00:00:00Z on, or data to 2016-12-31T23:59:60Z',
    );
    await prints(
      'image leap.sigmf-meta --direct -o leap.fits',
      /^corella: leap\.fits: has data within the leap/,
    );
  });

  it('a place below the horizon that is tracked, or that files are phased to, gives a warning', async () => {
    const low = /:? Cas A is below the horizon, at an altitude of −\d+\.\d° +\[sky\.centre-below-horizon\]/;
    const [track, phase] = [/--track/, /--phase-centre/].map((flag) => new RegExp(flag.source + low.source));
    assert.match(await made('correlate t.sigmf-meta -o low.uvh5 --track CasA --quiet'), track);
    assert.match(await made('correlate t.sigmf-meta -o low.uvfits --phase-centre CasA --quiet'), phase);
    assert.match(await made('convert t.uvfits low.uvh5 --phase-centre CasA --overwrite --quiet'), phase);
    assert.doesNotMatch(await made('correlate t.sigmf-meta -o up.uvh5 --track zenith --quiet'), /horizon/);
  });

  it('a recording that was changed: inspect --whole compares core:sha512', async () => {
    assert.match(await made('inspect t.sigmf-meta --whole --quiet'), /checksum +matches core:sha512/);
    const data = await readFile(file('t.sigmf-data'));
    data[100] ^= 1;
    await writeFile(file('changed.sigmf-data'), data);
    await writeFile(file('changed.sigmf-meta'), await readFile(file('t.sigmf-meta')));
    await prints(
      'inspect changed.sigmf-meta --whole',
      'changed.sigmf-data: does not match core:sha512 in its metadata; the data was changed or damaged: copy the pair again',
    );
    await made('inspect changed.sigmf-meta');
  });

  it('what was clipped is one number', async () => {
    const said = await made(
      `simulate ${SKY} --stations 4 --drop 0.2 --pulse 5ms:0.002:1e8 -o loud.sigmf-meta --frequency 160MHz --quiet`,
    );
    const [, simulated] = /(\d+) numbers clipped/.exec(said) ?? [];
    const [, inspected] =
      /clipped +(\d+) numbers/.exec(await made('inspect loud.sigmf-meta --whole --quiet')) ?? [];
    assert.ok(Number(simulated) > 0, said);
    assert.equal(simulated, inspected);
  });

  it('a link is followed, and stays', async () => {
    await mkdir(file('disk'));
    await symlink(join('disk', 'there.uvfits'), file('link.uvfits'));
    await made('correlate t.sigmf-meta --channels 8 -o link.uvfits --quiet');
    assert.ok((await lstat(file('link.uvfits'))).isSymbolicLink());
    assert.ok((await lstat(file('disk/there.uvfits'))).isFile());
    await prints('correlate t.sigmf-meta --channels 8 -o link.uvfits', /link\.uvfits: is there already/);
    await made('correlate t.sigmf-meta --channels 8 -o link.uvfits --overwrite --quiet');
    assert.ok((await lstat(file('link.uvfits'))).isSymbolicLink());
    assert.deepEqual(await readdir(file('disk')), ['there.uvfits']);
  });
});
