/** Files on the page of corella view. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Backend } from '../../backend/backend.js';
import { openBackend } from '../../backend/select.js';
import { baselineCount, countsCB, imageCPML, visibilitiesCBPP } from '../../core/axes.js';
import { parseInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { visibilityFormatFor, writeFitsImage } from '../../formats/index.js';
import { fitsImageBytes, sinCards } from '../../formats/testing/fits-image.js';
import type { Telescope } from '../../telescope/telescope.js';
import { openPage, showFits, showVisibilities, type Page } from '../index.js';

const HZ = 30e6;
/** From west to east. */
const PLACES = [0, 3, 7, 13, 20, 29];
const telescope: Telescope = {
  name: 'row',
  title: 'A row',
  site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1400 },
  stations: PLACES.map((eastM, s) => ({ name: `s${s}`, eastM, northM: 0, upM: 0 })),
  polarisations: 1,
  band: { lowHz: 10e6, highHz: 88e6 },
  recording: { centreFrequencyHz: HZ, sampleRateHz: 200, channels: 2, bits: 8 },
  beamExponent: 0,
  mount: 'fixed',
};
const folder = temporaryFolder('shown');
const start = parseInstant('2026-06-21T04:00:00Z', 'test');

/** A source of 100 at the zenith: every pair measures the same. */
async function writeZenith(path: string): Promise<void> {
  const pairs = baselineCount(PLACES.length);
  const writer = await visibilityFormatFor(path).createVisibilities(path, {
    telescope,
    polarisations: 1,
    frequenciesHz: Float64Array.of(HZ),
    channelWidthHz: 1e5,
    object: 'zenith',
    history: [],
    phaseCentre: { raDeg: 0, decDeg: 34 },
    feedFrame: 'feeds',
    fringes: 'running',
  });
  await writer.append({
    start,
    durationS: 1,
    channels: 1,
    stations: PLACES.length,
    polarisations: 1,
    visibilities: visibilitiesCBPP(Float64Array.from({ length: 2 * pairs }, (_, k) => (k % 2 === 0 ? 100 : 0)), 1, pairs, 1),
    counts: countsCB(new Float64Array(pairs).fill(1), 1, pairs),
    flaggedInputs: new Uint8Array(PLACES.length),
  }); // prettier-ignore
  await writer.finish();
}

let page: Page;
let backend: Backend;
before(async () => {
  backend = await openBackend('reference');
  page = await openPage({
    host: '127.0.0.1',
    port: 0,
    stop: () => undefined,
    say: () => undefined,
    facts: { description: 'files', backend: 'reference', version: '0', isLive: false, folder: '.' },
  });
});
after(async () => {
  await page.close();
  await backend.close();
});

describe('visibilities of bare dipoles', () => {
  /** At l = 0.6 east and m = 0: the mean of cosines over all pairs, and the response there, (1 + 0.64)/2, by hand. */
  function expected(): number {
    let [sum, pairs] = [0, 0];
    for (const [i, a] of PLACES.entries())
      for (const b of PLACES.slice(0, i)) {
        sum += Math.cos((2 * Math.PI * HZ * (a - b) * 0.6) / 299_792_458);
        pairs++;
      }
    return (100 * sum) / pairs / 0.82;
  }
  const seen = (plane: Float32Array, { shape: [pixels], pixelSize }: { readonly shape: readonly number[]; readonly pixelSize: number }) => {
    // Between the two pixels nearest to it.
    const at = 0.6 / pixelSize + pixels / 2;
    const of = (column: number): number => plane[(pixels / 2) * pixels + column];
    const part = at - Math.floor(at);
    return (1 - part) * of(Math.floor(at)) + part * of(Math.ceil(at));
  }; // prettier-ignore

  it('are shown without their response', async () => {
    const path = join(folder, 'zenith.uvh5');
    await writeZenith(path);
    await showVisibilities(page, path, undefined, { backend, say: () => undefined });
    const { frame } = page.state;
    assert.ok(frame);
    const found = seen(frame.plane, frame.head);
    assert.ok(Math.abs(found - expected()) < 0.01 * 100, `${found} for ${expected()}`);
    assert.ok(Math.abs(expected()) > 10);
  });
});

