import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { modelVisibilities } from '../calibrate/index.js';
import { baselineCount, countsCB, gainsCA, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { secondsBetween, addSeconds, parseInstant } from '../core/instant.js';
import type { VoltageRecording } from '../formats/index.js';
import { averageChannels, measureSource, placeOf, stokesI } from '../image/index.js';
import { skyFrame } from '../sky/frame.js';
import { perfectGains } from '../sky/input-gains.js';
import { simulate } from '../sky/simulate.js';
import { planSimulation } from '../sky/simulation-plan.js';
import { fixedSource, sourceAt } from '../sky/source.js';
import type { Telescope } from '../telescope/telescope.js';
import { calibrateIntegration } from './index.js';
import { channelsOf, planChannels, stationPositions, type SkyImage } from '../stages/index.js';
import { imageDirectly, imageIntegration } from '../compose/index.js';

const places = [
  [0, 0],
  [11, 3],
  [-9, 5],
  [4, -12],
  [-6, -8],
  [14, -5],
  [-13, -2],
  [7, 13],
  [-3, 10],
];
const telescope: Telescope = {
  name: 'test',
  title: 'test',
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 377 },
  stations: places.map(([eastM, northM], s) => ({ name: `s${s}`, eastM, northM, upM: 0 })),
  polarisations: 2,
  band: { lowHz: 10e6, highHz: 90e6 },
  recording: { centreFrequencyHz: 60e6, sampleRateHz: 1e6, channels: 4, bits: 8 },
  beamExponent: 0,
};
const start = parseInstant('2026-06-21T04:00:00Z');
/** Long enough for the sky to rotate by 7.5° from the start to the middle. */
const durationS = 3600;
const middle = skyFrame(telescope.site, addSeconds(start, durationS / 2));
const source = sourceAt(middle, 50, 70, 20, 'east');
const frequenciesHz = Float64Array.of(55e6, 60e6);
const settings = { pixels: 64, field: { kind: 'all-sky' }, kernelSize: 5 } as const;

/** The array's sums for the one source, at its position in the middle of the time. */
function integrationOf(gains: readonly [number, number][] = places.map(() => [1, 0])): Integration {
  const stations = places.length;
  const baselines = baselineCount(stations);
  const model = modelVisibilities({
    stationsM: stationPositions(telescope),
    frequenciesHz,
    polarisations: 2,
    components: [
      {
        directionEnu: middle.directionEnu(source.position(middle)),
        fluxJy: Float64Array.of(20, 20),
      },
    ],
  });
  const visibilities = visibilitiesCBPP(new Float64Array(2 * 2 * baselines * 4), 2, baselines, 2);
  let pair = 0;
  for (let c = 0; c < 2; c++) {
    for (let i = 0; i < stations; i++) {
      for (let j = 0; j <= i; j++, pair++) {
        const [[ir, ii], [jr, ji]] = [gains[i], gains[j]];
        const [gr, gi] = [ir * jr + ii * ji, ii * jr - ir * ji];
        for (let p = 0; p < 2; p++) {
          const [re, im] = model.subarray(2 * (2 * pair + p));
          // A hundred samples in every sum.
          visibilities[2 * (4 * pair + 3 * p)] = 100 * (gr * re - gi * im);
          visibilities[2 * (4 * pair + 3 * p) + 1] = 100 * (gr * im + gi * re);
        }
      }
    }
  }
  return {
    start,
    durationS,
    channels: 2,
    stations,
    polarisations: 2,
    visibilities,
    counts: countsCB(new Float64Array(2 * baselines).fill(100), 2, baselines),
    flaggedInputs: new Uint8Array(2 * stations),
  };
}

/** The brightest pixel of the image is the source. */
function assertFound(sky: SkyImage, peak: number, tolerance: number): void {
  const place = placeOf(sky.plan, sky.frame.directionEnu(source.position(sky.frame)));
  assert.ok(place);
  const plane = stokesI(averageChannels(sky.image, sky.plan), sky.plan, 0);
  const found = measureSource(plane, sky.plan, place, sky.plan.pixels);
  assert.ok(found.errorPixels < 0.5, `${found.errorPixels} pixels away`);
  assert.ok(Math.abs(found.peak - peak) < tolerance, `${found.peak} Jy, not ${peak}`);
}

const setup = {
  backend: openReference(),
  telescope,
  frequenciesHz,
  weight: 'natural',
  autos: 'leave-out',
} as const;

describe('an image of an integration', () => {
  it('has the geometry of its middle, and reports when it began', async () => {
    const sky = await imageIntegration(integrationOf(), setup, settings);
    assert.deepEqual(sky.start, start);
    assert.equal(sky.durationS, durationS);
    assert.equal(secondsBetween(start, sky.frame.moment), durationS / 2);
    // Pixels are 2.5° at the zenith, and the source is between four of them: the fitted peak is accurate to a tenth.
    assertFound(sky, 20, 2);
  });

  it('is calibrated by the gains it is given', async () => {
    const turns = places.map((_, s) => 2.4 * s);
    const gains = turns.map((angle): [number, number] => [3 * Math.cos(angle), 3 * Math.sin(angle)]);
    const integration = integrationOf(gains);
    const perChannel = gains.flatMap(([re, im]) => [re, im, re, im]);
    const calibrated = {
      gains: gainsCA(Float64Array.from([...perChannel, ...perChannel]), 2, 18),
      solved: new Uint8Array(36).fill(1),
    };
    assertFound(await imageIntegration(integration, { ...setup, calibrated }, settings), 20, 2);
  });
});

