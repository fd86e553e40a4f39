import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import type { Telescope } from '../telescope/telescope.js';
import { methodLine } from '../compose/index.js';
import { chooseMethod, costByLine, imageCost, type ImageCost } from './method.js';
import type { LiveImaging } from './shown.js';

const eda2 = await loadTelescope('eda2');
const frequenciesHz = Float64Array.of(100e6, 100.1e6);
const imaging: LiveImaging = {
  everyS: 1,
  by: 'visibilities',
  weight: 'natural',
  image: { field: { kind: 'all-sky' }, kernelSize: 5, pixels: 64 },
};
const FAST = { eachS: 0.1, perDataS: 0 };
/** Computing time of images, by method. */
const costs =
  (some: Partial<Record<'direct' | 'flat' | 'w-term', ImageCost>> = {}): typeof imageCost =>
  (method) =>
    Promise.resolve(some[method] ?? FAST);
const fast = costs();
/** Gridded in u, v and w. */
const slow = costs({ 'w-term': { eachS: 7, perDataS: 0 } });

function arrayOf(slopeDeg: number, heightsM: number): Telescope {
  const random = randomStream(2, 'method');
  const stations = Array.from({ length: 24 }, (_, s) => {
    const [eastM, northM] = [24 * (random.uniform() - 0.5), 24 * (random.uniform() - 0.5)];
    const upM = eastM * Math.tan((slopeDeg * Math.PI) / 180) + heightsM * random.gaussian();
    return { name: `s${s}`, eastM, northM, upM };
  });
  return { ...eda2, stations };
}
const asked = (telescope: Telescope, data: 'arrive' | 'wait' = 'arrive') => ({
  backend: openReference(),
  telescope,
  frequenciesHz,
  data,
  ...({ type: 'ci8', grid: { start: instant(1_767_225_600), spectrumRateHz: 1000 } } as const),
});

describe('how live images are made', () => {
  it('in u, v and w where that keeps the cadence', async () => {
    const { chosen, imaging: made } = await chooseMethod(asked(arrayOf(10, 1)), imaging, fast);
    assert.deepEqual(chosen, {
      method: 'w-term',
      predictedError: 1e-4,
      predictedErrorAbove10Deg: 1e-4,
    });
    assert.equal(made.method, 'w-term');
    assert.match(methodLine(chosen), /u, v and w, off by at most 0\.01 % of a source/);
  });

  it('in u, v and w where data wait to be read, however long that takes', async () => {
    const { chosen } = await chooseMethod(asked(arrayOf(0, 1), 'wait'), imaging, slow);
    assert.equal(chosen.method, 'w-term');
  });

  it('in the plane of the stations where it does not, and they are in one', async () => {
    const { chosen, imaging: made } = await chooseMethod(asked(arrayOf(10, 0)), imaging, slow);
    assert.equal(chosen.method, 'flat');
    assert.ok(chosen.predictedErrorAbove10Deg <= 5e-3, `${chosen.predictedErrorAbove10Deg}`);
    assert.ok((made.image.normalEnu?.x ?? 0) < -0.17);
  });

  it('with larger kernels where those are needed', async () => {
    const { imaging: made } = await chooseMethod(
      asked(arrayOf(10, 0)),
      {
        ...imaging,
        image: { ...imaging.image, kernelSize: 3 },
      },
      slow,
    );
    assert.equal(made.image.kernelSize, 5);
  });

  it('or are refused with the number', async () => {
    await assert.rejects(
      chooseMethod(asked(arrayOf(0, 1)), imaging, slow),
      /takes 7\.0 s here.*off by up to \d+\.\d % of a source.*less often, like 14s/,
    );
    await assert.rejects(
      chooseMethod(asked(arrayOf(0, 3)), { ...imaging, by: 'direct' }, slow),
      /off by up to \d+ % of a source|kernels are \d+ % wrong/,
    );
  });

  it('directly, with the bound on their error', async () => {
    const { chosen } = await chooseMethod(asked(arrayOf(10, 0)), { ...imaging, by: 'direct' }, slow);
    assert.equal(chosen.method, 'direct');
    assert.ok(chosen.predictedErrorAbove10Deg < 5e-3);
  });

  const direct: LiveImaging = { ...imaging, by: 'direct' };
  const flat = arrayOf(10, 0);

  it('which may take half of the time, are reported beyond, and refused beyond all of it', async () => {
    for (const [made, method] of [
      [direct, 'direct'],
      [imaging, 'flat'],
    ] as const) {
      const choose = (eachS: number, perDataS: number, data?: 'wait') =>
        chooseMethod(asked(flat, data), made, costs({ 'w-term': { eachS: 7, perDataS: 0 }, [method]: { eachS, perDataS } })); // prettier-ignore
      assert.equal((await choose(0.3, 0.2)).slow, undefined);
      const { slow, chosen } = await choose(0.3, 0.4);
      assert.equal(chosen.method, method);
      assert.equal(slow?.code, 'image.slow');
      assert.deepEqual(slow.data, { method, seconds: 0.7, everyS: 1, keptEveryS: 3 });
      assert.equal(((await choose(0.3, 0.6)).slow?.data as { keptEveryS?: number }).keptEveryS, undefined);
      await assert.rejects(choose(0.9, 0.2), /takes 1\.1 s here, and one every 1\.0 s.*less often, like 3s/);
      await assert.rejects(choose(0.1, 1), /takes 1\.1 s here.*image fewer channels or fewer pixels/);
      if (made === direct) assert.equal((await choose(9, 9, 'wait')).slow, undefined);
    }
  });

  it('by times of which the first was held up by other work', async () => {
    const times = [0.06, 0.0074, 0.0296, 0.118, 0.474, 1.9];
    const asked: number[] = [];
    const { perDataS } = await costByLine(
      (spectra) => {
        asked.push(spectra);
        return Promise.resolve(times[asked.length - 1]);
      },
      1024,
      5000,
    );
    assert.deepEqual(asked, [1, 4, 16, 64, 256, 1024]);
    // 1.85 ms each; what held up the first is missing from the last.
    assert.ok(Math.abs(perDataS - 5000 * 1.85e-3) < 0.05 * 5000 * 1.85e-3, `${perDataS}`);
  });

  it('after some were timed', async () => {
    const telescope = selectStations(eda2, 8);
    for (const method of ['direct', 'flat', 'w-term'] as const) {
      const { eachS, perDataS } = await imageCost(method, asked(telescope), {
        ...imaging,
        image: { field: { kind: 'all-sky' }, kernelSize: 3, pixels: 32 },
      });
      assert.ok(eachS >= 0 && perDataS >= 0 && eachS + perDataS > 0, `${method}: ${eachS}, ${perDataS}`);
      if (method !== 'direct') assert.equal(perDataS, 0);
    }
  });
});
