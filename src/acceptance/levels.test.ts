/**
 * A band with a slope of 40 dB, in four bits: with equaliser gains per input and channel nothing is lost. And a level
 * that changes: silence at first, and a drop of 20 dB after the samples on which the gain was measured.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from '../formats/index.js';
import { corellaHere } from './corella.js';

const INPUTS = 2;
const CHANNELS = 8;
const SPECTRA = 3000;
const SAMPLES = (SPECTRA + 7) * CHANNELS;
/** Power common to both inputs. */
const LIKE = 0.5;
/** Rms of a channel, and the level of input 1 relative to input 0. */
const rmsOf = (c: number): number => 8 * 10 ** (c / 3.5);
const WEAKER = 0.2;

void describe('levels by input and channel', () => {
  const folder = temporaryFolder('levels');
  before(async () => {
    const data = new Int16Array(2 * INPUTS * SAMPLES);
    const random = randomStream(2, 'levels');
    const values = new Float64Array(data.length);
    // Noise well within each channel: drawn for every eighth spectrum, with linear interpolation between.
    const step = 8 * CHANNELS;
    const knots = Math.ceil(SAMPLES / step) + 1;
    const drawn = (): Float64Array => Float64Array.from({ length: 2 * knots }, () => random.gaussian());
    for (let c = 0; c < CHANNELS; c++) {
      const sky = drawn();
      for (let a = 0; a < INPUTS; a++) {
        const own = drawn();
        const rms = rmsOf(c) * (a === 1 ? WEAKER : 1);
        const level = own.map((one, n) => rms * (Math.sqrt(LIKE) * sky[n] + Math.sqrt(1 - LIKE) * one));
        for (let t = 0; t < SAMPLES; t++) {
          const [knot, part] = [Math.floor(t / step), (t % step) / step];
          const at = (of: 0 | 1): number =>
            (1 - part) * level[2 * knot + of] + part * level[2 * (knot + 1) + of];
          const angle = (2 * Math.PI * (c - CHANNELS / 2) * t) / CHANNELS;
          const [re, im] = [at(0), at(1)];
          values[2 * (t * INPUTS + a)] += re * Math.cos(angle) - im * Math.sin(angle);
          values[2 * (t * INPUTS + a) + 1] += re * Math.sin(angle) + im * Math.cos(angle);
        }
      }
    }
    values.forEach((value, n) => (data[n] = Math.max(-32767, Math.min(32767, Math.round(value)))));
    await writeFile(join(folder, 'slope.sigmf-data'), data);
    const meta = {
      global: {
        'core:datatype': 'ci16_le',
        'core:sample_rate': 1e5,
        'core:version': '1.0.0',
        'core:num_channels': INPUTS,
      },
      captures: [{ 'core:sample_start': 0, 'core:frequency': 58e6, 'core:datetime': '2026-06-01T04:00:00Z' }],
      annotations: [],
    };
    await writeFile(join(folder, 'slope.sigmf-meta'), JSON.stringify(meta));
    await writeFile(join(folder, 'array.csv'), 'name,east_m,north_m,up_m\na,0,0,0\nb,1,0,0\n');
    const description = {
      name: 'two',
      title: 'two',
      positions: 'array.csv',
      polarisations: 1,
      beamExponent: 0,
      site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1000 },
      band: { lowHz: 30e6, highHz: 88e6 },
      recording: { centreFrequencyHz: 58e6, sampleRateHz: 1e5, channels: CHANNELS, bits: 8 },
    };
    await writeFile(join(folder, 'array.json'), JSON.stringify(description));
  });

  /** Means of the pairs (0,0), (1,0) and (1,1), [c][pair]. */
  async function products(name: string, ...words: string[]): Promise<number[][]> {
    const voltages = name === 'slope' ? ['--channels', String(CHANNELS), '--taps', '8'] : [];
    const line = `correlate ${name}.sigmf-meta --telescope array.json --integration 1min -o out.uvh5 --overwrite --json`;
    const { code, stderr } = await corellaHere(folder, ...line.split(' '), ...voltages, ...words);
    assert.equal(code, 0, stderr);
    const file = await openFile(join(folder, 'out.uvh5'));
    try {
      assert.ok(file.kind === 'visibilities');
      for await (const { visibilities, counts } of file.integrations())
        return Array.from({ length: CHANNELS }, (_, c) =>
          [0, 1, 2].map((b) => visibilities[2 * (3 * c + b)] / counts[3 * c + b]),
        );
      throw new Error('no integration');
    } finally {
      await file.close();
    }
  }
  const coefficient = ([x, xy, y]: readonly number[]): number => xy / Math.sqrt(x * y);

  void it('measured: every channel keeps its correlation, and means their unit', async () => {
    const floats = await products('slope', '--bits', 'float');
    const plain = await products('slope', '--bits', '4');
    const leveled = await products(
      'slope',
      '--bits',
      '4',
      '--equaliser',
      'measured',
      '--equaliser-out',
      'levels.json',
    );
    // One gain for all leaves almost nothing in the weak channels of the weak input.
    assert.ok(!(Math.abs(coefficient(plain[0]) / coefficient(floats[0]) - 1) < 0.3));
    // Four bits, 7 for 32767.
    const unit = (7 / 32767) ** 2;
    for (let c = 0; c < CHANNELS; c++) {
      for (const pair of [0, 2])
        assert.ok(
          Math.abs(leveled[c][pair] / (floats[c][pair] * unit) - 1) < 0.05,
          `channel ${c}, pair ${pair}: ${leveled[c][pair] / (floats[c][pair] * unit)}`,
        );
      const [got, wanted] = [coefficient(leveled[c]), coefficient(floats[c])];
      assert.ok(Math.abs(got / wanted - 1) < 0.03, `channel ${c}: ${got}, ${wanted}`);
    }
    const { levels } = JSON.parse(await readFile(join(folder, 'levels.json'), 'utf8')) as {
      levels: number[][];
    };
    // The weaker input has five times the gain, the first channel a hundred times that of the last.
    assert.ok(Math.abs(levels[1][3] / levels[0][3] / 5 - 1) < 0.1);
    assert.ok(Math.abs(levels[0][0] / levels[0][7] / 100 - 1) < 0.2);

    assert.deepEqual(await products('slope', '--bits', '4', '--equaliser', 'levels.json'), leveled);
    const line =
      'channelise slope.sigmf-meta --channels 8 --taps 8 --bits 4 --equaliser levels.json -o c.sigmf-meta';
    const { code, stderr } = await corellaHere(folder, ...line.split(' '));
    assert.equal(code, 0, stderr);
    // The file's own middle, and thus the zenith, is slightly later.
    const again = await products('c');
    leveled.forEach((row, c) => {
      row.forEach((value, pair) => {
        assert.ok(Math.abs(again[c][pair] / value - 1) < 1e-6, `channel ${c}, pair ${pair}`);
      });
    });
  });

  void it('refuses what cannot be undone, or fits nothing', async () => {
    const refused = async (words: string, message: RegExp): Promise<void> => {
      const line = `correlate slope.sigmf-meta --telescope array.json --channels 8 -o x.uvh5 ${words}`;
      const { code, stderr } = await corellaHere(folder, ...line.split(' '));
      assert.notEqual(code, 0);
      assert.match(stderr, message);
    };
    await refused(
      '--equaliser measured --values sums',
      /--values: .* could not be undone; .*--equaliser-out/,
    );
    await refused('--equaliser measured --bits float', /channels of floats are not rounded/);
    await refused('--equaliser measured --gain 2', /--equaliser: --gain is one gain for all/);
    await refused(
      '--equaliser-out l.json',
      /--equaliser-out: no equaliser gains are asked for; give --equaliser measured too/,
    );
    await writeFile(join(folder, 'bad.json'), '{"levels": [[1, 1]]}');
    await refused('--equaliser bad.json', /has 2 gains of input 0 for 8 channels/);
    for (const odd of ['0', '-1', '1e-320', '1e308', '"1"']) {
      await writeFile(join(folder, 'bad.json'), `{"levels": [[1, ${odd}]]}`);
      await refused('--equaliser bad.json', /holds no equaliser gains: rows of positive numbers/);
    }
  });
});