describe('an image of nothing', () => {
  it('is refused, whatever left nothing', async () => {
    const integration = integrationOf();
    const flagged = { ...integration, flaggedInputs: new Uint8Array(18).fill(1) };
    await assert.rejects(imageIntegration(flagged, setup, settings), /every cross-correlation is flagged/);
    await assert.rejects(
      imageIntegration(flagged, { ...setup, autos: 'include' }, settings),
      /every visibility is flagged/,
    );
    const uncounted = {
      ...integration,
      counts: integration.counts.map(() => 0) as typeof integration.counts,
    };
    await assert.rejects(imageIntegration(uncounted, setup, settings), /no data are left/);
    const calibrated = { gains: gainsCA(new Float64Array(72).fill(NaN), 2, 18), solved: new Uint8Array(36) };
    await assert.rejects(imageIntegration(integration, { ...setup, calibrated }, settings), /without gains/);
    // An image of one remaining channel works.
    const solved = new Uint8Array(36).fill(1, 18);
    const half = {
      gains: gainsCA(
        Float64Array.from({ length: 72 }, (_, n) => 1 - (n % 2)),
        2,
        18,
      ),
      solved,
    };
    assertFound(await imageIntegration(integration, { ...setup, calibrated: half }, settings), 20, 2);
  });
});

describe('gains of an integration', () => {
  const calibrate = (options: object = {}) =>
    calibrateIntegration(integrationOf(), {
      backend: openReference(),
      telescope,
      frequenciesHz,
      sources: [source],
      minimumAltitudeDeg: 10,
      ...options,
    });

  it('follow the model at its middle and the options given', async () => {
    const { calibration, plan, sources } = await calibrate({ referenceStation: 5, minimumBaselineM: 12 });
    assert.equal(calibration.referenceStation, 5);
    for (const { residual } of calibration.solutions) assert.ok(residual < 1e-6, `${residual}`);
    // The model's flux equals that of the data: gains are one, all in phase.
    calibration.gains.forEach((part, n) => {
      assert.ok(Math.abs(part - (n % 2 === 0 ? 1 : 0)) < 1e-6);
    });
    assert.deepEqual(
      sources.map((up) => up.source.name),
      ['east'],
    );
    // Stations 0 and 1 are 11.4 m apart, 1 and 6 are 24.5.
    assert.equal(plan.usedBaselines[1], 0);
    assert.equal(plan.usedBaselines[(6 * 7) / 2 + 1], 1);
    const { plan: fixed } = await calibrate({ iterations: { kind: 'fixed', count: 4 } });
    assert.deepEqual(fixed.iterations, { kind: 'fixed', count: 4 });
  });

  it('are refused when no source is up', async () => {
    await assert.rejects(calibrate({ minimumAltitudeDeg: 60 }), /none of east is above 60°/);
    const south = fixedSource({ name: 'far', position: { raDeg: 0, decDeg: 89 }, fluxJy: 1 });
    await assert.rejects(calibrate({ sources: [south] }), /none of far is above 10°/);
  });
});

describe('a direct image', () => {
  const plan = planSimulation({
    telescope,
    start,
    samples: 6000,
    sampleRateHz: 1e6,
    centreFrequencyHz: 60e6,
    type: 'cf32',
    sources: [source],
    systemFluxJy: 0,
    seed: 3,
    gains: perfectGains,
  });
  const recording: VoltageRecording = {
    kind: 'voltages',
    path: 'memory',
    format: 'test',
    details: {},
    telescope,
    type: 'cf32',
    inputs: 18,
    polarisations: 2,
    samples: 6000,
    sampleRateHz: 1e6,
    centreFrequencyHz: 60e6,
    start,
    blocks: (blockSamples) => simulate(plan, blockSamples),
    close: () => Promise.resolve(),
  };
  const channels = planChannels(recording, { channels: 4, taps: 2, outputType: 'cf32' });
  const image = (durationWantedS?: number) =>
    imageDirectly(
      recording,
      channels,
      {
        backend: openReference(),
        telescope,
        frequenciesHz: channelsOf(recording, channels).frequenciesHz,
        durationS: durationWantedS,
      },
      { ...settings, pixels: 32, kernelSize: 3 },
    );

  it('takes the given duration of the recording, and finds the source', async () => {
    // 0.4 ms are 100 spectra of 4 µs; the first is centred at sample 3.5 and begins 2 before that.
    const { sky } = await image(0.4e-3);
    assert.equal(sky.samples, 100);
    assert.ok(Math.abs(sky.durationS - 0.4e-3) < 1e-12);
    assert.ok(Math.abs(secondsBetween(start, sky.start) - 1.5e-6) < 1e-12);
    assert.ok(Math.abs(secondsBetween(sky.start, sky.frame.moment) - 0.2e-3) < 1e-9);
    // The channeliser preserves the level of white noise; 400 draws measure its power to a twentieth.
    assertFound(sky, 20, 6);
  });

  it('takes all of it by default, and refuses less than a spectrum', async () => {
    // 1500 spectra less one for the two taps
    assert.equal((await image()).sky.samples, 1499);
    await assert.rejects(image(1e-6), /1e-6 s is shorter than one spectrum|0\.000001 s is shorter/);
  });
});
