/**
 * The chain on a card against the reference, image by image: blocks that all differ, so that a buffer used too early or
 * too late shows, and a sky with sources in known places. Without a card all of it is skipped; see plan.test.ts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import { openReference } from '../../backend/reference.js';
import type { CudaSession } from '../../backend/cuda/session.js';
import { planCalibration } from '../../calibrate/index.js';
import {
  baselineCount,
  gainsCA,
  imageF32CPML,
  visibilitiesCBPP,
  voltagesAT,
  type ImageCPML,
  type SpectraType,
} from '../../core/axes.js';
import type { SpectraGap } from '../../core/gaps.js';
import type { Closable } from '../../core/closing.js';
import { instant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { randomSpectra, randomStations, zenithAxes } from '../../image/cases.js';
import { planImage, type ImagePlan } from '../../image/index.js';
import { KurtosisTally, planKurtosis, prepareFlagger } from '../../kurtosis/index.js';
import { noisySpectra } from '../../kurtosis/samples.testing.js';
import { skyFrame } from '../../sky/frame.js';
import { sourceAt } from '../../sky/source.js';
import type { Telescope } from '../../telescope/telescope.js';
import { modelComponents } from '../../stages/index.js';
import { planResident, type ResidentPlan } from './plan.js';
import { prepareResidentChain, type HostBlock, type HostSpectra, type ResidentImage } from './chain.js';
import { referenceImages, referenceSpectra } from './testing.js';
import { simulateSky } from '../simulated-sky.js';
import { planWorkloadChain } from '../workload-chain.js';
import { roadNames } from './road-names.js';
import { findSources } from '../run.js';
import { workloadOf } from '../workload.js';

const presence = describeCuda();
if (!presence.present) {
  it('the resident chain', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('the resident chain', onCard);
}

/** Float32 leaves 6e-8; half-precision operands a thousandth of the field's power, before the taper is taken out. */
const tolerances = { visibilities: 1e-6, direct: 1e-3 } as const;

/**
 * Largest difference over the largest value of the channel, whose products share the field's power; the direct image with
 * its taper put back (docs/cuda.md, Imaging). The same pixels must be NaN.
 */
function assertClose(
  found: ArrayLike<number>,
  wanted: ImageCPML,
  { road, image }: ResidentPlan,
  tolerance: number,
): void {
  const { correction, channels, products, pixels } = image;
  assert.equal(found.length, channels * products * pixels ** 2);
  const size = wanted.length / channels;
  for (let first = 0; first < wanted.length; first += size) {
    let [largest, worst] = [0, 0];
    for (let at = first; at < first + size; at++) {
      assert.equal(Number.isNaN(found[at]), Number.isNaN(wanted[at]), `pixel ${at} is NaN in one alone`);
      if (Number.isNaN(wanted[at])) continue;
      const by = road === 'direct' ? 1 / correction[at % correction.length] : 1;
      largest = Math.max(largest, Math.abs(wanted[at]) * by);
      worst = Math.max(worst, Math.abs(found[at] - wanted[at]) * by);
    }
    assert.ok(worst <= tolerance * largest, `channel ${first / size} differs by ${worst / largest}`);
  }
}

async function collect(
  { image: { channels, products, pixels, stations, polarisations } }: ResidentPlan,
  images: AsyncGenerator<ResidentImage>,
): Promise<ResidentImage[]> {
  const all: ResidentImage[] = [];
  for await (const { image, gains, visibilities, ...rest } of images) {
    const baselines = baselineCount(stations);
    all.push({
      ...rest,
      image: imageF32CPML(Float32Array.from(image), channels, products, pixels),
      ...(gains ? { gains: gainsCA(gains.slice(), channels, stations * polarisations) } : {}),
      ...(visibilities
        ? { visibilities: visibilitiesCBPP(visibilities.slice(), channels, baselines, polarisations) }
        : {}),
    });
    // Whatever the next image leaves unwritten would be this.
    image.fill(12_345);
  }
  return all;
}

