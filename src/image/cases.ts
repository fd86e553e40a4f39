/** Shared cases for every backend's direct imager, compared with the reference; registered by each backend's tests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openReference } from '../backend/reference.js';
import { allocateSpectra, gainsCA, spectraCAT } from '../core/axes.js';
import type { GainsCA, ImageCPML, SpectraCAT, SpectraType } from '../core/axes.js';
import { zeroGaps, type SpectraGap } from '../core/gaps.js';
import { packNibbles } from '../core/nibbles.js';
import { randomStream } from '../core/random.js';
import type { Vector3 } from '../core/vector.js';
import {
  planImage,
  prepareDirectImager,
  type DirectImage,
  type ImageOptions,
  type ImagePlan,
  type StationPatterns,
} from './index.js';

export const zenithAxes = {
  l: { x: 1, y: 0, z: 0 },
  m: { x: 0, y: 1, z: 0 },
  n: { x: 0, y: 0, z: 1 },
} as const;

/** Stations at random in a square, with heights within ±heightM. */
export function randomStations(seed: number, count: number, acrossM: number, heightM = 1): Vector3[] {
  const random = randomStream(seed, 'stations', count);
  return Array.from({ length: count }, () => ({
    x: acrossM * (random.uniform() - 0.5),
    y: acrossM * (random.uniform() - 0.5),
    z: heightM * (2 * random.uniform() - 1),
  }));
}

/** Noise that fills the type's range. */
export function randomSpectra(
  seed: number,
  type: SpectraType,
  plan: Pick<ImagePlan, 'channels' | 'stations' | 'polarisations'>,
  samples: number,
): SpectraCAT {
  const random = randomStream(seed, 'spectra', type);
  const inputs = plan.stations * plan.polarisations;
  const spectra = allocateSpectra(type, plan.channels, inputs, samples);
  const draw = {
    ci8: () => random.below(255) - 127,
    ci4: () => packNibbles(random.below(15) - 7, random.below(15) - 7),
    cf32: () => random.gaussian(),
  } satisfies Record<SpectraType, () => number>;
  for (let n = 0; n < spectra.length; n++) spectra[n] = draw[type]();
  return spectra;
}

export function randomGains(seed: number, channels: number, inputs: number): GainsCA {
  const random = randomStream(seed, 'gains');
  const gains = gainsCA(new Float64Array(2 * channels * inputs), channels, inputs);
  for (let at = 0; at < channels * inputs; at++) {
    const size = 0.5 + random.uniform();
    const phase = 2 * Math.PI * random.uniform();
    gains[2 * at] = size * Math.cos(phase);
    gains[2 * at + 1] = size * Math.sin(phase);
  }
  return gains;
}

/** Largest difference over the largest value, plane by plane; the same pixels must be NaN. */
export function assertSameImage(
  found: ImageCPML,
  wanted: ImageCPML,
  pixels: number,
  tolerance: number,
): void {
  assert.equal(found.length, wanted.length);
  const size = pixels * pixels;
  for (let first = 0; first < wanted.length; first += size) {
    let largest = 0;
    let difference = 0;
    for (let at = first; at < first + size; at++) {
      assert.equal(
        Number.isNaN(found[at]),
        Number.isNaN(wanted[at]),
        `pixel ${at} is NaN in one image alone`,
      );
      if (Number.isNaN(wanted[at])) continue;
      largest = Math.max(largest, Math.abs(wanted[at]));
      difference = Math.max(difference, Math.abs(found[at] - wanted[at]));
    }
    const relative = difference === 0 ? 0 : difference / largest;
    assert.ok(relative <= tolerance, `plane ${first / size} differs by ${relative} of its largest value`);
  }
}

interface DirectCase {
  readonly seed: number;
  readonly type: SpectraType;
  readonly plan: ImagePlan;
  /** Blocks of this many samples each, one after the other. */
  readonly blocks: readonly number[];
  readonly gains?: { readonly gains: GainsCA; readonly solved?: Uint8Array };
  readonly gaps?: readonly SpectraGap[];
  readonly autos?: 'include' | 'leave-out';
}

async function runDirect(backend: Backend, direct: DirectCase): Promise<DirectImage[]> {
  const { plan, type, seed, gains } = direct;
  const inputs = plan.stations * plan.polarisations;
  const imager = await prepareDirectImager(plan, backend, direct.autos ? { autos: direct.autos } : {});
  if (gains) imager.setGains(gains.gains, gains.solved);
  const block = backend.allocateSpectra({
    type,
    channels: plan.channels,
    inputs,
    capacity: Math.max(...direct.blocks),
  });
  const images: DirectImage[] = [];
  // twice, so that remains of the first image would appear in the second
  for (let round = 0; round < 2; round++) {
    for (const [n, samples] of direct.blocks.entries()) {
      const spectra = randomSpectra(seed + 100 * round + n, type, plan, samples);
      const gaps = (direct.gaps ?? [])
        .filter((gap) => gap.firstSample < samples)
        .map((gap) => ({ ...gap, endSample: Math.min(gap.endSample, samples) }));
      zeroGaps(spectra, { type, inputs, samples }, gaps);
      await block.write(spectraCAT(spectra, type, plan.channels, inputs, samples), samples, gaps);
      await imager.accumulate(block);
    }
    images.push(await imager.finish());
  }
  await block.close();
  await imager.close();
  return images;
}

