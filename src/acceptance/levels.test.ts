/** Recordings that are weak or strong for their converter lose next to nothing on the way to few bits. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { randomStream } from '../core/random.js';
import { openFile } from '../formats/index.js';
import { corella } from './corella.js';

const STATIONS = 4;
const SAMPLES = 16 * 4000;
const LIKE = 0.3;

/** Complex bytes of noise that is alike in all stations by a known part, of an rms in levels; written by hand. */
async function record(folder: string, name: string, rms: number): Promise<void> {
  const data = new Int8Array(2 * STATIONS * SAMPLES);
  const common = new Float64Array(2 * SAMPLES);
  randomStream(1, name, 'sky').addGaussians(common, rms * Math.sqrt(LIKE));
  for (let a = 0; a < STATIONS; a++) {
    const own = new Float64Array(2 * SAMPLES);
    randomStream(1, name, a).addGaussians(own, rms * Math.sqrt(1 - LIKE));
    for (let t = 0; t < SAMPLES; t++)
      for (let part = 0; part < 2; part++) {
        const value = Math.round(common[2 * t + part] + own[2 * t + part]);
        data[2 * (t * STATIONS + a) + part] = Math.max(-127, Math.min(127, value));
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
  const rows = Array.from({ length: STATIONS }, (_, n) => `s${n},${n},0,0`);
  await writeFile(join(folder, 'array.csv'), `name,east_m,north_m,up_m\n${rows.join('\n')}\n`);
  const description = {
    ...{ name: 'four', title: 'four in a row', positions: 'array.csv', polarisations: 1, beamExponent: 0 },
    site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1000 },
    band: { lowHz: 30e6, highHz: 88e6 },
    recording: { centreFrequencyHz: 58e6, sampleRateHz: 1e5, channels: 16, bits: 8 },
  };
  await writeFile(join(folder, 'array.json'), JSON.stringify(description));
}

/** Means over pairs and channels: power of an input, and what is alike over it. */
async function measured(path: string): Promise<{ readonly power: number; readonly like: number }> {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error('visibilities were written');
    let [autos, crosses, inAutos, inCrosses] = [0, 0, 0, 0];
    for await (const { visibilities, counts, channels, stations } of file.integrations()) {
      for (let c = 0, b = 0; c < channels; c++)
        for (let i = 0; i < stations; i++)
          for (let j = 0; j <= i; j++, b++) {
            if (i === j) [autos, inAutos] = [autos + visibilities[2 * b], inAutos + counts[b]];
            else [crosses, inCrosses] = [crosses + visibilities[2 * b], inCrosses + counts[b]];
          }
    }
    return { power: autos / inAutos, like: crosses / inCrosses / (autos / inAutos) };
  } finally {
    await file.close();
  }
}

void describe('levels', () => {
  const folder = temporaryFolder('levels');
  for (const rms of [2, 5, 20, 40])
    void it(`four bits of a recording of ${rms} levels rms keep what is alike, and the unit of the usual gain`, async () => {
      await record(folder, `rms${rms}`, rms);
      const made = new Map<string, { readonly power: number; readonly like: number }>();
      for (const bits of ['float', '4', '4 --van-vleck']) {
        const out = `rms${rms}-${bits.replaceAll(' ', '')}.uvh5`;
        const { code, stdout, stderr } = await corella(folder, ...`correlate rms${rms}.sigmf-meta --telescope array.json --channels 16 --integration 1s --bits ${bits} -o ${out} --json`.split(' ')); // prettier-ignore
        assert.equal(code, 0, stderr);
        if (bits === '4') {
          const { level } = JSON.parse(stdout) as { level: { outputRms: number; efficiency: number } };
          assert.ok(Math.abs(level.outputRms - 2.5) < 0.01, String(level.outputRms));
          assert.ok(level.efficiency > 0.98);
        }
        made.set(bits, await measured(join(folder, out)));
      }
      const [float, four, corrected] = ['float', '4', '4 --van-vleck'].map((bits) => made.get(bits));
      assert.ok(float && four && corrected);
      // The usual gain keeps levels in units of full scale, whatever gain was measured.
      const unit = four.power / float.power / (7 / 127) ** 2;
      assert.ok(Math.abs(unit - 1) < 0.02, `power is off by ${unit}`);
      // Rounding dilutes what is alike by its own noise: 1.4 % at the chosen level.
      assert.ok(
        four.like / float.like > 0.96 && four.like / float.like < 1.005,
        `${four.like} of ${float.like}`,
      );
      // Corrected, both are what floats have, but for the few thousandths that rounding's own noise leaves of so little.
      const power = corrected.power / float.power / (7 / 127) ** 2;
      assert.ok(Math.abs(power - 1) < 0.002, `corrected power is off by ${power}`);
      assert.ok(
        Math.abs(corrected.like / float.like - 1) < 0.002,
        `corrected: ${corrected.like} of ${float.like}`,
      );
    });

  void it('tells a gain that leaves too little', async () => {
    await record(folder, 'weak', 2);
    const line = 'correlate weak.sigmf-meta --telescope array.json --channels 16 --integration 1s --bits 4';
    const told = await corella(folder, ...`${line} --gain 0.1 -o weak.uvh5`.split(' '));
    assert.equal(told.code, 0, told.stderr);
    assert.match(
      told.stdout,
      /the weakest input has 0\.\d+ levels rms: rounding leaves it \d+\.\d % of a weak signal/,
    );
    const usual = await corella(folder, ...`${line} -o usual.uvh5`.split(' '));
    assert.match(
      usual.stdout,
      /level: 2\.0\d* rms in, 2\.5 levels rms after a gain of .* \(measured\); rounding leaves 98\.\d %/,
    );
  });
});
