/** Interference in voltages is removed, by the command line: from the sums and the counts, and reported. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile } from '../formats/index.js';
import { corellaHere } from './corella.js';

const STATIONS = 4;
const CHANNELS = 8;
const SPECTRA = 256 * 16;
const SAMPLES = (SPECTRA + 7) * CHANNELS;
const LIKE = 0.3;

interface Report {
  readonly flagged: number;
  readonly samples: number;
  readonly byChannel: readonly number[];
  readonly episodes: readonly { readonly kind: string; readonly fate: string }[];
}

/** Noise with a source that all inputs receive; with a radar in channel 6, or a pulse at all frequencies. */
async function record(folder: string, name: string, added: 'nothing' | 'radar' | 'pulse'): Promise<void> {
  const data = new Int8Array(2 * STATIONS * SAMPLES);
  const common = new Float64Array(2 * SAMPLES);
  randomStream(1, 'sky').addGaussians(common, 12 * Math.sqrt(LIKE));
  for (let a = 0; a < STATIONS; a++) {
    const own = new Float64Array(2 * SAMPLES);
    randomStream(1, a).addGaussians(own, 12 * Math.sqrt(1 - LIKE));
    for (let t = 0; t < SAMPLES; t++) {
      const spectrum = Math.floor(t / CHANNELS);
      const radar = added === 'radar' && spectrum % 64 < 6 ? 20 : 0;
      const louder = added === 'pulse' && spectrum >= 1100 && spectrum < 1150 ? 3 : 1;
      // Channel 6 is 2 of 8 above the centre: a quarter of a turn per sample.
      for (let part = 0; part < 2; part++) {
        const carrier = radar * Math.cos((Math.PI / 2) * (t - part) + 2 * a);
        const value = Math.round(louder * (common[2 * t + part] + own[2 * t + part]) + carrier);
        data[2 * (t * STATIONS + a) + part] = Math.max(-127, Math.min(127, value));
      }
    }
  }
  await writeFile(join(folder, `${name}.sigmf-data`), data);
  const meta = {
    global: {
      'core:datatype': 'ci8',
      'core:sample_rate': 1e5,
      'core:version': '1.0.0',
      'core:num_channels': STATIONS,
    },
    captures: [{ 'core:sample_start': 0, 'core:frequency': 58e6, 'core:datetime': '2026-06-01T04:00:00Z' }],
    annotations: [],
  };
  await writeFile(join(folder, `${name}.sigmf-meta`), JSON.stringify(meta));
}

