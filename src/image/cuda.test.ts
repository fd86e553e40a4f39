/** The shared cases on a card, in both precisions. Without a card all of it is skipped; see cuda-plan.test.ts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../backend/cuda/cuda.js';
import { openReference } from '../backend/reference.js';
import {
  assertSameImage,
  directImageCases,
  randomGains,
  randomSpectra,
  randomStations,
  zenithAxes,
} from './cases.js';
import type { DirectPrecision } from './cuda-plan.js';
import { prepareCudaDirectImager } from './cuda.js';
import { planImage, prepareDirectImager } from './index.js';

const presence = describeCuda();
const tolerances = { half: 1e-3, single: 1e-5 } satisfies Record<DirectPrecision, number>;

if (!presence.present) {
  it('direct images on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda, the precision that suits', () => {
    directImageCases(() => openCuda(), { image: tolerances.single });
  });
  describe('cuda, each precision', sizes);
}

function sizes(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());

  const shapes = [
    { pixels: 64, acrossM: 40, stations: 40, polarisations: 2, size: 5, samples: 70, precision: 'half' },
    { pixels: 128, acrossM: 50, stations: 256, polarisations: 2, size: 5, samples: 33, precision: 'half' },
    { pixels: 128, acrossM: 90, stations: 100, polarisations: 1, size: 7, samples: 49, precision: 'half' },
    { pixels: 192, acrossM: 120, stations: 30, polarisations: 2, size: 3, samples: 90, precision: 'half' },
    { pixels: 256, acrossM: 100, stations: 12, polarisations: 1, size: 1, samples: 65, precision: 'half' },
    { pixels: 80, acrossM: 70, stations: 30, polarisations: 2, size: 5, samples: 40, precision: 'single' },
    { pixels: 66, acrossM: 70, stations: 15, polarisations: 1, size: 3, samples: 33, precision: 'single' },
    { pixels: 256, acrossM: 280, stations: 10, polarisations: 2, size: 7, samples: 2, precision: 'single' },
  ] as const;
  for (const { pixels, acrossM, stations, polarisations, size, samples, precision } of shapes) {
    const title = `${pixels} pixels, ${stations} stations over ${acrossM} m, ${polarisations} pol, ${size} × ${size}`;
    it(`${precision}: ${title}, ${samples} steps`, async () => {
      const plan = planImage({
        pixels,
        field: { kind: 'all-sky' },
        stationsM: randomStations(31, stations, acrossM),
        axes: zenithAxes,
        frequenciesHz: Float64Array.of(60e6, 66e6, 55e6),
        polarisations,
        kernel: { kind: 'fitted', size },
      });
      const inputs = stations * polarisations;
      const gains = randomGains(9, 3, inputs);
      const spectra = randomSpectra(10, 'ci8', plan, samples);
      const shape = { type: 'ci8', channels: 3, inputs, capacity: samples } as const;
      const images = [];
      for (const [on, imager] of [
        [backend, prepareCudaDirectImager(plan, backend, { precision })],
        [openReference(), await prepareDirectImager(plan, openReference())],
      ] as const) {
        const block = on.allocateSpectra(shape);
        await block.write(spectra, samples);
        imager.setGains(gains);
        await imager.accumulate(block);
        images.push((await imager.finish()).image);
        block.close();
        imager.close();
      }
      assertSameImage(images[0], images[1], pixels, tolerances[precision]);
    });
  }

  it('refuses half precision where it cannot be, saying why', async () => {
    const plan = planImage({
      pixels: 66,
      field: { kind: 'all-sky' },
      stationsM: randomStations(31, 4, 20),
      axes: zenithAxes,
      frequenciesHz: Float64Array.of(60e6),
      polarisations: 1,
    });
    const imager = prepareCudaDirectImager(plan, backend, { precision: 'half' });
    const block = backend.allocateSpectra({ type: 'ci8', channels: 1, inputs: 4, capacity: 1 });
    await assert.rejects(imager.accumulate(block), /half precision cannot be: .*; choose precision 'single'/);
    block.close();
    imager.close();
  });
}
