import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import {
  allocateSpectra,
  baselineCount,
  baselineIndex,
  countsCB,
  gainsCA,
  visibilitiesCBPP,
} from '../core/axes.js';
import type { ImageCPML, SpectraCAT } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import type { SpectraGap } from '../core/gaps.js';
import { addSampleCounts } from '../core/presence/plain-counts.testing.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import {
  assertSameImage,
  directImageCases,
  randomGains,
  randomSpectra,
  randomStations,
  zenithAxes,
} from './cases.js';
import { exactBrightness } from './direct/exact.testing.js';
import { imageVisibilities, measureSource, pixelCosine, planeOf } from './index.js';
import { planImage, prepareDirectImager } from './index.js';
import type { DirectImagerOptions, ImageOptions, ImagePlan } from './index.js';

const frequencyHz = 60e6;
const wavelengthM = SPEED_OF_LIGHT_M_PER_S / frequencyHz;
const plan = (options: Partial<ImageOptions> & Pick<ImageOptions, 'stationsM'>): ImagePlan =>
  planImage({
    pixels: 64,
    field: { kind: 'all-sky' },
    axes: zenithAxes,
    frequenciesHz: Float64Array.of(frequencyHz),
    polarisations: 1,
    ...options,
  });

async function direct(
  imagePlan: ImagePlan,
  spectra: SpectraCAT,
  samples: number,
  gaps: SpectraGap[] = [],
  options: DirectImagerOptions = {},
) {
  const backend = openReference();
  const inputs = imagePlan.stations * imagePlan.polarisations;
  const type = 'cf32';
  const block = backend.allocateSpectra({ type, channels: imagePlan.channels, inputs, capacity: samples });
  await block.write(spectra, samples, gaps);
  const imager = await prepareDirectImager(imagePlan, backend, options);
  await imager.accumulate(block);
  return imager.finish();
}

/** One spectrum of each input. */
function oneStep(values: readonly (readonly [number, number])[]): SpectraCAT {
  const spectra = allocateSpectra('cf32', 1, values.length, 1);
  spectra.set(values.flat());
  return spectra;
}

/** Correlates by the definition V_ij = Σ x_i conj(x_j), with the counts left by the gaps. */
function correlate(
  imagePlan: ImagePlan,
  spectra: SpectraCAT,
  samples: number,
  gaps: SpectraGap[] = [],
): Integration {
  const { channels, stations, polarisations } = imagePlan;
  const baselines = baselineCount(stations);
  const inputs = stations * polarisations;
  const visibilities = new Float64Array(2 * channels * baselines * polarisations ** 2);
  let at = 0;
  for (let c = 0; c < channels; c++) {
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++) {
        for (let product = 0; product < polarisations ** 2; product++, at += 2) {
          const x = (c * inputs + i * polarisations + Math.floor(product / polarisations)) * samples;
          const y = (c * inputs + j * polarisations + (product % polarisations)) * samples;
          for (let t = 0; t < samples; t++) {
            const [xRe, xIm] = [spectra[2 * (x + t)], spectra[2 * (x + t) + 1]];
            const [yRe, yIm] = [spectra[2 * (y + t)], spectra[2 * (y + t) + 1]];
            visibilities[at] += xRe * yRe + xIm * yIm;
            visibilities[at + 1] += xIm * yRe - xRe * yIm;
          }
        }
      }
    }
  }
  const counts = countsCB(new Float64Array(channels * baselines), channels, baselines);
  const flaggedInputs = new Uint8Array(inputs);
  addSampleCounts(counts, { channels, stations, polarisations, samples }, gaps, flaggedInputs);
  return {
    start: { unixSeconds: 0, fraction: 0 },
    durationS: 1,
    channels,
    stations,
    polarisations,
    visibilities: visibilitiesCBPP(visibilities, channels, baselines, polarisations),
    counts,
    flaggedInputs,
  };
}

/** The voltages of one source at every station: x_a = e^(+2πi f r·ŝ/c). */
const wave = (stationsM: readonly Vector3[], direction: Vector3): SpectraCAT =>
  oneStep(
    stationsM.map((position) => {
      const angle = (2 * Math.PI * dot(position, direction)) / wavelengthM;
      return [Math.cos(angle), Math.sin(angle)] as const;
    }),
  );

const at = (image: ImageCPML, imagePlan: ImagePlan, l: number, m: number, plane = 0): number =>
  image[(plane * imagePlan.pixels + m) * imagePlan.pixels + l];