void describe('interference in voltages', () => {
  const folder = temporaryFolder('interference');
  before(async () => {
    const rows = Array.from({ length: STATIONS }, (_, n) => `s${n},${n},0,0`);
    await writeFile(join(folder, 'array.csv'), `name,east_m,north_m,up_m\n${rows.join('\n')}\n`);
    const description = {
      name: 'four',
      title: 'four in a row',
      positions: 'array.csv',
      polarisations: 1,
      beamExponent: 0,
      site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1000 },
      band: { lowHz: 30e6, highHz: 88e6 },
      recording: { centreFrequencyHz: 58e6, sampleRateHz: 1e5, channels: CHANNELS, bits: 8 },
    };
    await writeFile(join(folder, 'array.json'), JSON.stringify(description));
    for (const added of ['nothing', 'radar', 'pulse'] as const) await record(folder, added, added);
  });

  const correlate = async (name: string, ...words: string[]): Promise<Report | undefined> => {
    const line = `correlate ${name}.sigmf-meta --telescope array.json --channels ${CHANNELS} --integration 1min -o out.uvh5 --overwrite --json`;
    const { code, stdout, stderr } = await corellaHere(folder, ...line.split(' '), ...words);
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as { interference?: Report }).interference;
  };

  /** For each channel the mean product of all pairs, and the samples of one of them. */
  async function products(): Promise<{ readonly flux: number[]; readonly counts: number[] }> {
    const file = await openFile(join(folder, 'out.uvh5'));
    try {
      assert.ok(file.kind === 'visibilities');
      for await (const { visibilities, counts } of file.integrations()) {
        const pairs = (STATIONS * (STATIONS + 1)) / 2;
        const crosses = [1, 3, 4, 6, 7, 8];
        const of = (c: number, values: Float64Array, step: number): number =>
          crosses.reduce((sum, b) => sum + values[step * (c * pairs + b)], 0);
        const channels = Array.from({ length: CHANNELS }, (_, c) => c);
        return {
          flux: channels.map((c) => of(c, visibilities, 2) / Math.max(1, of(c, counts, 1))),
          counts: channels.map((c) => of(c, counts, 1) / crosses.length),
        };
      }
      throw new Error('no integration');
    } finally {
      await file.close();
    }
  }

  void it('a radar in one channel goes, out of its counts too, and the sky keeps its flux', async () => {
    assert.equal(await correlate('nothing'), undefined);
    const clean = await products();
    await correlate('radar');
    const spoilt = await products();
    const report = await correlate('radar', '--kurtosis');
    const flagged = await products();
    assert.ok(report);
    assert.ok(report.byChannel[6] > 0.97 * SPECTRA * STATIONS, report.byChannel.join(' '));
    for (const c of [0, 1, 2, 3, 4])
      assert.ok(report.byChannel[c] < 0.02 * SPECTRA * STATIONS, report.byChannel.join(' '));
    // Each count is the number of samples that both stations of a pair still have.
    assert.equal(clean.counts[6], SPECTRA);
    assert.ok(flagged.counts[6] < 0.06 * SPECTRA && flagged.counts[0] > 0.95 * SPECTRA);
    const mean = ({ flux, counts }: typeof clean): number =>
      flux.reduce((sum, one, c) => sum + one * counts[c], 0) / counts.reduce((sum, one) => sum + one, 0);
    assert.ok(Math.abs(mean(spoilt) / mean(clean) - 1) > 0.03, 'it is there without');
    assert.ok(Math.abs(mean(flagged) / mean(clean) - 1) < 0.01, `${mean(flagged)} of ${mean(clean)}`);
  });

  void it('a pulse that is everywhere is kept and reported, and flagged with its option', async () => {
    const kept = await correlate('pulse', '--kurtosis');
    assert.deepEqual(
      kept?.episodes.map(({ kind, fate }) => `${kind} ${fate}`),
      ['everywhere kept'],
    );
    assert.ok(kept.flagged < 0.02 * kept.samples);
    const taken = await correlate('pulse', '--kurtosis', '--kurtosis-bursts', 'take');
    assert.ok(taken && taken.flagged > kept.flagged + 0.8 * 256 * CHANNELS * STATIONS);
  });

  void it('channelises the same, and refuses what means nothing', async () => {
    const line = `channelise radar.sigmf-meta --channels ${CHANNELS} --kurtosis -o c.sigmf-meta --json`;
    const { code, stdout, stderr } = await corellaHere(folder, ...line.split(' '));
    assert.equal(code, 0, stderr);
    const { interference } = JSON.parse(stdout) as { interference: Report };
    assert.ok(interference.byChannel[6] > 0.97 * SPECTRA * STATIONS);
    const alone = await corellaHere(
      folder,
      ...`correlate radar.sigmf-meta --telescope array.json --kurtosis-over inputs -o x.uvh5`.split(' '),
    );
    assert.match(alone.stderr, /--kurtosis-over: kurtosis is not asked for; give --kurtosis too/);
    const wrong = await corellaHere(folder, ...'correlate radar.sigmf-meta --kurtosis many'.split(' '));
    assert.match(
      wrong.stderr,
      /--kurtosis: "many" is not allowed; give .* a number of standard deviations, from 1 to 6/,
    );
  });
});
