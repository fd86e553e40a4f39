/** The shared cases on a card, in both precisions. Without a card all of it is skipped; see cuda-plan.test.ts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../backend/cuda/cuda.js';
import { downloadInto, uploadArray } from '../backend/cuda/transfer.js';
import { openReference } from '../backend/reference.js';
import { baselineCount, countsCB, imageCPML, visibilitiesCBPP, type ImageCPML } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import {
  assertSameImage,
  directImageCases,
  randomGains,
  randomSpectra,
  randomStations,
  zenithAxes,
} from './cases.js';
import type { DirectPrecision } from './cuda-plan.js';
import { prepareCudaVisibilityImager } from './cuda-visibilities.js';
import { prepareCudaDirectImager } from './cuda.js';
import {
  imageVisibilities,
  planImage,
  prepareDirectImager,
  prepareVisibilityImager,
  type ImagePlan,
  type VisibilityImageOptions,
} from './index.js';

const presence = describeCuda();
const tolerances = { half: 1e-3, single: 1e-5 } satisfies Record<DirectPrecision, number>;

if (!presence.present) {
  it('direct images on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda, the precision that suits', () => {
    directImageCases(() => openCuda(), { image: tolerances.single });
  });
  describe('cuda, each precision', sizes);
  describe('cuda, from visibilities', fromVisibilities);
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
      // Half precision is exact to a part of the whole field's power, as it is before the taper is taken out; towards
      // the horizon, where the antennas' kernels answer with a few per cent, that part is divided by their square.
      if (precision === 'single') assertSameImage(images[0], images[1], pixels, tolerances.single);
      else assertSameImage(tapered(images[0], plan), tapered(images[1], plan), pixels, tolerances.half);
    });
  }

  for (const polarisations of [1, 2] as const) {
    it(`gains and image on the card, ${polarisations} polarisation(s), with gaps and inputs left out`, async () => {
      const stations = 9;
      const plan = planImage({
        pixels: 64,
        field: { kind: 'all-sky' },
        stationsM: randomStations(31, stations, 40),
        axes: zenithAxes,
        frequenciesHz: Float64Array.of(60e6, 61e6),
        polarisations,
      });
      const inputs = stations * polarisations;
      const gains = randomGains(9, 2, inputs);
      const used = Uint8Array.from({ length: 2 * inputs }, (_, at) => (at % 7 === 3 ? 0 : 1));
      gains.set([NaN, 0, 0, 0], 2 * (inputs + 4)); // unusable: left out on the card as they are here
      const known = used.map((one, at) => (at === inputs + 4 || at === inputs + 5 ? 0 : one));
      const samples = 40;
      const spectra = randomSpectra(10, 'ci8', plan, samples);
      const gaps = [
        { firstChannel: 1, endChannel: 2, firstInput: 0, endInput: 3, firstSample: 5, endSample: 21 },
      ];
      for (let a = 0; a < 3; a++)
        spectra.fill(0, 2 * ((inputs + a) * samples + 5), 2 * ((inputs + a) * samples + 21));
      const block = backend.allocateSpectra({ type: 'ci8', channels: 2, inputs, capacity: samples });
      const imager = prepareCudaDirectImager(plan, backend, { precision: 'single' });
      await imager.prepare({ type: 'ci8', capacity: samples });
      const onCard = await Promise.all([
        uploadArray(backend.session, 'gains', gains),
        uploadArray(backend.session, 'used', used),
      ]);
      const length = 2 * plan.products * 64 ** 2;
      const image = backend.session.allocate('image', 4 * length);
      const found = new Float32Array(length);
      for (const withGaps of [[], gaps]) {
        imager.setGains(gains, known);
        await block.write(spectra, samples, withGaps);
        await imager.accumulate(block);
        const wanted = await imager.finish();
        imager.setGainsOnDevice(onCard[0].pointer, onCard[1].pointer);
        await imager.accumulate(block);
        assert.throws(() => {
          imager.setGainsOnDevice(onCard[0].pointer, onCard[1].pointer);
        }, /middle of an image/);
        assert.deepEqual(await imager.finishOnDevice(image.pointer), { samples });
        await downloadInto(backend.session, image, found);
        assertSameImage(imageCPML(Float64Array.from(found), 2, plan.products, 64), wanted.image, 64, 1e-6);
        await imager.accumulate(block);
        const again = await imager.finish();
        assertSameImage(again.image, wanted.image, 64, 1e-6);
        assert.deepEqual(again.counts, wanted.counts);
      }
      for (const memory of [...onCard, image]) memory.free();
      block.close();
      imager.close();
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

/** The image with its taper put back. */
const tapered = (image: ImageCPML, { correction, pixels, channels, products }: ImagePlan): ImageCPML =>
  imageCPML(
    image.map((value, at) => value / correction[at % correction.length]),
    channels,
    products,
    pixels,
  );

