import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSeconds, parseInstant, secondsBetween, type Instant } from '../core/instant.js';
import type { ImagePlan } from '../image/index.js';
import { skyFrame, type SkyFrame } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import { pixelsOf } from './sky-image.js';
import { ImagerStore, PlannedImager, planMoments, type PlannedFor } from './planned-imager.js';

const whole = await loadTelescope('lwasv');
const telescope = selectStations(whole, 4);
const start = parseInstant('2026-11-16T04:10:00Z');
const settings = { pixels: 256, field: { kind: 'all-sky' }, kernelSize: 1 } as const;
const frequenciesHz = Float64Array.of(60e6);
const frameAt = (moment: Instant): SkyFrame => skyFrame(telescope.site, moment);
const open = (plannedFor?: PlannedFor) =>
  new PlannedImager({
    telescope,
    frequenciesHz,
    settings,
    plannedFor,
    prepare: () => Promise.resolve({ close: () => Promise.resolve() }),
  });
/** Axes under images every so often from a moment on. */
async function axesFrom(first: number, images: number, everyS: number, plannedFor?: PlannedFor) {
  const planned = open(plannedFor);
  const axes: ImagePlan['axes'][] = [];
  for (let n = first; n < first + images; n++)
    axes.push((await planned.at(frameAt(addSeconds(start, n * everyS)))).plan.axes);
  return { axes, plans: planned.plans };
}
/** How far the edge of an image is off, in pixels. */
function errorPixels({ l }: ImagePlan['axes'], moment: Instant): number {
  const frame = frameAt(moment);
  const now = frame.tangentAxes(frame.zenith).l;
  return Math.hypot(now.x - l.x, now.y - l.y, now.z - l.z) * (settings.pixels / 2);
}

describe('plans of a series of images', () => {
  it('by UTC are the same whoever asks and since when, and hold everywhere', async () => {
    const everyS = 60;
    const { axes, plans } = await axesFrom(0, 120, everyS, 'utc');
    assert.ok(plans > 2 && plans < 30, `${plans}`);
    for (const first of [1, 17, 65, 119]) {
      const later = await axesFrom(first, 120 - first, everyS, 'utc');
      assert.deepEqual(later.axes, axes.slice(first));
    }
    axes.forEach((one, n) => {
      assert.ok(errorPixels(one, addSeconds(start, n * everyS)) <= 0.0101, `${n}`);
    });
  });

  it('go on where another began, as one process would', async () => {
    const everyS = 60;
    const frames = Array.from({ length: 120 }, (_, n) => frameAt(addSeconds(start, n * everyS)));
    const moments = planMoments(frames, (frame) => pixelsOf(telescope, frame, frequenciesHz, settings), {
      x: 0,
      y: 0,
      z: 1,
    });
    const { axes, plans } = await axesFrom(0, 120, everyS);
    assert.equal(new Set(moments.map((moment) => secondsBetween(start, moment))).size, plans);
    assert.ok(plans > 2);
    for (const first of [1, 40, 77]) {
      const later = await axesFrom(first, 120 - first, everyS, moments[first]);
      assert.deepEqual(later.axes, axes.slice(first));
      const alone = await axesFrom(first, 120 - first, everyS);
      assert.notDeepEqual(alone.axes, axes.slice(first));
    }
  });

  it('of UTC are left in a store for the next who makes the same images, and closed with it', async () => {
    const store = new ImagerStore();
    let [prepared, closed, renewed] = [0, 0, 0];
    const session = (plannedFor?: PlannedFor) =>
      new PlannedImager({
        telescope,
        frequenciesHz,
        settings,
        store,
        plannedFor,
        renew: () => renewed++,
        prepare: () => {
          prepared++;
          const close = () => {
            closed++;
            return Promise.resolve();
          };
          return Promise.resolve({ close });
        },
      });
    const at = frameAt(start);
    const first = session('utc');
    const { plan } = await first.at(at);
    await first.close();
    const second = session('utc');
    assert.equal((await second.at(frameAt(addSeconds(start, 1)))).plan, plan);
    assert.deepEqual([prepared, closed, renewed], [1, 0, 1]);
    // An hour later it no longer holds.
    await second.at(frameAt(addSeconds(start, 3600)));
    assert.deepEqual([prepared, closed], [2, 1]);
    await second.close();
    await store.close();
    assert.equal(closed, 2);
    // Plans for a first image are made for that image.
    const own = session();
    await own.at(at);
    await own.close();
    assert.deepEqual([prepared, closed], [3, 3]);
  });
});
