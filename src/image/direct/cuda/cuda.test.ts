/** The shared cases on a card, in both precisions. Without a card all of it is skipped; see plan.test.ts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../../backend/cuda/cuda.js';
import { downloadInto } from '../../../backend/cuda/transfer.js';
import { openReference } from '../../../backend/reference.js';
import {
  allocateSpectra,
  baselineCount,
  countsCB,
  imageCPML,
  visibilitiesCBPP,
  type ImageCPML,
  type SpectraCAT,
} from '../../../core/axes.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import type { Integration } from '../../../core/blocks.js';
import { instant } from '../../../core/instant.js';
import { randomStream } from '../../../core/random.js';
import {
  assertSameImage,
  directImageCases,
  randomGains,
  randomSpectra,
  randomStations,
  zenithAxes,
} from '../../cases.js';
import { prepareCudaVisibilityImager } from '../../flat/cuda/prepare.js';
import { prepareCudaDirectImager } from './prepare.js';
import type { DirectPrecision } from './choice.js';
import {
  imageVisibilities,
  planImage,
  prepareDirectImager,
  prepareVisibilityImager,
  type ImagePlan,
  type VisibilityImageOptions,
} from '../../index.js';

const presence = describeCuda();
const tolerances = { half: 1e-3, single: 1e-5 } satisfies Record<DirectPrecision, number>;
const twoHalves = 'single precision on the tensor cores';
const plainFloats = 'single precision without tensor cores';

if (!presence.present) {
  it('direct images on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda, the precision that suits', () => {
    directImageCases(() => openCuda(), { image: tolerances.single });
  });
  describe('cuda without tensor cores', () => {
    directImageCases(() => openCuda({ path: 'dp4a' }), { image: tolerances.single });
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
    { pixels: 64, acrossM: 40, stations: 40, polarisations: 2, size: 5, samples: 262, precision: 'half' },
    { pixels: 128, acrossM: 50, stations: 256, polarisations: 2, size: 5, samples: 257, precision: 'half' },
    { pixels: 128, acrossM: 90, stations: 100, polarisations: 1, size: 7, samples: 265, precision: 'half' },
    { pixels: 192, acrossM: 120, stations: 30, polarisations: 1, size: 3, samples: 514, precision: 'half' },
    { pixels: 256, acrossM: 100, stations: 12, polarisations: 1, size: 1, samples: 515, precision: 'half' },
    { pixels: 64, acrossM: 40, stations: 33, polarisations: 1, size: 3, samples: 257, precision: 'half' },
    { pixels: 84, acrossM: 70, stations: 30, polarisations: 2, size: 5, samples: 256, precision: 'half' },
    { pixels: 96, acrossM: 50, stations: 40, polarisations: 2, size: 5, samples: 520, precision: 'half' },
    { pixels: 66, acrossM: 45, stations: 21, polarisations: 1, size: 3, samples: 513, precision: 'half' },
    { pixels: 256, acrossM: 45, stations: 20, polarisations: 1, size: 3, samples: 512, precision: 'half' },
    { pixels: 80, acrossM: 70, stations: 30, polarisations: 2, size: 5, samples: 40, precision: 'single' },
    { pixels: 66, acrossM: 70, stations: 15, polarisations: 1, size: 3, samples: 33, precision: 'single' },
    { pixels: 64, acrossM: 40, stations: 40, polarisations: 2, size: 5, samples: 1, precision: 'single' },
    { pixels: 128, acrossM: 50, stations: 256, polarisations: 2, size: 5, samples: 25, precision: 'single' },
    { pixels: 128, acrossM: 90, stations: 100, polarisations: 1, size: 7, samples: 19, precision: 'single' },
    { pixels: 128, acrossM: 110, stations: 256, polarisations: 2, size: 7, samples: 12, precision: 'single' },
    { pixels: 192, acrossM: 120, stations: 30, polarisations: 1, size: 3, samples: 2, precision: 'single' },
    { pixels: 512, acrossM: 100, stations: 12, polarisations: 2, size: 1, samples: 3, precision: 'single' },
    { pixels: 64, acrossM: 40, stations: 5, polarisations: 2, size: 5, samples: 1100, precision: 'single' },
    { pixels: 64, acrossM: 40, stations: 1024, polarisations: 2, size: 5, samples: 9, precision: 'single' },
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
        [backend, await prepareCudaDirectImager(plan, backend, { precision })],
        [openReference(), await prepareDirectImager(plan, openReference())],
      ] as const) {
        const block = on.allocateSpectra(shape);
        await block.write(spectra, samples);
        imager.setGains(gains);
        // Once more where samples are made into pixels: the first block replaces sums, the second adds to them.
        for (let n = 0; n < (pixels === 96 ? 2 : 1); n++) await imager.accumulate(block);
        images.push((await imager.finish()).image);
        await block.close();
        await imager.close();
      }
      if (precision === 'single') assertSameImage(images[0], images[1], pixels, tolerances.single);
      else assertSameSky(images[0], images[1], plan, size === 7 ? DEEP_TAPER : tolerances.half);
    });
  }

  for (const [where, l, m, samples] of [
    ['near the zenith', 0.2, -0.1, 256],
    ['near the horizon', 0.15, 0.97, 256],
    ['near the zenith', 0.2, -0.1, 512],
    ['near the horizon', 0.15, 0.97, 512],
  ] as const) {
    it(`half: every product of a polarised source ${where}, ${samples} steps`, async () => {
      const plan = planImage({
        pixels: 128,
        field: { kind: 'all-sky' },
        stationsM: randomStations(31, 64, 50),
        axes: zenithAxes,
        frequenciesHz: Float64Array.of(60e6),
        polarisations: 2,
      });
      const images = [];
      for (const [on, imager] of [
        [backend, await prepareCudaDirectImager(plan, backend, { precision: 'half' })],
        [openReference(), await prepareDirectImager(plan, openReference())],
      ] as const) {
        const block = on.allocateSpectra({ type: 'ci8', channels: 1, inputs: 128, capacity: samples });
        await block.write(polarisedSource(plan, samples, l, m), samples);
        await imager.accumulate(block);
        images.push((await imager.finish()).image);
        await block.close();
        await imager.close();
      }
      assertSameImage(images[0], images[1], 128, tolerances.half);
    });
  }

  for (const polarisations of [1, 2] as const) {
    it(`an image on the card, ${polarisations} polarisation(s), with gaps and inputs left out`, async () => {
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
      const samples = 40;
      const spectra = randomSpectra(10, 'ci8', plan, samples);
      const gaps = [
        { firstChannel: 1, endChannel: 2, firstInput: 0, endInput: 4, firstSample: 5, endSample: 21 },
      ];
      for (let a = 0; a < 4; a++)
        spectra.fill(0, 2 * ((inputs + a) * samples + 5), 2 * ((inputs + a) * samples + 21));
      const block = backend.allocateSpectra({ type: 'ci8', channels: 2, inputs, capacity: samples });
      const imager = await prepareCudaDirectImager(plan, backend, { precision: 'single' });
      await imager.prepare({ type: 'ci8', capacity: samples });
      const length = 2 * plan.products * 64 ** 2;
      const image = backend.session.allocate('image', 8 * length);
      const found = new Float64Array(length);
      for (const withGaps of [[], gaps]) {
        imager.setGains(gains, used);
        await block.write(spectra, samples, withGaps);
        await imager.accumulate(block);
        const wanted = await imager.finish();
        await imager.accumulate(block);
        assert.deepEqual(await imager.finishOnDevice(image.pointer), { samples });
        await downloadInto(backend.session, image, found);
        assertSameImage(imageCPML(found, 2, plan.products, 64), wanted.image, 64, 1e-6);
        await imager.accumulate(block);
        const again = await imager.finish();
        assertSameImage(again.image, wanted.image, 64, 1e-6);
        assert.deepEqual(again.counts, wanted.counts);
      }
      await image.close();
      await block.close();
      await imager.close();
    });
  }

  it('reports which kernels it takes', async () => {
    const describeFor = async (size: 3 | 7, acrossM: number, samples: number): Promise<string> => {
      const plan = planImage({
        pixels: 256,
        field: { kind: 'all-sky' },
        stationsM: randomStations(31, 40, acrossM),
        axes: zenithAxes,
        frequenciesHz: Float64Array.of(60e6),
        polarisations: 1,
        kernel: { kind: 'fitted', size },
      });
      const imager = await prepareCudaDirectImager(plan, backend);
      const description = imager.describe({ type: 'ci8', capacity: 1000, samples });
      await imager.close();
      return description;
    };
    const isHopper = backend.path === 'hopper';
    assert.match(await describeFor(3, 50, 300), new RegExp(isHopper ? '^half precision' : plainFloats));
    assert.match(await describeFor(3, 50, 25), new RegExp(isHopper ? twoHalves : plainFloats));
    assert.match(await describeFor(7, 50, 300), new RegExp(isHopper ? twoHalves : plainFloats));
    assert.match(await describeFor(3, 300, 25), new RegExp(plainFloats));
  });

  it('refuses half precision where it cannot be, saying why', async () => {
    const plan = planImage({
      pixels: 256,
      field: { kind: 'all-sky' },
      stationsM: randomStations(31, 40, 300),
      axes: zenithAxes,
      frequenciesHz: Float64Array.of(60e6),
      polarisations: 1,
    });
    const imager = await prepareCudaDirectImager(plan, backend, { precision: 'half' });
    const block = backend.allocateSpectra({ type: 'ci8', channels: 1, inputs: 40, capacity: 1 });
    await assert.rejects(imager.accumulate(block), /half precision cannot be: .*; choose precision 'single'/);
    await block.close();
    await imager.close();
  });
}

/** 7 × 7 kernels have a response of one hundredth at the horizon: fifteen times deeper in power than 5 × 5. */
const DEEP_TAPER = 4e-3;

