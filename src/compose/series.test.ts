/** One prepared composition makes image after image: nothing is planned, prepared or allocated again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu, type CpuBackend } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { baselineCount, countsCB, gainsCA, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import { imageIntegration } from './index.js';
import { prepareImage, type VisibilitySkyImage } from '../stages/index.js';

const IMAGES = 200;
const CADENCE_S = 0.04;
const CHANNELS = 2;
const library = loadNative();

/** A backend that counts what is opened in the native library. */
function counting(cpu: CpuBackend): { readonly backend: CpuBackend; opened: () => number } {
  let opened = 0;
  const { native } = cpu;
  const open: typeof native.open = (...given) => {
    opened++;
    return native.open(...given);
  };
  const watched = Object.create(native, { open: { value: open } }) as typeof native;
  const backend = Object.create(cpu, { native: { value: watched } }) as CpuBackend;
  return { backend, opened: () => opened };
}

describe('a series of images', { skip: 'what' in library ? library.what : false }, () => {
  it('is made by one plan, one preparation and the same memory', async () => {
    const cpu = await openCpu({ threads: 1 });
    const { backend, opened } = counting(cpu);
    const telescope = selectStations(await loadTelescope('lwasv'), 12);
    const frequenciesHz = Float64Array.of(40e6, 40.025e6);
    const integrations = seriesOf(telescope.stations.length);
    const inputs = 2 * telescope.stations.length;
    const setup = {
      backend,
      telescope,
      frequenciesHz,
      weight: 'natural',
      autos: 'leave-out',
      method: 'flat',
      calibrated: {
        gains: gainsCA(new Float64Array(2 * CHANNELS * inputs).fill(0.5), CHANNELS, inputs),
        solved: new Uint8Array(CHANNELS * inputs).fill(1),
      },
    } as const;
    const image = { pixels: 64, field: { kind: 'all-sky' }, kernelSize: 3 } as const;
    const stage = prepareImage({ ...setup, image });
    let latest: VisibilitySkyImage | undefined;
    const keep = (sky: VisibilitySkyImage): Promise<void> => {
      latest = sky;
      return Promise.resolve();
    };
    let first: Pick<VisibilitySkyImage, 'plan' | 'image' | 'beam'> | undefined;
    let bytes = 0;
    for (let n = 0; n < IMAGES; n++) {
      await stage.push(integrations(n), keep);
      assert.ok(latest);
      if (n === 0) {
        const { plan, image: arrays, beam } = latest;
        first = { plan, image: arrays, beam };
        bytes = process.memoryUsage().arrayBuffers;
      }
      assert.equal(latest.plan, first?.plan, `image ${n} was planned anew`);
      assert.equal(latest.image, first?.image, `image ${n} took new memory`);
      assert.equal(latest.beam, first?.beam, `the beam of image ${n} took new memory`);
    }
    assert.equal(opened(), 1, 'the imager was prepared once');
    assert.equal(stage.account().images, IMAGES);
    assert.ok(latest);
    const grown = process.memoryUsage().arrayBuffers - bytes;
    // The test reporter may allocate a few lines too.
    assert.ok(grown < 65_536, `${grown} bytes of arrays were allocated by ${IMAGES - 1} images`);
    // The last of them equals one that is planned for its own moment, to a hundredth of a pixel.
    const alone = await imageIntegration(integrations(IMAGES - 1), setup, image);
    assert.equal(opened(), 2);
    const peak = alone.image.reduce((most, value) => (value > most ? value : most), 0);
    for (const [at, value] of alone.image.entries())
      if (!Number.isNaN(value))
        assert.ok(Math.abs(value - latest.image[at]) < 1e-3 * peak, `pixel ${at} of ${value}`);
    await stage.close();
    await cpu.close();
  });
});

/** Integration n of a fixed sky, each at its own time, with the same visibilities. */
function seriesOf(stations: number): (n: number) => Integration {
  const baselines = baselineCount(stations);
  const random = randomStream(1, 'series test');
  const length = 2 * CHANNELS * baselines * 4;
  const sums = Float64Array.from({ length }, () => random.gaussian());
  const facts = {
    durationS: CADENCE_S,
    channels: CHANNELS,
    stations,
    polarisations: 2,
    visibilities: visibilitiesCBPP(sums, CHANNELS, baselines, 2),
    counts: countsCB(new Float64Array(CHANNELS * baselines).fill(1000), CHANNELS, baselines),
    flaggedInputs: new Uint8Array(2 * stations),
  } as const;
  const start = parseInstant('2026-06-21T04:00:00Z');
  return (n) => ({ ...facts, start: addSeconds(start, n * CADENCE_S) });
}
