/** U and V are written as calibrated only if the phase between X and Y is known. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readFitsImage, readGainFile } from '../formats/index.js';
import { corellaHere } from './corella.js';
import { randomGains, writeKnownSky } from './known-sky.js';

const STATIONS = 12;
const FREQUENCIES = [150e6, 150.1e6, 150.2e6];
/** I, Q, U, V of a source at altitude 90°: U/I = 0.6, V/I = 0.1. */
const TRUTH = [100, 5, 60, 10] as const;
const SPOT = ['--sources', 'spot@90:0:100'] as const;
const POLARISED = ['--polarise', 'spot:0.05:0.6:0.1'] as const;

describe('the phase between X and Y', () => {
  const folder = temporaryFolder('cross-hand');
  const corella = (...words: string[]) => corellaHere(folder, ...words, '--quiet');
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
    corella('image', 'sky.uvfits', '--gains', gains, '-o', out, '--pixels', '64', '--no-picture', ...more);

  before(async () => {
    const sources = [{ altDeg: 90, azDeg: 0, stokes: TRUTH }];
    const common = { stations: STATIONS, radiusM: 12, frequenciesHz: FREQUENCIES, noiseJy: 1, sources };
    const jones = randomGains(3, STATIONS, 3);
    await writeKnownSky(join(folder, 'sky.uvfits'), { ...common, jones });
    // Another observation: more noise.
    await writeKnownSky(join(folder, 'later.uvfits'), { ...common, jones, seed: 5, noiseJy: 1.1 });
    const linear = [{ altDeg: 90, azDeg: 0, stokes: [100, 5, 60, 0] as const }];
    await writeKnownSky(join(folder, 'linear.uvfits'), { ...common, sources: linear, jones });
    await writeKnownSky(join(folder, 'other.uvfits'), { ...common, jones: randomGains(4, STATIONS, 3) });
  });

  it('unknown: images have I alone, and everyone reports it', async () => {
    const ran = await corella('calibrate', 'sky.uvfits', ...SPOT, '--polarise', 'spot:0.05:0:0', '-o', 'unknown.json'); // prettier-ignore
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /the phase between X and Y is unknown: images leave out U and V/);
    const json = JSON.parse(await readFile(join(folder, 'unknown.json'), 'utf8')) as { crossHand: unknown };
    assert.deepEqual(json.crossHand, { how: 'unknown', phaseDeg: [null, null, null] });
    for (const gains of ['unknown.json', 'unknown.calh5']) {
      const made = await image(gains, 'iq.fits', '--overwrite');
      assert.equal(made.code, 0, made.stderr);
      assert.match(made.stdout, /plane I alone/);
      const planes = await atZenith('iq.fits');
      assert.deepEqual(Object.keys(planes), ['1']);
      assert.ok(Math.abs(planes[1] - 100) < 1, JSON.stringify(planes));
      const header = (await readFile(join(folder, 'iq.fits'))).toString('latin1');
      assert.match(header, /U and V are left out: the phase between/);
    }
    const asked = await image('unknown.json', 'no.fits', '--stokes', 'IQUV', '--centre', 'zenith');
    assert.equal(asked.code, 1);
    assert.match(asked.stderr, /--stokes: the gains do not know the phase between X and Y/);
    const inspected = await corella('inspect', 'unknown.json');
    assert.match(inspected.stdout, /X to Y +phase unknown: U and V are not calibrated/);
  });

  it('by a polarised source of the model: all four are right, in both files of gains', async () => {
    const ran = await corella('calibrate', 'sky.uvfits', ...SPOT, ...POLARISED, '-o', 'model.json');
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /the phase between X and Y: .* by the model/);
    for (const gains of ['model.json', 'model.calh5']) {
      const made = await image(gains, 'iquv.fits', '--overwrite');
      assert.equal(made.code, 0, made.stderr);
      const planes = await atZenith('iquv.fits');
      TRUTH.forEach((truth, k) => {
        assert.ok(Math.abs(planes[k + 1] - truth) < 1, `${gains}: ${JSON.stringify(planes)}`);
      });
    }
    assert.equal((await readGainFile(join(folder, 'model.calh5'))).crossHand?.how, 'model');
  });

  it('by V = 0 and a sign of U', async () => {
    const words = ['calibrate', 'linear.uvfits', ...SPOT, '--polarise', 'spot:0.05:0:0'];
    for (const [sign, u] of [
      ['positive', 60],
      ['negative', -60],
    ] as const) {
      // prettier-ignore
      const ran = await corella(...words, '--cross-hand', `v-zero:u-${sign}`, '-o', `${sign}.json`);
      assert.equal(ran.code, 0, ran.stderr);
      const made = await corella('image', 'linear.uvfits', '--gains', `${sign}.json`, '-o', `${sign}.fits`, '--pixels', '64', '--no-picture'); // prettier-ignore
      assert.equal(made.code, 0, made.stderr);
      const planes = await atZenith(`${sign}.fits`);
      assert.ok(Math.abs(planes[3] - u) < 1 && Math.abs(planes[4]) < 1, JSON.stringify(planes));
    }
    const open = await corella(...words, '--cross-hand', 'v-zero', '-o', 'open.json');
    assert.equal(open.code, 1);
    assert.match(open.stderr, /V = 0 alone leaves the sign of U and V open/);
  });

  it('of an earlier observation, or as given', async () => {
    const words = ['calibrate', 'later.uvfits', ...SPOT, '--polarise', 'spot:0.05:0:0'];
    const ran = await corella(...words, '--cross-hand', 'model.json', '-o', 'second.json');
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /as in the earlier gains/);
    const made = await corella('image', 'later.uvfits', '--gains', 'second.json', '-o', 'second.fits', '--pixels', '64', '--no-picture'); // prettier-ignore
    assert.equal(made.code, 0, made.stderr);
    const planes = await atZenith('second.fits');
    TRUTH.forEach((truth, k) => {
      assert.ok(Math.abs(planes[k + 1] - truth) < 1, JSON.stringify(planes));
    });
    const [phase] = (await readGainFile(join(folder, 'model.json'))).crossHand?.phaseRad ?? [];
    const given = await corella(...words, '--cross-hand', `${((phase * 180) / Math.PI).toFixed(2)}deg`, '-o', 'given.json'); // prettier-ignore
    assert.equal(given.code, 0, given.stderr);
    const [again] = (await readGainFile(join(folder, 'given.json'))).crossHand?.phaseRad ?? [];
    assert.ok(Math.abs(again - phase) < 1e-3);
    const unlike = await corella('calibrate', 'other.uvfits', ...SPOT, '--cross-hand', 'model.json', '-o', 'x.json'); // prettier-ignore
    assert.equal(unlike.code, 1);
    assert.match(unlike.stderr, /its phases between X and Y are not those of these data/);
    const knowsNot = await corella(...words, '--cross-hand', 'unknown.json', '-o', 'x.json');
    assert.match(knowsNot.stderr, /does not know the phase between X and Y itself/);
  });

  it('that the data do not show is refused where it is asked for', async () => {
    const none = await corella('calibrate', 'sky.uvfits', ...SPOT, '--cross-hand', 'model', '-o', 'x.json');
    assert.match(none.stderr, /no source of the model is polarised/);
    // A model with a tenth of the polarised flux does not fit this sky.
    const wrong = await corella('calibrate', 'sky.uvfits', ...SPOT, '--polarise', 'spot:0.05:0.06:0.01', '--cross-hand', 'model', '-o', 'x.json'); // prettier-ignore
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /the cross hands are 10 times the model's/);
  });
});