/** Two stations `cells` grid cells apart along one axis, exactly on the grid. */
function fringePlan(axis: 'x' | 'y', polarisations: 1 | 2 = 1): ImagePlan {
  // a cell is 1/(2 · 1.15) wavelengths for the whole sky
  const cellM = wavelengthM / 2.3;
  const place = (cells: number): Vector3 => ({ x: 0, y: 0, z: 0, [axis]: cells * cellM });
  return plan({ stationsM: [place(-1), place(1)], kernel: { kind: 'fitted', size: 1 }, polarisations });
}

describe('two stations by hand', () => {
  // |x_0 + x_1 e^(−iθ)|²/4 with θ = 2π·2·(k − 32)/64: in phase (1 + cos θ)/2, x_1 = i gives (1 + sin θ)/2
  const theta = (k: number): number => (2 * Math.PI * 2 * (k - 32)) / 64;
  for (const axis of ['x', 'y'] as const) {
    const name = axis === 'x' ? 'east' : 'north';
    const fringe = fringePlan(axis);
    const pixel = (image: ImageCPML, k: number): number =>
      axis === 'x' ? at(image, fringe, k, 30) : at(image, fringe, 30, k);
    it(`make stripes across the ${name}`, async () => {
      const { image } = await direct(fringe, oneStep([[1, 0], [1, 0]]), 1); // prettier-ignore
      for (let k = 8; k < 56; k++) {
        assert.ok(Math.abs(pixel(image, k) - (1 + Math.cos(theta(k))) / 2) < 1e-12);
      }
    });
    it(`put a source in the ${name} where the ${name}ern station leads`, async () => {
      const spectra = oneStep([[1, 0], [0, 1]]); // prettier-ignore
      const { image } = await direct(fringe, spectra, 1);
      const { image: gridded } = imageVisibilities(fringe, [correlate(fringe, spectra, 1)], {
        autos: 'include',
      });
      for (let k = 8; k < 56; k++) {
        assert.ok(Math.abs(pixel(image, k) - (1 + Math.sin(theta(k))) / 2) < 1e-12);
        assert.ok(Math.abs(pixel(gridded, k) - (1 + Math.sin(theta(k))) / 2) < 1e-12);
      }
      // θ = 90° is eight pixels towards the station that leads
      assert.ok(Math.abs(pixel(image, 40) - 1) < 1e-12);
    });
  }
  it('keep X·conj(Y) in order', async () => {
    // X = 1, Y = i on both stations: XY = 1·conj(i) = −i at the zenith; XX = YY = 1
    const fringe = fringePlan('x', 2);
    const spectra = oneStep([[1, 0], [0, 1], [1, 0], [0, 1]]); // prettier-ignore
    const { image } = await direct(fringe, spectra, 1);
    const { image: gridded } = imageVisibilities(fringe, [correlate(fringe, spectra, 1)], {
      autos: 'include',
    });
    for (const [plane, wanted] of [1, 1, 0, -1].entries()) {
      assert.ok(Math.abs(at(image, fringe, 32, 32, plane) - wanted) < 1e-12);
      assert.ok(Math.abs(at(gridded, fringe, 32, 32, plane) - wanted) < 1e-12);
    }
  });
  it('weigh a row of three naturally and uniformly', () => {
    // Stations at −1, 1, 0 cells: two pairs one cell apart, one pair two. Natural (2·2cos θ + 2cos 2θ)/6,
    // uniform (2cos θ + 2cos 2θ)/4, θ = 2π(k − 32)/64; the sky is a source of 1 at the zenith.
    const cellM = wavelengthM / 2.3;
    const stationsM = [-1, 1, 0].map((cells) => ({ x: cells * cellM, y: 0, z: 0 }));
    const row = plan({ stationsM, kernel: { kind: 'fitted', size: 1 } });
    const data = [correlate(row, wave(stationsM, { x: 0, y: 0, z: 1 }), 1)];
    const natural = imageVisibilities(row, data, { weight: 'natural' });
    const uniform = imageVisibilities(row, data, { weight: 'uniform' });
    assert.ok(natural.beam && uniform.beam);
    for (let k = 8; k < 56; k++) {
      const angle = (2 * Math.PI * (k - 32)) / 64;
      const wantedNatural = (4 * Math.cos(angle) + 2 * Math.cos(2 * angle)) / 6;
      const wantedUniform = (2 * Math.cos(angle) + 2 * Math.cos(2 * angle)) / 4;
      assert.ok(Math.abs(at(natural.image, row, k, 30) - wantedNatural) < 1e-12);
      assert.ok(Math.abs(at(uniform.image, row, k, 30) - wantedUniform) < 1e-12);
      assert.ok(Math.abs(at(natural.beam, row, k, 30) - wantedNatural) < 1e-12);
      assert.ok(Math.abs(at(uniform.beam, row, k, 30) - wantedUniform) < 1e-12);
    }
  });
});

