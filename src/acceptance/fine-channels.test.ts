/** Finer channels, by the command line: tones at known frequencies, in a file made from formulae. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from '../formats/index.js';
import { corellaHere } from './corella.js';

const RATE_HZ = 1e5;
const CHANNELS = 4;
const INPUTS = 2;
const SAMPLES = 16 * 60;
const FIRST_HZ = 150e6;
/** Input 1 leads by a quarter of a turn. */
const AHEAD = Math.PI / 2;

interface Tone {
  readonly hz: number;
  readonly amplitude: number;
}

/**
 * Every channel as from a filterbank: the tones within it, relative to its own centre, with their full amplitude (a
 * flat filter, half a sampling rate to either side).
 */
async function record(
  folder: string,
  name: string,
  spacingHz: number,
  tones: readonly Tone[],
): Promise<void> {
  const data = new Float32Array(2 * SAMPLES * CHANNELS * INPUTS);
  for (let t = 0; t < SAMPLES; t++)
    for (let c = 0; c < CHANNELS; c++)
      for (let a = 0; a < INPUTS; a++)
        for (const { hz, amplitude } of tones) {
          const offHz = hz - (FIRST_HZ + c * spacingHz);
          if (Math.abs(offHz) > RATE_HZ / 2) continue;
          const angle = (2 * Math.PI * offHz * t) / RATE_HZ + a * AHEAD;
          const at = 2 * ((t * CHANNELS + c) * INPUTS + a);
          data[at] += amplitude * Math.cos(angle);
          data[at + 1] += amplitude * Math.sin(angle);
        }
  await writeFile(join(folder, `${name}.sigmf-data`), data);
  const meta = {
    global: {
      'core:datatype': 'cf32_le',
      'core:sample_rate': RATE_HZ,
      'core:version': '1.0.0',
      'core:num_channels': CHANNELS * INPUTS,
      'corella:spectra_type': 'cf32',
      'corella:channels': CHANNELS,
      'corella:polarisations': 1,
      'corella:frequencies_hz': Array.from({ length: CHANNELS }, (_, c) => FIRST_HZ + c * spacingHz),
      'corella:channel_width_hz': spacingHz,
    },
    captures: [
      { 'core:sample_start': 0, 'core:frequency': FIRST_HZ, 'core:datetime': '2026-06-01T04:00:00Z' },
    ],
    annotations: [],
  };
  await writeFile(join(folder, `${name}.sigmf-meta`), JSON.stringify(meta));
}

