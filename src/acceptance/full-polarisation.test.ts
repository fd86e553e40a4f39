/**
 * Full-polarisation gain matrices through the command line: leakage, random phases of X and Y, and a sky not solved on.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile, readFitsImage, readGainFile } from '../formats/index.js';
import { corellaHere } from './corella.js';
import { writeKnownSky, type Complex, type Jones } from './known-sky.js';

const STATIONS = 14;
const FREQUENCIES = [150e6, 150.1e6];
/** I, Q, U, V of a source at the zenith that is in no model: U/I = 0.6, V/I = 0.1. */
const TRUTH = [100, 5, 60, 10] as const;
/** The solved field: three sources with different polarisations. */
const field = [
  { altDeg: 60, azDeg: 20, stokes: [100, 0, 0, 0] as const },
  { altDeg: 75, azDeg: 150, stokes: [80, 4, 48, 8] as const },
  { altDeg: 50, azDeg: 260, stokes: [70, -21, 7, 21] as const },
];
const FIELD = ['--sources', 'a@60:20:100,b@75:150:80,c@50:260:70'] as const;
const POLARISED = ['--polarise', 'b:0.05:0.6:0.1', '--polarise', 'c:-0.3:0.1:0.3'] as const;

/** Gains of 0.8 to 1.2 of any phase, and leakage of one amplitude and any phase. */
function leaky(seed: number, leakage: number): (s: number, c: number) => Jones {
  const random = randomStream(seed, 'leaky');
  const part = (): number => random.below(2 ** 24) / 2 ** 24;
  const turned = (size: number): Complex => {
    const turn = 2 * Math.PI * part();
    return [size * Math.cos(turn), size * Math.sin(turn)];
  };
  const table = Array.from({ length: STATIONS * FREQUENCIES.length }, (): Jones => {
    const [x, y] = [0.8 + 0.4 * part(), 0.8 + 0.4 * part()];
    return [turned(x), turned(leakage * x), turned(leakage * y), turned(y)];
  });
  return (s, c) => table[c * STATIONS + s];
}

