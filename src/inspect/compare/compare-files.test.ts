import assert from 'node:assert/strict';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { encode } from 'fast-png';
import { imageCPML, planeML, spectraCAT, visibilitiesCBPP, countsCB } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import type { SpectraGap } from '../../core/gaps.js';
import { instant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import {
  createSigmfSpectra,
  encodeFitsSeries,
  openOutput,
  writeFitsImage,
  writeGains,
  type FitsImage,
  type GainsFile,
  type VisibilityHeader,
} from '../../formats/index.js';
import { trioGains } from '../../formats/testing/gain-subjects.js';
import { trio } from '../../formats/testing/trio.js';
import { writeVisibilities } from '../../formats/testing/visibility-files.js';
import { compareFiles, type CompareOptions } from './compare-files.js';
import { digestFile } from './digest-testing.js';

const folder = temporaryFolder('compare');
const named = (name: string): string => join(folder, name);

/** The differences between two files, in words; digests must agree with exact comparisons. */
async function differing(a: string, b: string, options: CompareOptions = {}): Promise<string[]> {
  const { differences, same, formats } = await compareFiles(named(a), named(b), options);
  assert.equal(same, differences.length === 0);
  if (options.tolerance === undefined && formats[0] === formats[1]) {
    const [one, other] = [await digestFile(named(a)), await digestFile(named(b))];
    assert.equal(same, JSON.stringify(one) === JSON.stringify(other), 'digests agree with the comparison');
  }
  return differences.map(({ what, where, count }) => `${what} | ${where} | ${count}`);
}

const CHANNELS = 2;
const BASELINES = 6;
const START = 1_782_014_400;
const header = (more: Partial<VisibilityHeader> = {}): VisibilityHeader => ({
  telescope: trio,
  polarisations: 2,
  frequenciesHz: Float64Array.of(160e6, 160.5e6),
  channelWidthHz: 5e5,
  phaseCentre: { raDeg: 120, decDeg: -26.7 },
  object: 'zenith',
  history: ['corella test'],
  xOrientation: 'east',
  ...more,
});

function integration(k: number): Integration {
  const sums = new Float64Array(CHANNELS * BASELINES * 4 * 2).map((_, at) => 100 * ((at % 7) + k + 1));
  return {
    start: instant(START + k),
    durationS: 1,
    channels: CHANNELS,
    stations: 3,
    polarisations: 2,
    visibilities: visibilitiesCBPP(sums, CHANNELS, BASELINES, 2),
    counts: countsCB(new Float64Array(CHANNELS * BASELINES).fill(100), CHANNELS, BASELINES),
    flaggedInputs: new Uint8Array(6),
  };
}

const two = (): Integration[] => [integration(0), integration(1)];

describe('visibilities are compared', () => {
  for (const extension of ['uvh5', 'uvfits'] as const) {
    const file = (name: string): string => `${name}.${extension}`;
    const write = (name: string, all: readonly Integration[], more: Partial<VisibilityHeader> = {}) =>
      writeVisibilities(named(file(name)), header(more), all);

    it(`in ${extension}: the same data with another history are the same`, async () => {
      await write('a', two());
      await write('b', two(), { history: ['another', 'history'] });
      assert.notDeepEqual(await readFile(named(file('a'))), await readFile(named(file('b'))));
      assert.deepEqual(await differing(file('a'), file('b')), []);
    });

    it(`in ${extension}: one value, one weight, one flag, one time`, async () => {
      await write('a', two());
      const [first, second] = two();
      // XY of stations 1 and 0 in channel 1: product (1 · 6 + 1) · 4 + 1, its imaginary part.
      second.visibilities[2 * ((1 * BASELINES + 1) * 4 + 1) + 1] += 1;
      await write('value', [first, second]);
      // UVFITS stops fringes, which mixes the real and imaginary parts.
      assert.deepEqual(
        (await differing(file('a'), file('value'))).map((line) => line.replace(/, re \| 2$/, ', im | 1')),
        ['values | integration 1, channel 1, baseline s1–s0, product 01, im | 1'],
      );

      const [, weighed] = two();
      weighed.counts[3] = 50;
      // Half the sums over half the samples: the same means.
      for (let at = 8 * 3; at < 8 * 4; at++) weighed.visibilities[at] /= 2;
      await write('weight', [first, weighed]);
      assert.deepEqual(await differing(file('a'), file('weight')), [
        'weights | integration 1, channel 0, baseline s2–s0, product 00 | 4',
      ]);

      const flagged = { ...two()[0], flaggedInputs: Uint8Array.of(0, 0, 0, 1, 0, 0) };
      await write('flag', [flagged, integration(1)]);
      const found = await differing(file('a'), file('flag'));
      assert.ok(
        found.some((line) => line.startsWith('flags | integration 0, channel 0, baseline s1–s0, product 10')),
      );

      await write('time', [first, { ...second, start: instant(START + 1, 0.001) }]);
      const times = await differing(file('a'), file('time'));
      assert.ok(times.some((line) => line === 'times | integration 1, second of the day | 1'));
    });

    it(`in ${extension}: one position, one frequency, one card, one integration more`, async () => {
      await write('a', two());
      const moved = {
        ...trio,
        stations: trio.stations.map((one, s) => (s === 2 ? { ...one, northM: one.northM + 0.001 } : one)),
      };
      await write('position', two(), { telescope: moved });
      assert.ok(
        (await differing(file('a'), file('position'))).some((line) =>
          line.startsWith('positions | station s2, '),
        ),
      );
      await write('frequency', two(), { frequenciesHz: Float64Array.of(160e6, 160.500001e6) });
      const shifted = await differing(file('a'), file('frequency'));
      assert.ok(shifted.some((line) => line.startsWith('frequencies | channel 1')));
      await write('card', two(), { object: 'Cyg A' });
      assert.ok(
        (await differing(file('a'), file('card'))).some((line) =>
          /^header \| (card .*OBJECT|object)/i.test(line),
        ),
      );
      await write('longer', [...two(), integration(2)]);
      const longer = await differing(file('a'), file('longer'));
      assert.ok(longer.includes('length | integration 2 | 1'));
      assert.ok(longer.includes('header | integrations | 1'));
    });

    it(`in ${extension}: a tolerance is a part of the largest value, and not for whole weights`, async () => {
      await write('a', two());
      const [first, second] = two();
      // The largest value is 800 over 100 samples: 8. Rounded to floats; a difference of 8e-5 is 1e-5 of it.
      second.visibilities[0] += 8e-3;
      await write('near', [first, second]);
      assert.deepEqual(await differing(file('a'), file('near'), { tolerance: 2e-5 }), []);
      assert.equal((await differing(file('a'), file('near'), { tolerance: 0.5e-5 })).length, 1);
      second.counts[3] = 101;
      await write('counted', [first, second]);
      assert.ok(
        (await differing(file('a'), file('counted'), { tolerance: 0.1 })).some((line) =>
          line.startsWith('weights'),
        ),
      );
    });
  }

  it('of two formats within what each can hold', async () => {
    await writeVisibilities(named('a.uvh5'), header(), two());
    await writeVisibilities(named('a.uvfits'), header(), two());
    assert.deepEqual(await differing('a.uvh5', 'a.uvfits', { tolerance: 1e-6 }), []);
  });

  it('by cards too that our readers do not look at', async () => {
    await writeVisibilities(named('a.uvfits'), header(), two());
    const bytes = await readFile(named('a.uvfits'));
    const at = bytes.indexOf('EPOCH   =');
    assert.ok(at > 0, 'UVFITS says its equinox');
    bytes.write('EPOCX   =', at, 'latin1');
    await writeFile(named('renamed.uvfits'), bytes);
    const found = await differing('a.uvfits', 'renamed.uvfits');
    assert.deepEqual(found.sort(), [
      'header | card EPOCH | 1',
      'header | card EPOCX | 1',
      'header | extraKeywords.EPOCX | 1',
    ]);
  });
});

describe('channelised recordings are compared', () => {
  const SPECTRA = 5;
  async function write(
    name: string,
    change: (numbers: Int8Array) => void,
    gaps: readonly SpectraGap[] = [],
  ): Promise<void> {
    const numbers = Int8Array.from({ length: CHANNELS * 6 * SPECTRA * 2 }, (_, k) => (k % 11) - 5);
    change(numbers);
    const writer = await createSigmfSpectra(named(name), {
      telescope: trio,
      inputs: 6,
      polarisations: 2,
      type: 'ci8',
      channels: CHANNELS,
      spectrumRateHz: 5e5,
      frequenciesHz: Float64Array.of(160e6, 160.5e6),
      channelWidthHz: 5e5,
      centreFrequencyHz: 160.25e6,
      start: instant(START),
      description: name,
      history: [name],
    });
    await writer.append({
      samples: SPECTRA,
      gaps,
      start: instant(START),
      spectra: spectraCAT(numbers, 'ci8', CHANNELS, 6, SPECTRA),
    });
    await writer.finish();
  }

  it('number by number, and by what is missing', async () => {
    await write('a.sigmf-meta', () => undefined);
    await write('b.sigmf-meta', () => undefined);
    assert.deepEqual(await differing('a.sigmf-meta', 'b.sigmf-meta'), []);
    // Channel 1, input 2 (station 1, X), spectrum 3: its imaginary part.
    await write('value.sigmf-meta', (numbers) => {
      numbers[2 * ((1 * 6 + 2) * SPECTRA + 3) + 1] += 1;
    });
    assert.deepEqual(await differing('a.sigmf-meta', 'value.sigmf-meta'), [
      'values | samples 0 to 4, channel 1, input s1:X, spectrum 3, im | 1',
    ]);
    // The value is already zero where it is missing.
    const zero = (numbers: Int8Array): void => void numbers.fill(0, 0, 2);
    await write('zero.sigmf-meta', zero);
    const box = { firstChannel: 0, endChannel: 1, firstInput: 0, endInput: 1, firstSample: 0, endSample: 1 };
    await write('gap.sigmf-meta', zero, [box]);
    assert.deepEqual(await differing('zero.sigmf-meta', 'gap.sigmf-meta'), [
      'missing | samples 0 to 4, channel 0, input s0:X, spectrum 0 | 1',
    ]);
  });

  it('by their cards', async () => {
    await write('a.sigmf-meta', () => undefined);
    const meta = JSON.parse(await readFile(named('a.sigmf-meta'), 'utf8')) as {
      global: Record<string, unknown>;
    };
    meta.global['core:author'] = 'somebody';
    await writeFile(named('card.sigmf-meta'), JSON.stringify(meta));
    await copyFile(named('a.sigmf-data'), named('card.sigmf-data'));
    assert.deepEqual(await differing('a.sigmf-meta', 'card.sigmf-meta'), ['header | card core:author | 1']);
  });
});

describe('images are compared', () => {
  const PIXELS = 4;
  const image = (values: Float64Array, more: Partial<FitsImage> = {}): FitsImage => ({
    image: imageCPML(values, 2, 1, PIXELS),
    pixels: PIXELS,
    pixelSize: 0.5,
    polarisations: 1,
    frequenciesHz: Float64Array.of(58e6, 59e6),
    channelWidthHz: 1e6,
    centre: { raDeg: 200, decDeg: 30 },
    start: instant(START),
    durationS: 2,
    telescope: 'toy',
    object: 'zenith',
    unit: 'Jy/beam',
    history: ['corella test'],
    ...more,
  });
  const pixels = (change?: readonly [at: number, value: number]): Float64Array => {
    const values = Float64Array.from({ length: 2 * PIXELS ** 2 }, (_, k) => k);
    values[5] = NaN;
    if (change) values[change[0]] = change[1];
    return values;
  };

  it('pixel by pixel, blank ones too, and card by card', async () => {
    await writeFitsImage(named('a.fits'), image(pixels()));
    await writeFitsImage(named('b.fits'), image(pixels(), { history: ['another'] }));
    assert.deepEqual(await differing('a.fits', 'b.fits'), []);
    // Channel 1, row 2, our column 0, which is the file's last.
    await writeFitsImage(named('pixel.fits'), image(pixels([16 + 8, 24.5])));
    assert.deepEqual(await differing('a.fits', 'pixel.fits'), [
      'pixels | stokes 0, freq 1, row 2, column 3 | 1',
    ]);
    assert.deepEqual(await differing('a.fits', 'pixel.fits', { tolerance: 0.5 / 31 }), []);
    assert.equal((await differing('a.fits', 'pixel.fits', { tolerance: 0.49 / 31 })).length, 1);
    await writeFitsImage(named('blank.fits'), image(pixels([8, NaN])));
    assert.deepEqual(await differing('a.fits', 'blank.fits', { tolerance: 1 }), [
      'pixels | stokes 0, freq 0, row 2, column 3 | 1',
    ]);
    await writeFitsImage(named('card.fits'), image(pixels(), { unit: 'counts' }));
    assert.deepEqual(await differing('a.fits', 'card.fits'), ['header | card BUNIT | 1']);
  });

  it('in time, with the table of times', async () => {
    const write = async (name: string, raDeg: number): Promise<void> => {
      const output = await openOutput(named(name));
      const plane = planeML(
        Float64Array.from({ length: PIXELS ** 2 }, (_, k) => k),
        PIXELS,
      );
      await encodeFitsSeries(output, {
        pixels: PIXELS,
        pixelSize: 0.5,
        telescope: 'toy',
        object: 'zenith',
        unit: 'Jy/beam',
        history: [name],
        frequencyHz: 58e6,
        everyS: 1,
        planes: [0, 1].map((k) => ({
          plane,
          start: instant(START + k),
          durationS: 1,
          centre: { raDeg: k === 1 ? 200 : raDeg, decDeg: 30 },
        })),
      });
      await output.finish();
    };
    await write('s.fits', 201);
    await write('t.fits', 201);
    await write('u.fits', 201.5);
    assert.deepEqual(await differing('s.fits', 't.fits'), []);
    assert.deepEqual(await differing('s.fits', 'u.fits'), ['TIMES: column RA | header, number 0 | 1']);
  });

  it('as pictures, pixel by pixel', async () => {
    const draw = (name: string, at: number): Promise<void> => {
      const data = new Uint8Array(2 * 3 * 3);
      data[at] = 200;
      return writeFile(named(name), encode({ width: 2, height: 3, channels: 3, depth: 8, data }));
    };
    await draw('a.png', 0);
    await draw('b.png', 0);
    await draw('c.png', 17);
    assert.deepEqual(await differing('a.png', 'b.png'), []);
    assert.deepEqual(await differing('a.png', 'c.png'), ['pixels | row 0, column 0, colour 0 | 2']);
  });
});

describe('gains are compared', () => {
  const write = (name: string, more: Partial<GainsFile> = {}): Promise<void> =>
    writeGains(named(name), { ...trioGains, ...more });

  it('gain by gain, time by time', async () => {
    await write('a.json');
    await write('b.json', { history: ['another'] });
    assert.deepEqual(await differing('a.json', 'b.json'), []);
    const gains = trioGains.gains.slice() as typeof trioGains.gains;
    const at = trioGains.solved.indexOf(1);
    gains[2 * at] += 0.25;
    await write('gain.json', { gains });
    const inputs = trioGains.solved.length / trioGains.frequenciesHz.length;
    assert.deepEqual(await differing('a.json', 'gain.json'), [
      `gains | ${await firstTime('a.json')}, channel ${Math.floor(at / inputs)}, input ${at % inputs}, re | 1`,
    ]);
    await write('time.json', { time: instant(trioGains.time.unixSeconds, trioGains.time.fraction + 0.125) });
    assert.ok((await differing('a.json', 'time.json')).some((line) => line.startsWith('times | ')));
    await write('card.json', { sources: ['Nothing'] });
    assert.ok(
      (await differing('a.json', 'card.json')).some((line) => line.startsWith('header | sources[0]')),
    );
  });

  const firstTime = async (name: string): Promise<string> =>
    (JSON.parse(await readFile(named(name), 'utf8')) as { time: string }).time;
});

describe('what cannot be compared is refused', () => {
  it('files of two kinds, and what is no file', async () => {
    await writeVisibilities(named('a.uvh5'), header(), two());
    await writeGains(named('a.json'), trioGains);
    await assert.rejects(
      compareFiles(named('a.uvh5'), named('a.json')),
      /cannot be compared: visibilities and gains/,
    );
    await assert.rejects(compareFiles(named('a.uvh5'), named('none.uvh5')), /no such file/);
    await assert.rejects(compareFiles(named('a.uvh5'), named('a.uvh5'), { tolerance: 2 }), /tolerance is 2/);
  });
});