void describe('channels made finer', () => {
  const folder = temporaryFolder('fine-channels');
  before(async () => {
    await writeFile(join(folder, 'array.csv'), 'name,east_m,north_m,up_m\na,0,0,0\nb,1,0,0\n');
    const description = {
      name: 'two',
      title: 'two',
      positions: 'array.csv',
      polarisations: 1,
      beamExponent: 0,
      site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1000 },
      band: { lowHz: 100e6, highHz: 200e6 },
      recording: { centreFrequencyHz: 150e6, sampleRateHz: 1e5, channels: 4, bits: 8 },
    };
    await writeFile(join(folder, 'array.json'), JSON.stringify(description));
  });

  async function products(...words: string[]) {
    const { code, stderr } = await corellaHere(
      folder,
      ...['correlate', ...words, '--telescope', 'array.json', '-o', 'out.uvh5', '--overwrite', '--json'],
    );
    assert.equal(code, 0, stderr);
    const file = await openFile(join(folder, 'out.uvh5'));
    try {
      assert.ok(file.kind === 'visibilities');
      const { frequenciesHz, channelWidthHz } = file.header;
      for await (const one of file.integrations()) {
        const channels = Array.from(frequenciesHz.keys());
        // Pairs (0,0), (1,0), (1,1).
        const powers = channels.map((c) => one.visibilities[6 * c] / one.counts[3 * c]);
        const phases = channels.map((c) =>
          Math.atan2(one.visibilities[6 * c + 3], one.visibilities[6 * c + 2]),
        );
        return { frequenciesHz, channelWidthHz, powers, phases, start: one.start, durationS: one.durationS };
      }
      throw new Error('no integration');
    } finally {
      await file.close();
    }
  }
  const loud = (powers: readonly number[]): number[] =>
    [...powers.keys()].filter((c) => powers[c] > 1e-3 * Math.max(...powers));

  void it('as wide as they are sampled: all of the finer ones, in one even grid', async () => {
    // In channel 2 five sixteenths above its centre, and in channel 1 a quarter below: finer ones 2·16 + 13 and 16 + 4.
    const tones = [
      { hz: FIRST_HZ + 2 * RATE_HZ + (5 / 16) * RATE_HZ, amplitude: 1 },
      { hz: FIRST_HZ + RATE_HZ - RATE_HZ / 4, amplitude: 0.5 },
    ];
    await record(folder, 'critical', RATE_HZ, tones);
    const made = await products('critical.sigmf-meta', '--fine-channels', '16', '--filter', 'sharp');
    assert.equal(made.frequenciesHz.length, 64);
    made.frequenciesHz.forEach((hz, c) => {
      assert.ok(Math.abs(hz - (FIRST_HZ - RATE_HZ / 2 + (c * RATE_HZ) / 16)) < 1e-3, `${c}: ${hz}`);
    });
    assert.deepEqual(loud(made.powers), [20, 45]);
    assert.ok(Math.abs(made.frequenciesHz[45] - tones[0].hz) < 1e-3);
    assert.ok(Math.abs(made.frequenciesHz[20] - tones[1].hz) < 1e-3);
    assert.ok(Math.abs(made.powers[45] / made.powers[20] - 4) < 0.01);
    assert.ok(Math.abs(made.phases[45] - AHEAD) < 1e-3 && Math.abs(made.phases[20] - AHEAD) < 1e-3);
    // 60 spectra less 31 of the filter's 32 taps, each 160 µs.
    assert.ok(Math.abs(made.durationS - (29 * 16) / RATE_HZ) < 1e-9, String(made.durationS));
  });

  void it('sampled faster than they lie apart: finer ones up to where the next begins', async () => {
    const spacingHz = 0.75 * RATE_HZ;
    // Received in channel 1 and, beyond its half, also in channel 2: there it is left out.
    const tone = { hz: FIRST_HZ + spacingHz + (5 / 16) * RATE_HZ, amplitude: 1 };
    await record(folder, 'faster', spacingHz, [tone]);
    const made = await products('faster.sigmf-meta', '--fine-channels', '16', '--filter', 'sharp');
    assert.equal(made.frequenciesHz.length, 4 * 12);
    const steps = Array.from(made.frequenciesHz.subarray(1), (hz, c) => hz - made.frequenciesHz[c]);
    assert.ok(steps.every((step) => Math.abs(step - RATE_HZ / 16) < 1e-3));
    assert.deepEqual(loud(made.powers), [12 + 6 + 5]);
    assert.ok(Math.abs(made.frequenciesHz[23] - tone.hz) < 1e-3);
    const odd = await corellaHere(
      folder,
      ...'correlate faster.sigmf-meta --telescope array.json --fine-channels 10 -o x.uvh5'.split(' '),
    );
    assert.match(odd.stderr, /hold 7\.5 of 10; choose a number of which that is a whole one, such as 64/);
  });

  void it('channelises the same into a file, and refuses voltages', async () => {
    await record(folder, 'again', RATE_HZ, [{ hz: FIRST_HZ + RATE_HZ / 8, amplitude: 1 }]);
    const line = 'channelise again.sigmf-meta --fine-channels 16 --filter sharp -o finer.sigmf-meta';
    const { code, stderr } = await corellaHere(folder, ...line.split(' '));
    assert.equal(code, 0, stderr);
    const file = await openFile(join(folder, 'finer.sigmf-meta'));
    assert.ok(file.kind === 'spectra');
    assert.deepEqual([file.channels, file.inputs, file.spectrumRateHz], [64, 2, RATE_HZ / 16]);
    assert.ok(Math.abs(file.frequenciesHz[10] - (FIRST_HZ + RATE_HZ / 8)) < 1e-3);
    await file.close();
    const { powers } = await products('finer.sigmf-meta');
    assert.deepEqual(loud(powers), [10]);
    await corellaHere(
      folder,
      ...'simulate --telescope eda2 --stations 2 --duration 5ms -o v.sigmf-meta'.split(' '),
    );
    const voltages = await corellaHere(
      folder,
      ...'correlate v.sigmf-meta --fine-channels 4 -o x.uvh5'.split(' '),
    );
    assert.match(voltages.stderr, /voltages have no channels yet; give their number with --channels/);
  });

  void it('of voltages that were real: what mirrors the band below its edge gives a warning, and van Vleck knows its channel', async () => {
    const data = new Int8Array(INPUTS * 8 * 600);
    const random = randomStream(4, 'real');
    // Noise, and in both inputs a tone an eighth of a coarse channel above the edge, which is 150 MHz.
    for (let n = 0; n < data.length; n++)
      data[n] = Math.round(
        8 * random.gaussian() + 20 * Math.cos((2 * Math.PI * Math.floor(n / INPUTS)) / (8 * 8)),
      );
    await writeFile(join(folder, 'real.sigmf-data'), data);
    const meta = {
      global: {
        'core:datatype': 'ri8',
        'core:sample_rate': 8e5,
        'core:version': '1.0.0',
        'core:num_channels': INPUTS,
      },
      captures: [
        { 'core:sample_start': 0, 'core:frequency': 150.2e6, 'core:datetime': '2026-06-01T04:00:00Z' },
      ],
      annotations: [],
    };
    await writeFile(join(folder, 'real.sigmf-meta'), JSON.stringify(meta));
    const run = async (line: string): Promise<string> => {
      const { code, stdout, stderr } = await corellaHere(folder, ...`${line} --overwrite`.split(' '));
      assert.equal(code, 0, stderr);
      return stdout;
    };
    await run('channelise real.sigmf-meta --channels 4 --bits 4 -o coarse.sigmf-meta');
    const CORRELATE = 'correlate coarse.sigmf-meta --telescope array.json --integration 1s';
    assert.match(
      await run(`${CORRELATE} --fine-channels 16 -o x.uvh5`),
      /channels 0-7 are below the band, .* \(--keep-channels 8-63\)/,
    );
    const { frequenciesHz, powers } = await products('coarse.sigmf-meta', '--fine-channels', '16');
    assert.equal(powers.lastIndexOf(Math.max(...powers.slice(8))), 10);
    assert.ok(Math.abs(frequenciesHz[10] - (FIRST_HZ + RATE_HZ / 8)) < 1e-3);
    // One step and two steps correct the same, including channel 0.
    const two = await products('coarse.sigmf-meta', '--van-vleck', '--integration', '1s');
    const one = await products(
      ...['real.sigmf-meta', '--channels', '4', '--bits', '4', '--van-vleck', '--integration', '1s'],
    );
    two.powers.forEach((power, c) => {
      assert.ok(Math.abs(power / one.powers[c] - 1) < 1e-6, `channel ${c}: ${power}, ${one.powers[c]}`);
    });
  });
});