/** Nothing a telescope would give: every number stands for itself; some counts are 0 and some inputs flagged. */
function randomIntegration(seed: number, { channels, stations, polarisations }: ImagePlan): Integration {
  const random = randomStream(seed, 'integration', stations);
  const baselines = baselineCount(stations);
  const length = 2 * channels * baselines * polarisations ** 2;
  const visibilities = Float64Array.from({ length }, () => random.gaussian());
  const counts = Float64Array.from({ length: channels * baselines }, () => Math.max(0, random.below(7) - 1));
  return {
    start: instant(0),
    durationS: 1,
    channels,
    stations,
    polarisations,
    visibilities: visibilitiesCBPP(visibilities, channels, baselines, polarisations),
    counts: countsCB(counts, channels, baselines),
    flaggedInputs: Uint8Array.from({ length: stations * polarisations }, (_, a) => (a % 11 === seed ? 1 : 0)),
  };
}

/** A beam peaks at 1; its Im XY may be nothing but rounding, so differences are taken as they are. */
function assertSameBeam(
  found: ImageCPML,
  wanted: ImageCPML,
  { channels, products, pixels }: ImagePlan,
): void {
  imageCPML(found, channels, products, pixels);
  let [largest, worst] = [1, 0];
  for (const [at, value] of wanted.entries()) {
    assert.equal(Number.isNaN(found[at]), Number.isNaN(value), `pixel ${at} is NaN in one beam alone`);
    if (Number.isNaN(value)) continue;
    largest = Math.max(largest, Math.abs(value));
    worst = Math.max(worst, Math.abs(found[at] - value));
  }
  assert.ok(worst <= 1e-9 * largest, `beams differ by ${worst}`);
}

function fromVisibilities(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());
  const shapes = [
    { stations: 1, pixels: 18, polarisations: 2, size: 5 },
    { stations: 5, pixels: 22, polarisations: 1, size: 1 },
    { stations: 9, pixels: 48, polarisations: 2, size: 3 },
    { stations: 7, pixels: 64, polarisations: 2, size: 5 },
    { stations: 33, pixels: 130, polarisations: 1, size: 7 },
    { stations: 130, pixels: 64, polarisations: 2, size: 5 },
  ] as const;
  for (const { stations, pixels, polarisations, size } of shapes) {
    it(`${stations} stations, ${pixels} pixels, ${polarisations} pol, ${size} × ${size}`, async () => {
      const plan = planImage({
        pixels,
        field: { kind: 'all-sky' },
        stationsM: randomStations(8, stations, pixels / 4),
        axes: zenithAxes,
        frequenciesHz: Float64Array.of(60e6, 63e6, 66e6),
        polarisations,
        kernel: { kind: 'fitted', size },
      });
      const inputs = stations * polarisations;
      const gains = randomGains(4, 3, inputs);
      const solved = Uint8Array.from({ length: 3 * inputs }, (_, at) => (at % 9 === 4 ? 0 : 1));
      const imager = await prepareVisibilityImager(plan, backend);
      for (const [integrations, options] of [
        [[1], {}],
        [[1], { weight: 'uniform', autos: 'include' }],
        [[1, 2, 3], { weight: 'uniform', gains, solved }],
        [[2], { autos: 'include', gains, solved }],
      ] as const satisfies readonly (readonly [readonly number[], VisibilityImageOptions])[]) {
        const data = integrations.map((seed) => randomIntegration(seed, plan));
        const found = await imager.image(data, options);
        const wanted = imageVisibilities(plan, data, options);
        assertSameImage(found.image, wanted.image, pixels, 1e-9);
        assertSameBeam(found.beam, wanted.beam, plan);
      }
      imager.close();
      // Where the card cannot keep the pairs' kernels it makes them as it goes, and gets the same.
      const frugal = await prepareCudaVisibilityImager(plan, backend, { pairKernels: 'anew' });
      const data = randomIntegration(2, plan);
      const { image, beam } = await frugal.image([data], { gains, solved });
      const wanted = imageVisibilities(plan, [data], { gains, solved });
      assertSameImage(image, wanted.image, pixels, 1e-9);
      assertSameBeam(beam, wanted.beam, plan);
      frugal.close();
    });
  }
}
