import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { renderPng } from '../draw/index.js';
import { createFilterbank, openFilterbank } from '../formats/index.js';
import { dispersionS } from './dispersion.js';
import { bestBoxcar, foldFilterbank } from './fold.js';
import { parseParameters } from './parameter-file.js';
import { searchPicture } from './pictures.js';
import { searchFilterbank } from './search.js';

const [CHANNELS, VALUES, VALUE_S, PERIOD_S, DM, WIDTH_S] = [32, 12_000, 1e-3, 0.1234, 30, 0.006];
/** Mean power of a pulse in noise of deviation 1. */
const HEIGHT = 0.3;
const frequencyOf = (c: number): number => 150e6 - c * 0.5e6;

/** Noise, and a pulse every period or once at 5 s; each channel with its own level and deviation. */
async function written(kind: 'pulsar' | 'burst' | 'noise'): Promise<string> {
  const path = join(temporaryFolder('pulsar'), `${kind}.fil`);
  const writer = await createFilterbank(path, {
    firstChannelHz: frequencyOf(0),
    channelStepHz: -0.5e6,
    channels: CHANNELS,
    planes: 1,
    bits: 32,
    start: parseInstant('2026-06-21T04:00:00Z'),
    valueS: VALUE_S,
  });
  const random = randomStream(3, 'pulsar');
  const values = new Float32Array(CHANNELS * VALUES);
  for (let t = 0; t < VALUES; t++)
    for (let c = 0; c < CHANNELS; c++) {
      const timeS = (t + 0.5) * VALUE_S - dispersionS(DM, frequencyOf(c), frequencyOf(0));
      const phase = timeS / PERIOD_S - Math.floor(timeS / PERIOD_S);
      const isOn =
        kind === 'pulsar'
          ? phase * PERIOD_S < WIDTH_S
          : kind === 'burst' && Math.abs(timeS - 5) < WIDTH_S / 2;
      const height = kind === 'burst' ? 3 * HEIGHT : HEIGHT;
      values[t * CHANNELS + c] = 1000 + 50 * c + (3 + c) * (random.gaussian() + (isOn ? height : 0));
    }
  await writer.append(values);
  await writer.finish();
  return path;
}

const folding = { dm: DM, bins: 64, subIntegrations: 8, subBands: 4 };

describe('folding', () => {
  it('a pulsar has the signal-to-noise ratio of theory, at its phase and width', async () => {
    const file = await openFilterbank(await written('pulsar'));
    const found = await foldFilterbank(file, { ...folding, frequencyHz: 1 / PERIOD_S });
    const duty = WIDTH_S / PERIOD_S;
    // Height over noise, all channels and values: √(n·d·(1 − d)).
    const theory = HEIGHT * Math.sqrt(CHANNELS * VALUES * duty * (1 - duty));
    assert.ok(Math.abs(found.snr / theory - 1) < 0.1, `${found.snr}, not ${theory}`);
    assert.ok(Math.abs(found.phase - duty / 2) < 1 / 64, String(found.phase));
    assert.ok(Math.abs(found.width - duty) < 1.5 / 64, String(found.width));
    // Each of the four sub-bands and eight sub-integrations contains it.
    for (let band = 0; band < 4; band++) {
      const { phase } = bestBoxcar(found.overFrequency.slice(band * 64, (band + 1) * 64));
      assert.ok(Math.abs(phase - duty / 2) < 2 / 64, `sub-band ${band}: ${phase}`);
    }
    const wrongDm = await foldFilterbank(file, { ...folding, dm: 0, frequencyHz: 1 / PERIOD_S });
    const wrongPeriod = await foldFilterbank(file, { ...folding, frequencyHz: 1.01 / PERIOD_S });
    assert.ok(wrongDm.snr < theory / 3 && wrongPeriod.snr < theory / 3);
    await file.close();
  });

  it('noise has none; parameters come from a file', async () => {
    const file = await openFilterbank(await written('noise'));
    const found = await foldFilterbank(file, { ...folding, frequencyHz: 1 / PERIOD_S });
    assert.ok(found.snr < 5, String(found.snr));
    await file.close();
    const { frequencyHz, frequencyRateHzS, dm, epoch } = parseParameters(
      'PSRJ J0332+5434\nF0 1.399541538720 1 0.000000001\nF1 -4.011970D-15\nDM 26.7641\nPEPOCH 46473.5\n',
      'a.par',
    );
    assert.deepEqual([frequencyHz, frequencyRateHzS, dm], [1.39954153872, -4.01197e-15, 26.7641]);
    assert.deepEqual(epoch, parseInstant('1986-02-12T12:00:00Z'));
    assert.throws(() => parseParameters('F0 1\nBINARY DD\n', 'b.par'), /orbits/);
  });
});

describe('searching', () => {
  const range = { lowDm: 0, highDm: 60, snr: 7 };
  it('a burst is found at its time, DM and width, and once', async () => {
    const file = await openFilterbank(await written('burst'));
    const { candidates, timesAtHz } = await searchFilterbank(file, range);
    assert.equal(timesAtHz, frequencyOf(0));
    const theory = 3 * HEIGHT * Math.sqrt((CHANNELS * WIDTH_S) / VALUE_S);
    const [one] = candidates;
    assert.equal(candidates.length, 1);
    assert.ok(Math.abs(one.snr / theory - 1) < 0.15, `${one.snr}, not ${theory}`);
    assert.ok(Math.abs(one.dm - DM) < 1 && Math.abs(one.timeS - 5) < 0.003, JSON.stringify(one));
    await file.close();
  });

  it('noise has no candidates', async () => {
    const file = await openFilterbank(await written('noise'));
    const found = await searchFilterbank(file, range);
    assert.deepEqual(found.candidates, []);
    // A search without candidates can be drawn too.
    assert.ok((await renderPng(searchPicture(found, 'noise'), { width: 300 })).length > 0);
    await file.close();
  });

  const burst = join(process.env.CORELLA_TEST_DATA ?? '', 'sigproc', '28.fil');
  it(
    "the burst in ASKAP's 28.fil is found",
    { skip: existsSync(burst) ? false : 'no sigproc/28.fil in CORELLA_TEST_DATA' },
    async () => {
      const file = await openFilterbank(burst);
      const [one] = (await searchFilterbank(file, { lowDm: 300, highDm: 650, snr: 7 })).candidates;
      assert.ok(one.snr >= 14 && Math.abs(one.dm - 476) < 10, JSON.stringify(one));
      await file.close();
    },
  );
});