/**
 * Largest difference over the largest value of the channel's image. Noise makes XY a small difference of large
 * products: it is compared with the total power. With a polarised sky each product must be as exact by itself.
 */
function assertSameSky(
  found: ImageCPML,
  wanted: ImageCPML,
  { channels, products, pixels }: ImagePlan,
  tolerance: number,
): void {
  const size = products * pixels * pixels;
  for (let c = 0; c < channels; c++) {
    const slice = (image: ImageCPML): ImageCPML =>
      imageCPML(image.slice(c * size, (c + 1) * size), 1, products, pixels);
    let [largest, difference] = [0, 0];
    const [one, other] = [slice(found), slice(wanted)];
    for (const [at, value] of other.entries()) {
      assert.equal(Number.isNaN(one[at]), Number.isNaN(value), `pixel ${at} is NaN in one image alone`);
      if (Number.isNaN(value)) continue;
      largest = Math.max(largest, Math.abs(value));
      difference = Math.max(difference, Math.abs(one[at] - value));
    }
    const relative = difference / largest;
    assert.ok(relative <= tolerance, `channel ${c} differs by ${relative} of its largest value`);
  }
}

/** A source seen by every station, polarised, and noise. [c][a][t] ci8. */
function polarisedSource(plan: ImagePlan, samples: number, l: number, m: number): SpectraCAT {
  const random = randomStream(17, 'a polarised source');
  const { channels, stations } = plan;
  const spectra = allocateSpectra('ci8', channels, 2 * stations, samples);
  const n = Math.sqrt(1 - l * l - m * m);
  for (let c = 0; c < channels; c++) {
    const signal = Float64Array.from({ length: 2 * samples }, () => 40 * random.gaussian());
    for (const [s, { x, y, z }] of plan.stationsM.entries()) {
      const turns = (plan.frequenciesHz[c] * (x * l + y * m + z * n)) / SPEED_OF_LIGHT_M_PER_S;
      for (let p = 0; p < 2; p++) {
        const [size, angle] = [p === 0 ? 1 : 0.8, 2 * Math.PI * turns + (p === 0 ? 0 : 0.6)];
        const [re, im] = [size * Math.cos(angle), size * Math.sin(angle)];
        for (let t = 0; t < samples; t++) {
          const at = 2 * ((c * 2 * stations + 2 * s + p) * samples + t);
          const [a, b] = [signal[2 * t], signal[2 * t + 1]];
          const limited = (value: number): number => Math.max(-127, Math.min(127, Math.round(value)));
          spectra[at] = limited(a * re - b * im + 10 * random.gaussian());
          spectra[at + 1] = limited(a * im + b * re + 10 * random.gaussian());
        }
      }
    }
  }
  return spectra;
}

/** Unrealistic data: every number is independent; some counts are 0 and some inputs flagged. */
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

/** A beam peaks at 1; its Im XY may be only rounding, so absolute differences are used. */
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
        assert.ok(found.beam && wanted.beam);
        assertSameBeam(found.beam, wanted.beam, plan);
        for (const [k, weight] of wanted.weights.entries())
          assert.ok(Math.abs(found.weights[k] - weight) <= 1e-12 * weight, `weight ${k}`);
      }
      await imager.close();
      // Where the card cannot keep the pairs' kernels it computes them on the fly, with the same result.
      const frugal = await prepareCudaVisibilityImager(plan, backend, { pairKernels: 'anew' });
      const data = randomIntegration(2, plan);
      const { image, beam } = await frugal.image([data], { gains, solved });
      const wanted = imageVisibilities(plan, [data], { gains, solved });
      assertSameImage(image, wanted.image, pixels, 1e-9);
      assert.ok(beam && wanted.beam);
      assertSameBeam(beam, wanted.beam, plan);
      await frugal.close();
    });
  }
}