void describe('a level that changes', () => {
  const folder = temporaryFolder('level-changes');
  const [SILENT, FALLS, ALL] = [5000, 290_000, 320_000];
  const record = async (name: string, rmsAt: (t: number) => number): Promise<void> => {
    const random = randomStream(3, name);
    const data = new Int8Array(2 * INPUTS * ALL);
    for (let n = 0; n < data.length; n++) {
      const rms = rmsAt(Math.floor(n / (2 * INPUTS)));
      if (rms > 0) data[n] = Math.round(rms * random.gaussian());
    }
    await writeFile(join(folder, `${name}.sigmf-data`), data);
    const global = { 'core:datatype': 'ci8', 'core:sample_rate': 1e5, 'core:version': '1.0.0' };
    const capture = {
      'core:sample_start': 0,
      'core:frequency': 58e6,
      'core:datetime': '2026-06-01T04:00:00Z',
    };
    const meta = { global: { ...global, 'core:num_channels': INPUTS }, captures: [capture], annotations: [] };
    await writeFile(join(folder, `${name}.sigmf-meta`), JSON.stringify(meta));
  };
  before(async () => {
    await record('falls', (t) => (t < SILENT ? 0 : t < FALLS ? 20 : 2));
    await record('silent', () => 0);
  });
  const run = async (line: string): Promise<{ code: number; stdout: string; stderr: string }> =>
    corellaHere(folder, ...`${line} --overwrite`.split(' '));
  const CORRELATE = 'correlate falls.sigmf-meta --telescope none --channels 8 --bits 4';
  interface Report {
    readonly level: { readonly outputRms: number; readonly silentSamples: number };
    readonly rounded: { readonly weak: number; readonly withSignal: number; readonly leastRms: number };
  }

  void it('is measured behind a silent beginning, and reported where it falls', async () => {
    const { stdout } = await run(`${CORRELATE} --integration 250ms -o a.uvh5 --json`);
    const { level, rounded } = JSON.parse(stdout) as Report;
    assert.equal(level.silentSamples, SILENT);
    assert.ok(Math.abs(level.outputRms - 2.5) < 1e-9);
    assert.deepEqual([rounded.weak, rounded.withSignal], [16, 16]);
    assert.ok(rounded.leastRms < 0.3, String(rounded.leastRms));
    const plain = await run(`${CORRELATE} --integration 250ms -o a.uvh5`);
    assert.match(plain.stdout, /the first 5000 samples are zero: the level is measured from what follows/);
    assert.match(
      plain.stdout,
      /16 of 16 channels of inputs have less than one level rms in some integration/,
    );
    assert.match(
      plain.stdout,
      /integrations have 0\.2\d+ to 2\.5\d* levels rms, and the first samples had 2\.5.*\[level\.changed\]/,
    );
    const own = await run(`${CORRELATE} --equaliser measured --integration 250ms -o a.uvh5`);
    assert.match(
      own.stdout,
      /integrations have 0\.2\d+ to 2\.\d+ levels rms, and the first samples had 2\.5.*\[level\.changed\]/,
    );
  });

  void it('is reported by channelise too, which sums nothing', async () => {
    const CHANNELISE = 'channelise falls.sigmf-meta --channels 8 --bits 4 -o w.sigmf-meta';
    const { rounded } = JSON.parse((await run(`${CHANNELISE} --json`)).stdout) as Report;
    assert.deepEqual([rounded.weak, rounded.withSignal], [16, 16]);
    assert.ok(rounded.leastRms < 0.3, String(rounded.leastRms));
    const { stdout } = await run(CHANNELISE);
    assert.match(stdout, /16 of 16 channels of inputs have less than one level rms in some range of spectra/);
    assert.match(stdout, /ranges of spectra have 0\.2\d+ to 2\.5\d* levels rms, and the first samples/);
    assert.match(stdout, /2 inputs are zero in some ranges of spectra.*\[level\.zero-sometimes\]/);
    // Floats are not rounded.
    const floats = JSON.parse(
      (await run(`${CHANNELISE.replace('4', 'float')} --json`)).stdout,
    ) as Partial<Report>;
    assert.equal(floats.rounded, undefined);
  });

  void it('is measured on enough samples where a part of the recording begins just before a block ends', async () => {
    // Blocks of 2¹⁸ samples: the first block of the part has two samples.
    const { stdout } = await run(`${CORRELATE} --times 2026-06-01T04:00:02.62142Z.. -o a.uvh5 --json`);
    const { level } = JSON.parse(stdout) as { readonly level: { readonly inputRms: number } };
    // 27858 samples of rms 20 and 30000 of 2.
    assert.ok(Math.abs(level.inputRms / 13.95 - 1) < 0.01, String(level.inputRms));
  });

  void it('silence throughout has no level, and reports it', async () => {
    const silent = await run(`${CORRELATE.replace('falls', 'silent')} -o a.uvh5`);
    assert.match(silent.stdout, /the first 320000 samples are zero: .*\[level\.silent-start\]/);
    const measured = await run(`${CORRELATE.replace('falls', 'silent')} --equaliser measured -o a.uvh5`);
    assert.match(measured.stderr, /the recording begins silent, and there is nothing to measure/);
  });

  void it('is undone by correlate of what channelise wrote, as by correlate alone', async () => {
    await run('channelise falls.sigmf-meta --channels 8 --bits 4 -o c.sigmf-meta');
    await run('correlate c.sigmf-meta --telescope none --integration 10s -o two.uvh5');
    await run(`${CORRELATE} --integration 10s -o one.uvh5`);
    const [one, two] = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const file = await openFile(join(folder, `${name}.uvh5`));
        assert.ok(file.kind === 'visibilities');
        for await (const { visibilities, counts } of file.integrations()) {
          await file.close();
          return visibilities[0] / counts[0];
        }
        throw new Error('no integration');
      }),
    );
    assert.ok(Math.abs(two / one - 1) < 1e-6, `${two}, ${one}`);
    const { global } = JSON.parse(await readFile(join(folder, 'c.sigmf-meta'), 'utf8')) as {
      readonly global: { readonly 'corella:history': readonly string[] };
    };
    assert.ok(global['corella:history'].some((line) => line.startsWith('observation {"corella":1')));
  });
});