export interface DirectImageTolerances {
  /** Largest difference over the largest value of a plane. */
  readonly image?: number;
}

/** A dipole, a dish that receives a third as much from the rest of the sky, and an asymmetric one with phases. */
const threeKinds = (stations: number): StationPatterns => ({
  kinds: 3,
  weights: (frequencyHz, { x, y, z }) => [
    { re: z, im: 0 },
    { re: z ** 6, im: 0 },
    { re: z * (1 + 0.4 * x), im: (frequencyHz / 1e8) * z * y },
  ],
  ofStation: Array.from({ length: stations }, (_, s) => (s * s) % 3),
});

/** Registers the cases; `open` is called once for each. */
export function directImageCases(
  open: () => Promise<Backend>,
  { image: tolerance = 1e-5 }: DirectImageTolerances = {},
): void {
  const both = async (direct: DirectCase): Promise<void> => {
    const wanted = await runDirect(openReference(), direct);
    const backend = await open();
    const found = await runDirect(backend, direct);
    await backend.close();
    for (const [round, image] of wanted.entries()) {
      assertSameImage(found[round].image, image.image, direct.plan.pixels, tolerance);
      assert.deepEqual(found[round].counts, image.counts);
      assert.deepEqual(found[round].weights, image.weights);
      assert.equal(found[round].samples, image.samples);
    }
  };
  const makePlan = (options: Partial<ImageOptions> & { stations?: number }): ImagePlan =>
    planImage({
      pixels: 64,
      field: { kind: 'all-sky' },
      stationsM: randomStations(3, options.stations ?? 9, 60),
      axes: zenithAxes,
      frequenciesHz: Float64Array.of(60e6, 61e6),
      polarisations: 2,
      ...options,
    });
  describe('direct image cases', () => {
    for (const size of [1, 3, 5, 7] as const) {
      for (const polarisations of [1, 2] as const) {
        it(`${size} × ${size} kernels, ${polarisations} polarisation(s)`, () =>
          both({
            seed: size,
            type: 'ci8',
            plan: makePlan({ polarisations, kernel: { kind: 'fitted', size } }),
            blocks: [3],
          }));
      }
    }
    for (const type of ['ci8', 'ci4', 'cf32'] as const) {
      it(`${type} in blocks of 3, 1 and 4 spectra`, () =>
        both({ seed: 11, type, plan: makePlan({ stations: 33 }), blocks: [3, 1, 4] }));
    }
    for (const stations of [1, 2, 19]) {
      it(`${stations} station(s), one channel`, () =>
        both({
          seed: 12,
          type: 'ci8',
          plan: makePlan({ stations, frequenciesHz: Float64Array.of(55e6) }),
          blocks: [2],
        }));
    }
    it('128 pixels of a narrow field', () =>
      both({
        seed: 13,
        type: 'ci4',
        plan: makePlan({ pixels: 128, field: { kind: 'field', widthDeg: 20 } }),
        blocks: [2],
      }));
    it('gains, with inputs that have none', () => {
      const plan = makePlan({ stations: 7 });
      const solved = new Uint8Array(2 * 14).fill(1);
      const gains = randomGains(4, 2, 14);
      for (const at of [3, 8, 14 + 5]) {
        solved[at] = 0;
        gains[2 * at] = NaN;
      }
      return both({ seed: 14, type: 'ci8', plan, blocks: [3], gains: { gains, solved } });
    });
    for (const [type, polarisations] of [
      ['ci8', 2],
      ['ci4', 1],
      ['cf32', 2],
    ] as const) {
      it(`${type} without autocorrelations, ${polarisations} polarisation(s), gains and gaps`, () => {
        // 19 stations do not fill a block of inputs, 70 samples no tile
        const plan = makePlan({ stations: 19, polarisations });
        const inputs = 19 * polarisations;
        const solved = new Uint8Array(2 * inputs).fill(1);
        const gains = randomGains(4, 2, inputs);
        for (const at of [3, inputs + 5]) {
          solved[at] = 0;
          gains[2 * at] = NaN;
        }
        const gap = { firstChannel: 0, endChannel: 1, firstInput: 2, endInput: 6 };
        return both({
          seed: 16,
          type,
          plan,
          blocks: [70, 3],
          autos: 'leave-out',
          gains: { gains, solved },
          gaps: [{ ...gap, firstSample: 1, endSample: 40 }],
        });
      });
    }
    for (const size of [3, 5, 7] as const) {
      it(`stations of three kinds, each with a ${size} × ${size} kernel of its own, phases among them`, () => {
        const stations = 21;
        const gains = randomGains(5, 2, 2 * stations);
        return both({
          seed: 17 + size,
          type: size === 5 ? 'ci4' : 'ci8',
          blocks: [5, 2],
          gains: { gains },
          ...(size === 7 && { autos: 'leave-out' }),
          plan: makePlan({ stations, kernel: { kind: 'fitted', size }, patterns: threeKinds(stations) }),
        });
      });
    }
    it('gaps', () =>
      both({
        seed: 15,
        type: 'ci8',
        plan: makePlan({ stations: 5 }),
        blocks: [4, 2],
        gaps: [
          { firstChannel: 0, endChannel: 1, firstInput: 2, endInput: 6, firstSample: 1, endSample: 3 },
          { firstChannel: 0, endChannel: 2, firstInput: 8, endInput: 10, firstSample: 0, endSample: 2 },
        ],
      }));
  });
}