describe('the two methods', () => {
  for (const size of [1, 3, 5, 7] as const) {
    for (const polarisations of [1, 2] as const) {
      it(`give one image: ${size} × ${size} kernels, ${polarisations} polarisation(s)`, async () => {
        const imagePlan = plan({
          stationsM: randomStations(5, 8, 70, 2),
          frequenciesHz: Float64Array.of(58e6, 60e6),
          polarisations,
          kernel: { kind: 'fitted', size },
        });
        const spectra = randomSpectra(2, 'cf32', imagePlan, 6);
        const integration = correlate(imagePlan, spectra, 6);
        for (const autos of ['include', 'leave-out'] as const) {
          const { image, weights } = await direct(imagePlan, spectra, 6, [], { autos });
          const gridded = imageVisibilities(imagePlan, [integration], { autos });
          assertSameImage(gridded.image, image, 64, 1e-10);
          assert.deepEqual(gridded.weights, weights);
        }
      });
    }
  }
  it('stay one with gaps, gains and inputs left out', async () => {
    const imagePlan = plan({ stationsM: randomStations(6, 7, 70, 2), polarisations: 2 });
    const gaps = [
      { firstChannel: 0, endChannel: 1, firstInput: 4, endInput: 8, firstSample: 2, endSample: 5 },
    ];
    const spectra = randomSpectra(3, 'cf32', imagePlan, 6);
    for (let a = 4; a < 8; a++) spectra.fill(0, 2 * (a * 6 + 2), 2 * (a * 6 + 5));
    const gains = randomGains(1, 1, 14);
    const solved = new Uint8Array(14).fill(1);
    solved[3] = 0;
    const backend = openReference();
    const block = backend.allocateSpectra({ type: 'cf32', channels: 1, inputs: 14, capacity: 6 });
    await block.write(spectra, 6, gaps);
    const integration = correlate(imagePlan, spectra, 6, gaps);
    for (const autos of ['include', 'leave-out'] as const) {
      const imager = await prepareDirectImager(imagePlan, backend, { autos });
      imager.setGains(gains, solved);
      await imager.accumulate(block);
      const { image } = await imager.finish();
      const gridded = imageVisibilities(imagePlan, [integration], { gains, solved, autos });
      assertSameImage(gridded.image, image, 64, 1e-10);
    }
  });
  it('take gains out: a source seen through them looks as without', async () => {
    const stationsM = randomStations(7, 9, 70, 0);
    const imagePlan = plan({ stationsM });
    const gains = randomGains(2, 1, 9);
    const spectra = wave(stationsM, { x: 0.36, y: 0.48, z: 0.8 });
    const { image: bare } = await direct(imagePlan, spectra, 1);
    const through = spectra.slice() as SpectraCAT;
    for (let a = 0; a < 9; a++) {
      const [re, im] = [spectra[2 * a], spectra[2 * a + 1]];
      through[2 * a] = re * gains[2 * a] - im * gains[2 * a + 1];
      through[2 * a + 1] = re * gains[2 * a + 1] + im * gains[2 * a];
    }
    const seen = imageVisibilities(imagePlan, [correlate(imagePlan, through, 1)], {
      gains,
      autos: 'include',
    });
    // the voltages were rounded to float32
    assertSameImage(seen.image, bare, 64, 1e-6);
  });
});