describe('full polarisation', () => {
  const folder = temporaryFolder('full-polarisation');
  const corella = (...words: string[]) => corellaHere(folder, ...words, '--quiet');
  const works = async (...words: string[]): Promise<string> => {
    const ran = await corella(...words);
    assert.equal(ran.code, 0, ran.stderr);
    return ran.stdout;
  };
  /** Every plane at the zenith, by its Stokes code. */
  async function atZenith(name: string): Promise<Record<number, number>> {
    const { values, pixels, planes, details } = await readFitsImage(join(folder, name));
    const [first, step] = ['CRVAL4', 'CDELT4'].map((key) => Number(details[key]));
    const middle = (pixels / 2) * pixels + pixels / 2;
    return Object.fromEntries(
      Array.from({ length: planes }, (_, k) => [first + k * step, values[k * pixels * pixels + middle]]),
    );
  }
  const image = (gains: string, out: string, ...more: string[]) =>
    corella('image', 'target.uvfits', '--gains', gains, '-o', out, '--pixels', '64', '--no-picture', '--overwrite', ...more); // prettier-ignore
  const stored = async (name: string) => {
    const file = await openFile(join(folder, name));
    assert.ok(file.kind === 'visibilities');
    try {
      for await (const { passThrough } of file.integrations()) if (passThrough) return passThrough;
      throw new Error('no integration');
    } finally {
      await file.close();
    }
  };
  const common = { stations: STATIONS, radiusM: 25, frequenciesHz: FREQUENCIES };
  const zenith = [{ altDeg: 90, azDeg: 0, stokes: TRUTH }];

  before(async () => {
    const jones = leaky(3, 0.2);
    await writeKnownSky(join(folder, 'field.uvfits'), { ...common, jones, noiseJy: 0.5, sources: field });
    await writeKnownSky(join(folder, 'target.uvfits'), { ...common, jones, noiseJy: 0.5, sources: zenith });
    await writeKnownSky(join(folder, 'target.uvh5'), { ...common, jones, sources: zenith });
    await writeKnownSky(join(folder, 'truth.uvh5'), { ...common, sources: zenith });
    await works('calibrate', 'field.uvfits', ...FIELD, ...POLARISED, '--polarisation', 'full', '-o', 'full.json'); // prettier-ignore
  });

  it('20 % of leakage and any phases: I, Q, U and V of a source outside the model, within 1 % of I', async () => {
    for (const gains of ['full.json', 'full.calh5']) {
      const made = await image(gains, 'full.fits');
      assert.equal(made.code, 0, made.stderr);
      const planes = await atZenith('full.fits');
      TRUTH.forEach((truth, k) => {
        assert.ok(Math.abs(planes[k + 1] - truth) < 1, `${gains}: ${JSON.stringify(planes)}`);
      });
      const wide = await image(gains, 'wide.fits', '--centre', 'zenith', '--stokes', 'IQUV', '--field', '20');
      assert.equal(wide.code, 0, wide.stderr);
      const wider = await atZenith('wide.fits');
      TRUTH.forEach((truth, k) => {
        assert.ok(Math.abs(wider[k + 1] - truth) < 1, `${gains}, wide: ${JSON.stringify(wider)}`);
      });
    }
  });

  it('a gain for each input leaves the leakage in: more than 1 % of I is wrong', async () => {
    await works('calibrate', 'field.uvfits', ...FIELD, ...POLARISED, '-o', 'each.json', '--accept-model');
    const made = await image('each.json', 'each.fits', '--cross-hand-known');
    assert.equal(made.code, 0, made.stderr);
    const planes = await atZenith('each.fits');
    assert.ok(
      TRUTH.some((truth, k) => Math.abs(planes[k + 1] - truth) > 2),
      JSON.stringify(planes),
    );
  });

  it('apply undoes it on both sides, to the sky that was put in', async () => {
    const said = await works('apply', 'target.uvh5', 'full.calh5', 'applied.uvh5');
    assert.ok(!said.includes('flagged'), said);
    const [fixed, truth] = [await stored('applied.uvh5'), await stored('truth.uvh5')];
    let worst = 0;
    fixed.weights.forEach((weight, at) => {
      assert.ok(weight > 0);
      const off = Math.hypot(fixed.means[2 * at] - truth.means[2 * at], fixed.means[2 * at + 1] - truth.means[2 * at + 1]); // prettier-ignore
      worst = Math.max(worst, off);
    });
    // 0.5 Jy of noise in 100 Jy over 14 stations: a gain has an error of 0.3 %, and a product contains two.
    assert.ok(worst < 2.5, `${worst} Jy off`);
  });

  for (const leakage of [0.05, 0.1])
    it(`recovers leakage of ${100 * leakage} %, and reports it`, async () => {
      await writeKnownSky(join(folder, 'some.uvfits'), { ...common, jones: leaky(4, leakage), noiseJy: 0.1, sources: field }); // prettier-ignore
      const said = await works('calibrate', 'some.uvfits', ...FIELD, ...POLARISED, '--polarisation', 'full', '-o', 'some.json', '--overwrite', '--json'); // prettier-ignore
      const { fullPolarisation } = JSON.parse(said) as {
        fullPolarisation: { medianLeakage: number; largestLeakage: number; openRotations: number };
      };
      assert.ok(Math.abs(fullPolarisation.medianLeakage - leakage) < 0.003, said);
      assert.ok(Math.abs(fullPolarisation.largestLeakage - leakage) < 0.01, said);
      assert.equal(fullPolarisation.openRotations, 0);
    });

  it('wrong signs of U and V, which one source alone does not show, are found beside the unpolarised model', async () => {
    const one = { altDeg: 75, azDeg: 150, stokes: [80, 4, 16, 8] as const };
    await writeKnownSky(join(folder, 'one.uvfits'), { ...common, frequenciesHz: [150e6], jones: leaky(4, 0.1), noiseJy: 0.5, sources: [one] }); // prettier-ignore
    const solved = (...polarise: string[]) =>
      works('calibrate', 'one.uvfits', '--sources', 'b@75:150:80', ...polarise, '--polarisation', 'full', '-o', 'one.json', '--overwrite'); // prettier-ignore
    const wrong = await solved('--polarise', 'b:0.05:-0.2:-0.1');
    assert.match(wrong, /an unpolarised model fits as well .* leakage of 15\.6 %, not 22\.\d %: check the signs.*--polarise.*\[calibrate\.unpolarised-fits\]/); // prettier-ignore
    const right = await solved('--polarise', 'b:0.05:0.2:0.1');
    assert.match(
      right,
      /an unpolarised model fits as well, with a median leakage of 15\.6 % \(here 14\.2 %\)/,
    );
    assert.doesNotMatch(right, /unpolarised-fits/);
    assert.doesNotMatch(await solved(), /unpolarised/);
    // Three sources of different polarisation leave nothing open.
    const three = await works('calibrate', 'field.uvfits', ...FIELD, ...POLARISED, '--polarisation', 'full', '-o', 'one.json', '--overwrite'); // prettier-ignore
    assert.match(
      three,
      /the polarised model fits better than an unpolarised one: it leaves [\d.]+ %, not \d+ %/,
    );
  });

  it('three stations are refused: other matrices fit them as well', async () => {
    await writeKnownSky(join(folder, 'three.uvfits'), { ...common, stations: 3, jones: leaky(5, 0.1), noiseJy: 0.1, sources: field }); // prettier-ignore
    const ran = await corella('calibrate', 'three.uvfits', ...FIELD, ...POLARISED, '--polarisation', 'full', '-o', 'three.json'); // prettier-ignore
    assert.notEqual(ran.code, 0);
    assert.match(ran.stderr, /3 stations with 3 pairs leave their matrices open/);
    assert.match(ran.stderr, /keep four stations that all have pairs with each other/);
  });

  it('is kept in both files, term by term', async () => {
    const [json, calh5] = [await readGainFile(join(folder, 'full.json')), await readGainFile(join(folder, 'full.calh5'))]; // prettier-ignore
    assert.ok(json.leakage && calh5.leakage);
    json.leakage.forEach((value, n) => {
      assert.equal(calh5.leakage?.[n], value);
      assert.equal(calh5.gains[n], json.gains[n]);
    });
    assert.equal(calh5.crossHand?.how, 'model');
    // The true leakage of station 3, relative to the phase of s0's X.
    const jones = leaky(3, 0.2);
    const [[re, im]] = jones(0, 1);
    const size = Math.hypot(re, im);
    const wanted = jones(3, 1).map(([a, b]) => [(a * re + b * im) / size, (b * re - a * im) / size]);
    const at = 2 * (2 * STATIONS + 6);
    const found = [json.gains, json.leakage].map((values) => [...values.subarray(at, at + 4)]);
    const off = [
      [...wanted[0], ...wanted[3]].map((value, n) => value - found[0][n]),
      [...wanted[1], ...wanted[2]].map((value, n) => value - found[1][n]),
    ].flat();
    assert.ok(Math.hypot(...off) < 0.02, JSON.stringify({ wanted, found }));
    const inspected = await works('inspect', 'full.json');
    assert.match(inspected, /X to Y +matrices \(model\), leakage too, in 2 of 2 channels/);
  });

  it('a model that holds no polarisation leaves Q, U and V out, and reports why', async () => {
    const sky = [{ altDeg: 60, azDeg: 20, stokes: [100, 0, 0, 0] as const }];
    await writeKnownSky(join(folder, 'plain.uvfits'), { ...common, jones: leaky(3, 0.2), noiseJy: 0.5, sources: sky }); // prettier-ignore
    const words = ['calibrate', 'plain.uvfits', '--sources', 'a@60:20:100', '--polarisation', 'full', '-o', 'open.json']; // prettier-ignore
    assert.match(
      await works(...words),
      /the model leaves 3 rotations of Q, U and V open: images have I alone/,
    );
    const json = JSON.parse(await readFile(join(folder, 'open.json'), 'utf8')) as { crossHand: unknown };
    assert.deepEqual(json.crossHand, { how: 'unknown', phaseDeg: [null, null] });
    for (const gains of ['open.json', 'open.calh5']) {
      const made = await image(gains, 'open.fits');
      assert.match(made.stdout, /plane I alone/);
      const planes = await atZenith('open.fits');
      assert.deepEqual(Object.keys(planes), ['1']);
      // I needs no polarisation calibration: it is the trace.
      assert.ok(Math.abs(planes[1] - 100) < 1, JSON.stringify(planes));
      const header = (await readFile(join(folder, 'open.fits'))).toString('latin1');
      assert.match(header, /Stokes Q, U and V are left out: the model of the gains/);
    }
    const asked = await image('open.json', 'no.fits', '--stokes', 'IQUV', '--centre', 'zenith');
    assert.match(asked.stderr, /--stokes: the model of the gains leaves a rotation of Q, U and V open/);
    const strict = await corella(...words, '--overwrite', '--cross-hand', 'model');
    assert.match(strict.stderr, /the model leaves 3 rotations of Q, U and V open/);
    assert.match(await works('apply', 'target.uvh5', 'open.json', 'half.uvh5'), /only I is right/);
  });

  it('refuses what it cannot do besides', async () => {
    const words = ['calibrate', 'field.uvfits', ...FIELD, '--polarisation', 'full', '-o', 'x.json'];
    for (const [more, reason] of [
      [['--over', 'delay'], /--polarisation full: solves each channel by itself, not --over delay/],
      [['--cross-hand', '42deg'], /finds the phase between X and Y with everything else/],
    ] as const) {
      const ran = await corella(...words, ...more);
      assert.equal(ran.code, 1);
      assert.match(ran.stderr, reason);
    }
    const ran = await corella('calibrate', 'field.uvfits', '--polarisation', 'half');
    assert.match(ran.stderr, /--polarisation: "half" is not allowed; give each or full/);
    const earlier = await corella('calibrate', 'field.uvfits', ...FIELD, '--cross-hand', 'full.json', '-o', 'x.json'); // prettier-ignore
    assert.match(earlier.stderr, /full\.json: holds matrices of full polarisation/);
  });
});
