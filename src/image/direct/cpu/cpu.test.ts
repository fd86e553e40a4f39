import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../../../backend/backend.js';
import { openCpu } from '../../../backend/cpu/cpu.js';
import { compiledLevels } from '../../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../../backend/cpu/library.js';
import { openReference } from '../../../backend/reference.js';
import type { SpectraCAT, SpectraType } from '../../../core/axes.js';
import {
  assertSameImage,
  directImageCases,
  randomGains,
  randomSpectra,
  randomStations,
  zenithAxes,
} from '../../cases.js';
import { bitsFor } from './prepare.js';
import {
  planImage,
  prepareDirectImager,
  type DirectImage,
  type ImageOptions,
  type ImagePlan,
} from '../../index.js';

const library = loadNative();

const makePlan = (stations: number, options: Partial<ImageOptions> = {}): ImagePlan =>
  planImage({
    pixels: 32,
    field: { kind: 'all-sky' },
    stationsM: randomStations(3, stations, 20),
    axes: zenithAxes,
    frequenciesHz: Float64Array.of(60e6),
    polarisations: 1,
    ...options,
  });

async function imageOf(
  backend: Backend,
  plan: ImagePlan,
  type: SpectraType,
  samples: number,
  change: (spectra: SpectraCAT) => void = () => undefined,
  solved?: Uint8Array,
): Promise<DirectImage> {
  const inputs = plan.stations * plan.polarisations;
  const spectra = randomSpectra(21, type, plan, samples);
  change(spectra);
  const block = backend.allocateSpectra({ type, channels: plan.channels, inputs, capacity: samples + 5 });
  await block.write(spectra, samples);
  const imager = await prepareDirectImager(plan, backend);
  if (solved) imager.setGains(randomGains(4, plan.channels, inputs), solved);
  await imager.accumulate(block);
  const image = await imager.finish();
  await block.close();
  await imager.close();
  return image;
}

describe('cpu direct imager', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      directImageCases(() => openCpu({ isa, threads: 2 }));

      // 16 = 4·4, 18 = 2·9, 22 = 2·11, 36 = 4·9, 42 = 2·21, 50 = 2·25, 52 = 4·13, 96 = 4·8·3, 256 = 4·8·8
      for (const pixels of [16, 18, 22, 36, 42, 50, 52, 96, 256]) {
        it(`${pixels} pixels`, async () => {
          const plan = makePlan(5, { pixels, stationsM: randomStations(8, 5, pixels < 20 ? 8 : 16) });
          const cpu = await openCpu({ isa, threads: 1 });
          const found = await imageOf(cpu, plan, 'ci8', 2);
          const wanted = await imageOf(openReference(), plan, 'ci8', 2);
          assertSameImage(found.image, wanted.image, pixels, 1e-5);
          await cpu.close();
        });
      }

      it('a box nearly as wide as the grid', async () => {
        const stationsM = randomStations(9, 12, 1).map(({ x, y, z }) => ({ x: 40 * x, y: 36 * y, z }));
        const plan = makePlan(12, {
          pixels: 32,
          stationsM,
          polarisations: 2,
          kernel: { kind: 'fitted', size: 7 },
        });
        assert.ok(plan.endRow - plan.firstRow > 16, 'rows wrap around a transform of n/4');
        const cpu = await openCpu({ isa, threads: 2 });
        const wanted = await imageOf(openReference(), plan, 'ci4', 3);
        assertSameImage((await imageOf(cpu, plan, 'ci4', 3)).image, wanted.image, 32, 1e-5);
        await cpu.close();
      });

      for (const type of ['ci8', 'cf32'] as const) {
        it(`1,205 steps of ${type}, past several tiles and flushes, on any number of threads`, async () => {
          const plan = makePlan(4, { pixels: 16, stationsM: randomStations(8, 4, 8), polarisations: 2 });
          const wanted = await imageOf(openReference(), plan, type, 1205);
          for (const threads of [1, 3]) {
            const cpu = await openCpu({ isa, threads });
            const found = await imageOf(cpu, plan, type, 1205);
            assertSameImage(found.image, wanted.image, 16, 1e-5);
            const again = await imageOf(cpu, plan, type, 1205);
            assert.deepEqual(again.image, found.image, 'the same input gives the same bits');
            await cpu.close();
          }
        });
      }

      it('inputs left out may hold anything', async () => {
        const plan = makePlan(3, { polarisations: 2 });
        const solved = Uint8Array.of(1, 1, 1, 0, 1, 1);
        const spoil = (spectra: SpectraCAT) => spectra.fill(NaN, 3 * 2 * 4, 4 * 2 * 4);
        const cpu = await openCpu({ isa, threads: 1 });
        const found = await imageOf(cpu, plan, 'cf32', 4, spoil, solved);
        const wanted = await imageOf(openReference(), plan, 'cf32', 4, spoil, solved);
        assertSameImage(found.image, wanted.image, 32, 1e-5);
        await cpu.close();
      });
    });
  }

  it('takes float64 where dividing by a small taper would show float32', () => {
    const field = { kind: 'field', widthDeg: 20 } as const;
    assert.equal(bitsFor(makePlan(4)), 32);
    assert.equal(bitsFor(makePlan(4, { pixels: 64, field })), 64);
    assert.equal(bitsFor(makePlan(256, { pixels: 64, field, stationsM: randomStations(3, 256, 20) })), 32);
  });

  it('refuses a block of another backend', async () => {
    const plan = makePlan(3);
    const cpu = await openCpu({ threads: 1 });
    const imager = await prepareDirectImager(plan, cpu);
    const block = openReference().allocateSpectra({ type: 'ci8', channels: 1, inputs: 3, capacity: 1 });
    await assert.rejects(imager.accumulate(block), /lives on backend 'reference'/);
    await assert.rejects(imager.finish(), /nothing was accumulated/);
    await cpu.close();
  });
});