function onCard(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());

  const makeImage = (channels: number): ImagePlan =>
    planImage({
      pixels: 64,
      field: { kind: 'all-sky' },
      stationsM: randomStations(3, 11, 40),
      axes: zenithAxes,
      frequenciesHz: Float64Array.from({ length: channels }, (_, c) => 60e6 - 1e6 * c),
      polarisations: 2,
    });
  const gap: SpectraGap = {
    ...{ firstChannel: 1, endChannel: 3, firstInput: 4, endInput: 8, firstSample: 5, endSample: 30 },
  };
  /** Noise, every block another; some with gaps, some in pinned memory. */
  const noiseBlocks = (image: ImagePlan, type: SpectraType, sizes: readonly number[]): HostSpectra[] =>
    sizes.map((samples, n) => {
      const inputs = image.stations * image.polarisations;
      const spectra = randomSpectra(100 + n, type, image, samples);
      const gaps = n % 3 === 1 ? [gap] : [];
      const perSample = type === 'ci4' ? 1 : 2;
      for (const { firstChannel, endChannel, firstInput, endInput, firstSample, endSample } of gaps) {
        for (let c = firstChannel; c < endChannel; c++) {
          for (let a = firstInput; a < endInput; a++) {
            const row = (c * inputs + a) * samples;
            spectra.fill(0, (row + firstSample) * perSample, (row + endSample) * perSample);
          }
        }
      }
      if (n % 2 === 0) return { spectra, samples, gaps };
      const shape = { type, channels: image.channels, inputs, capacity: samples };
      const pinned = backend.allocatePinned(shape).spectra;
      pinned.set(spectra);
      return { spectra: pinned, samples, gaps };
    });

  for (const road of roadNames) {
    for (const [type, blocksPerImage] of [
      ['ci8', 1],
      ['ci4', 1],
      ['ci8', 2],
    ] as const) {
      it(`${road}: each image of ${blocksPerImage} block(s) of ${type} is that of its own blocks`, async () => {
        const image = makeImage(4);
        const flaggedInputs = Uint8Array.from({ length: 22 }, (_, a) => (a === 5 || a === 20 ? 1 : 0));
        const input = { kind: 'spectra', type, spectraPerBlock: 70 } as const;
        const plan = planResident({ road, input, image, blocksPerImage, flaggedInputs });
        const chain = await prepareResidentChain(plan, backend);
        // An odd number, so that pairs of blocks leave one over; then again, to see that nothing was left behind.
        for (const sizes of [
          [70, 64, 41, 70, 33, 70, 48, 70, 70],
          [40, 70],
        ]) {
          const blocks = noiseBlocks(image, type, sizes);
          const found = await collect(plan, chain.images(blocks));
          const wanted = await referenceImages(plan, blocks);
          assert.equal(found.length, Math.ceil(blocks.length / blocksPerImage));
          for (const [n, one] of wanted.entries()) {
            assert.equal(found[n].samples, one.samples);
            assert.deepEqual(found[n].weights, one.weights);
            assertClose(found[n].image, one.image, plan, tolerances[road]);
          }
        }
        await chain.close();
      });
    }
  }

  for (const road of roadNames)
    it(`${road}: interference is taken from the block it was heard in, and what is asked for holds from the next on`, async () => {
      const image = makeImage(4);
      const [type, inputs] = ['ci8', 22] as const;
      const kurtosis = planKurtosis({
        ...{
          type,
          channels: 4,
          inputs,
          polarisations: 2,
          spectraPerWindow: 64,
          sigmas: 4,
          takes: 'stations',
        },
      });
      const input = { kind: 'spectra', type, spectraPerBlock: 200 } as const;
      const plan = planResident({ road, input, image, blocksPerImage: 2, kurtosis });
      const chain = await prepareResidentChain(plan, backend);
      const reference = openReference();
      const flagger = await prepareFlagger(kurtosis, reference);
      const judged = reference.allocateSpectra(plan.spectra);
      const tally = new KurtosisTally(kurtosis);
      let first = 0;
      // Twice, to see that nothing is left behind; some too short to be judged.
      for (const sizes of [[200, 130, 20, 200, 77], [64]]) {
        const blocks = sizes.map((samples, n): HostSpectra => {
          const shape = { type, channels: 4, inputs, samples } as const;
          const spectra = noisySpectra(shape, randomStream(n, `${road} ${samples}`), (c, a, t) => ({
            noise: c === n % 4 && a % 5 === n && t % 40 < 4 ? 4 : 1,
            carrier: 0,
          }));
          return { spectra, samples, gaps: [] };
        });
        const found = await collect(plan, chain.images(blocks));
        const flagged: HostSpectra[] = [];
        for (const { spectra, samples } of blocks) {
          await judged.write(spectra, samples);
          tally.add(await flagger.run(judged), first);
          first += samples;
          flagged.push({ spectra: await judged.read(), samples, gaps: judged.gaps });
        }
        const wanted = await referenceImages(plan, flagged);
        assert.equal(found.length, wanted.length);
        for (const [n, one] of wanted.entries()) {
          assert.equal(found[n].samples, one.samples);
          assert.deepEqual(found[n].weights, one.weights);
          assertClose(found[n].image, one.image, plan, tolerances[road]);
        }
      }
      assert.deepEqual(chain.kurtosis?.account(), tally.account());
      assert.ok(tally.account().taken > 0);
      await chain.close();
    });

  it('gains that are set between two blocks are those of the second', async () => {
    const image = makeImage(4);
    const kurtosis = planKurtosis({
      ...{ type: 'ci8', channels: 4, inputs: 22, polarisations: 2, sigmas: 6, takes: 'stations' },
    });
    const input = { kind: 'spectra', type: 'ci8', spectraPerBlock: 70 } as const;
    const options = { road: 'direct', input, image, blocksPerImage: 1 } as const;
    const [first, second] = noiseBlocks(image, 'ci8', [70, 70]);
    const gains = gainsCA(
      Float64Array.from({ length: 2 * 88 }, (_, n) => (n % 2 === 0 ? 2 : 0)),
      4,
      22,
    );
    const made = [];
    for (const plan of [planResident(options), planResident({ ...options, kurtosis })]) {
      const chain = await prepareResidentChain(plan, backend);
      const images: Float64Array[] = [];
      const keep = (one: ResidentImage): Promise<void> => {
        images.push(Float64Array.from(one.image));
        return Promise.resolve();
      };
      await chain.push(first, keep);
      const given = gainsCA(gains.slice(), 4, 22);
      chain.setGains(given, new Uint8Array(88).fill(1));
      given.fill(0);
      await chain.push(second, keep);
      await chain.flush(keep);
      made.push(images);
      await chain.close();
    }
    assert.deepEqual(made[1], made[0]);
    assert.notDeepEqual(made[0][0], made[0][1]);
  });

  const frame = skyFrame({ latitudeDeg: 34, longitudeDeg: -107, heightM: 1500 }, instant(1.78e9));
  const sources = [
    sourceAt(frame, 70, 30, 20_000, 'bright'),
    sourceAt(frame, 50, 200, 12_000, 'second'),
  ] as const;
  const telescope: Telescope = {
    name: 'scatter',
    title: 'a scatter',
    site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1500 },
    stations: randomStations(7, 40, 60).map(({ x, y, z }, n) => ({
      ...{ name: `s${n}`, eastM: x, northM: y, upM: z },
    })),
    polarisations: 2,
    band: { lowHz: 1e6, highHz: 1e9 },
    recording: { centreFrequencyHz: 58e6, sampleRateHz: 2e5, channels: 8, bits: 8 },
    beamExponent: 0.8,
  };

  for (const input of ['spectra', 'voltages'] as const) {
    for (const road of roadNames) {
      it(`${road}, from ${input}: gains, and sources in their places, as on the reference`, async () => {
        const workload = workloadOf({
          ...{ telescope, input, taps: 4, cadenceS: 0.0064, calibrateEveryS: 0.0128, pixels: 64 },
          ...{ field: { kind: 'all-sky' }, kernelSize: 5, bits: 8 },
        });
        const chainPlan = planWorkloadChain(telescope, frame, workload, {
          ...{ road, channels: 8, everyImages: 2 },
        });
        const plan = planResident({
          ...chainPlan.plan,
          calibration: {
            ...{ stationsM: chainPlan.plan.calibration?.stationsM ?? [], everyImages: 2 },
            plan: planCalibration({
              ...{ stations: 40, polarisations: 2, channels: 8, iterations: { kind: 'fixed', count: 60 } },
            }),
          },
          deliver: road === 'direct' ? ['gains'] : ['gains', 'visibilities'],
        });
        const sky = await simulateSky(chainPlan, backend, {
          ...{ telescope, frame, start: frame.moment, sources, seed: 5, blocks: 3 },
        });
        const components = modelComponents(telescope, plan.image.frequenciesHz, sky.up, frame);
        const chain = await prepareResidentChain(plan, backend);
        await chain.setSky(components);
        const blocks: HostBlock[] = [0, 1, 2, 1, 0].map((n) => sky.blocks[n]);
        const found = await collect(plan, chain.images(blocks));
        const spectra = await referenceSpectra(chainPlan.channelise, blocks);
        const wanted = await referenceImages(plan, spectra, components);
        // From voltages one sample in a thousand may be a step off, and the gains with it.
        const loose = input === 'voltages' ? 20 : 1;
        for (const [n, one] of wanted.entries()) {
          assert.equal(found[n].samples, one.samples);
          assert.equal(found[n].gains !== undefined, n % 2 === 0);
          if (found[n].gains && one.gains) {
            const size = one.gains.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
            let worst = 0;
            one.gains.forEach((value, at) => {
              const difference = Math.abs((found[n].gains?.[at] ?? NaN) - value);
              worst = difference <= worst ? worst : difference; // a NaN sticks
            });
            assert.ok(worst <= loose * 1e-5 * size, `gains differ by ${worst} of ${size}`);
          }
          if (found[n].visibilities && input === 'spectra') {
            assert.deepEqual(found[n].visibilities, one.visibilities);
          }
          assertClose(found[n].image, one.image, plan, loose * (road === 'direct' ? 1e-3 : 1e-4));
          for (const { name, errorPixels } of findSources(found[n].image, plan.image, sky.up)) {
            assert.ok(errorPixels < 0.5, `${name} is ${errorPixels} pixels off`);
          }
        }
        assert.equal(findSources(found[0].image, plan.image, sky.up).length, 2);
        const { times } = chain;
        assert.equal(times.images, 5);
        assert.ok((times.seconds.calibrate ?? 0) > 0 && (times.seconds.download ?? 0) > 0);
        await chain.close();
        await sky.close();
      });
    }
  }

  it('frees what it took, also after an error', async () => {
    const image = makeImage(2);
    const { counting, held } = countingBackend(backend);
    for (const road of roadNames) {
      const input = { kind: 'spectra', type: 'ci8', spectraPerBlock: 40 } as const;
      const plan = planResident({ road, input, image, blocksPerImage: 1 });
      const chain = await prepareResidentChain(plan, counting);
      assert.ok(held() > 5);
      const tooLong = { ...noiseBlocks(image, 'ci8', [41])[0] };
      const good = noiseBlocks(image, 'ci8', [40, 40])[0];
      await assert.rejects(collect(plan, chain.images([good, tooLong])), /samples is 41/);
      await assert.rejects(collect(plan, chain.images([good])), /while it is spoiled/);
      await chain.close();
      assert.equal(held(), 0);
      await chain.close();
    }
  });

  it('refuses voltages where spectra go', async () => {
    const image = makeImage(2);
    const input = { kind: 'spectra', type: 'ci8', spectraPerBlock: 40 } as const;
    const plan = planResident({ road: 'direct', input, image, blocksPerImage: 1 });
    const chain = await prepareResidentChain(plan, backend);
    const voltages = voltagesAT(new Int8Array(0), 'ci8', 22, 0);
    await assert.rejects(
      collect(
        plan,
        chain.images([{ type: 'ci8', inputs: 22, samples: 0, voltages, gaps: [], start: instant(0) }]),
      ),
      /voltages came where spectra go/,
    );
    await chain.close();
  });
}

/** A backend that counts the memory and events it has handed out. */
function countingBackend(backend: CudaBackend): { counting: CudaBackend; held: () => number } {
  let held = 0;
  const counted = <Thing extends Closable>(thing: Thing): Thing => {
    held++;
    let isClosed = false;
    return {
      ...thing,
      close: () => {
        if (!isClosed) held--;
        isClosed = true;
        return thing.close();
      },
    };
  };
  const { session } = backend;
  const counting: CudaSession = {
    ...session,
    allocate: (what, bytes) => counted(session.allocate(what, bytes)),
    allocatePinned: (what, bytes) => counted(session.allocatePinned(what, bytes)),
    createEvent: (options) => counted(session.createEvent(options)),
  };
  return { counting: { ...backend, session: counting }, held: () => held };
}