describe('images of several files of one time', () => {
  const write = (name: string, value: number): Promise<void> =>
    writeFitsImage(join(folder, name), {
      image: imageCPML(new Float64Array(16).fill(value), 1, 1, 4),
      pixels: 4,
      pixelSize: 0.5,
      polarisations: 1,
      frequenciesHz: Float64Array.of(HZ),
      channelWidthHz: 1e5,
      centre: { raDeg: 0, decDeg: 34 },
      start,
      durationS: 1,
      telescope: 'row',
      object: 'zenith',
      unit: 'Jy/beam',
      history: [],
    });
  interface Place {
    readonly value: number;
    readonly curve: readonly { readonly value: number }[];
    readonly spectrum: readonly number[];
  }
  const get = async <Value>(query: string): Promise<Value> =>
    (await (await fetch(`${page.url}api/v1/${query}`)).json()) as Value;
  const valuesAt = async (query: string): Promise<number[]> =>
    (await get<Place>(`place?l=0&m=0${query}`)).curve.map(({ value }) => value);

  it('each keep their own values, and a place has those of the image that is shown', async () => {
    const files = ['one.fits', 'two.fits', 'three.fits'].map((name) => join(folder, name));
    for (const [k, path] of files.entries()) {
      await write(['one.fits', 'two.fits', 'three.fits'][k], k + 1);
      await showFits(page, path);
    }
    assert.deepEqual(await valuesAt(''), [3]);
    assert.equal((await get<Place>('place?l=0&m=0')).value, 3);
    assert.deepEqual(await valuesAt(`&file=${encodeURIComponent(files[0])}`), [1]);
    assert.deepEqual((await get<Place>('place?l=0&m=0')).spectrum, []);
    const listed = await get<readonly { readonly file?: string; readonly peak: number; readonly unixS: number }[]>('images'); // prettier-ignore
    const own = listed.filter(({ file }) => file !== undefined && files.includes(file));
    assert.deepEqual(own.map(({ file, peak }) => [file, peak]), files.map((file, k) => [file, k + 1])); // prettier-ignore
    const then = `unixS=${own[1].unixS}&file=${encodeURIComponent(files[1])}`;
    assert.equal((await get<Place>(`place?l=0&m=0&${then}`)).value, 2);
    const at = await fetch(`${page.url}api/v1/images/at?${then}`); // prettier-ignore
    const bytes = await at.arrayBuffer();
    assert.equal(new Float32Array(bytes.slice(-4))[0], 2);
  });
});

it('an image of others has its sources at their places, and its first Stokes parameter alone', async () => {
  const path = join(folder, 'others.fits');
  const stokes = { CTYPE3: 'STOKES', CRVAL3: 1, CDELT3: 1, CRPIX3: 1 };
  // Cyg A, eight pixels of a degree beyond the western edge.
  const sky = { CRVAL1: 299.868, CRVAL2: 40.734, CDELT1: -1, CDELT2: 1, CRPIX1: 12 };
  const values = Array.from({ length: 64 }, (_, k) => (k < 16 ? 8 : 0));
  await writeFile(path, fitsImageBytes(-32, [4, 4, 4], { ...sinCards, ...sky, ...stokes }, values));
  await showFits(page, path);
  const { head, plane } = page.state.frame ?? assert.fail('no image');
  assert.deepEqual([...plane], new Array<number>(16).fill(8));
  const source = head.sources.find(({ name }) => name.includes('Cyg')) ?? assert.fail('no Cyg A');
  assert.ok(Math.abs(source.l / head.pixelSize + 2 - -8) < 0.05, `${source.l / head.pixelSize + 2}`);
});