describe('a lone source', () => {
  const stationsM = randomStations(8, 20, 75, 2);
  for (const { size, tolerance } of [
    // with heights of ±2 m the kernels' rms errors are 4.3 % (K = 5) and 1.2 % (7), averaged here over 20 stations
    { size: 5, tolerance: 0.05 },
    { size: 7, tolerance: 0.012 },
  ] as const) {
    const imagePlan = plan({ stationsM, kernel: { kind: 'fitted', size } });
    it(`peaks at its flux, east in the east, with ${size} × ${size} kernels`, async () => {
      const [l, m] = [pixelCosine(imagePlan, 48), pixelCosine(imagePlan, 40)];
      const spectra = wave(stationsM, { x: l, y: m, z: Math.sqrt(1 - l * l - m * m) });
      const { image } = await direct(imagePlan, spectra, 1);
      assert.ok(Math.abs(at(image, imagePlan, 48, 40) - 1) < tolerance, `${at(image, imagePlan, 48, 40)}`);
      const measured = measureSource(planeOf(image, imagePlan, 0, 0), imagePlan, { l, m }, 64);
      assert.ok(measured.errorPixels < 0.1, `${measured.errorPixels}`);
    });
    it(`looks as the exact sum states, all over the sky, with ${size} × ${size} kernels`, () => {
      const integration = correlate(imagePlan, wave(stationsM, { x: 0.48, y: -0.6, z: 0.64 }), 1);
      const { image } = imageVisibilities(imagePlan, [integration], { autos: 'include' });
      for (let at_ = 5; at_ < image.length; at_ += 11) {
        if (Number.isNaN(image[at_])) continue;
        const l = pixelCosine(imagePlan, at_ % 64);
        const m = pixelCosine(imagePlan, Math.floor(at_ / 64));
        const exact = exactBrightness(
          integration,
          { x: l, y: m, z: Math.sqrt(1 - l * l - m * m) },
          { stationsM, frequencyHz, channel: 0, product: 0, autos: 'include' },
        );
        assert.ok(Math.abs(image[at_] - exact) < tolerance, `pixel ${at_}: ${image[at_]}, not ${exact}`);
      }
    });
  }
  it('lands low in the sky only where heights are projected', () => {
    const direction = { x: Math.cos(0.4), y: 0, z: Math.sin(0.4) };
    const integration = correlate(plan({ stationsM }), wave(stationsM, direction), 1);
    const errorWith = (heights: 'project' | 'phase-centre'): number => {
      const imagePlan = plan({ stationsM, heights });
      const { image } = imageVisibilities(imagePlan, [integration]);
      const place = { l: direction.x, m: direction.y };
      const { errorPixels, peak } = measureSource(planeOf(image, imagePlan, 0, 0), imagePlan, place, 1.5);
      return errorPixels + Math.abs(1 - peak);
    };
    assert.ok(errorWith('project') < 0.15, `${errorWith('project')}`);
    assert.ok(errorWith('phase-centre') > 2 * errorWith('project'));
  });
});

describe('direct imager', () => {
  it('refuses gains in the middle of an image, and an empty image', async () => {
    const imagePlan = plan({ stationsM: randomStations(1, 3, 40) });
    const backend = openReference();
    const block = backend.allocateSpectra({ type: 'cf32', channels: 1, inputs: 3, capacity: 1 });
    await block.write(randomSpectra(1, 'cf32', imagePlan, 1), 1);
    const imager = await prepareDirectImager(imagePlan, backend);
    assert.throws(() => imager.finish(), /nothing was accumulated/);
    await imager.accumulate(block);
    assert.throws(() => {
      imager.setGains(randomGains(1, 1, 3));
    }, /new gains in the middle of an image/);
    await imager.finish();
    assert.throws(() => {
      imager.setGains(gainsCA(new Float64Array(6), 1, 3));
    }, /the gain of input 0 in channel 0 is 0 \+ 0i; mark it as not solved/);
  });
  it('refuses a block of another shape', async () => {
    const imagePlan = plan({ stationsM: randomStations(1, 3, 40) });
    const backend = openReference();
    const imager = await prepareDirectImager(imagePlan, backend);
    const block = backend.allocateSpectra({ type: 'ci8', channels: 2, inputs: 3, capacity: 1 });
    await assert.rejects(imager.accumulate(block), /2 channels and 3 inputs for a plan of 1 and 3/);
  });
});

describe('4-bit samples', () => {
  it('hold the real part in the high nibble', async () => {
    // X = 0x10 = 1, Y = 0x0f = −i, so X·conj(Y) = i; with one station the image is flat
    const imagePlan = plan({ stationsM: [{ x: 0, y: 0, z: 0 }], polarisations: 2 });
    const backend = openReference();
    const block = backend.allocateSpectra({ type: 'ci4', channels: 1, inputs: 2, capacity: 1 });
    const spectra = allocateSpectra('ci4', 1, 2, 1);
    spectra.set([0x10, 0x0f]);
    await block.write(spectra, 1);
    const imager = await prepareDirectImager(imagePlan, backend);
    await imager.accumulate(block);
    const { image } = await imager.finish();
    for (const [plane, wanted] of [1, 1, 0, 1].entries()) {
      assert.ok(Math.abs(at(image, imagePlan, 32, 32, plane) - wanted) < 5e-3);
    }
  });
});

describe('pairs and their order', () => {
  it('count every ordered pair once', () => {
    // 3 stations, no autos: the beam's middle is 1 by definition, whatever the weights
    const imagePlan = plan({ stationsM: randomStations(2, 3, 40, 0), kernel: { kind: 'fitted', size: 7 } });
    const integration = correlate(imagePlan, randomSpectra(1, 'cf32', imagePlan, 2), 2);
    integration.counts[baselineIndex(2, 1)] = 7;
    const { beam } = imageVisibilities(imagePlan, [integration]);
    assert.ok(beam);
    assert.ok(Math.abs(at(beam, imagePlan, 32, 32) - 1) < 2e-3, `${at(beam, imagePlan, 32, 32)}`);
  });
});

directImageCases(() => Promise.resolve(openReference()));
