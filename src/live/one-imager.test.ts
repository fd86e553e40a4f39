/** Images from visibilities of arrays with heights and slopes, against a direct Fourier sum over all pairs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { baselineCount, baselineIndex, countsCB, spectraCAT, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { CorellaError } from '../core/errors.js';
import { parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { directionFromAltAz, type TangentAxes } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  ownImage,
  stationPositions,
  type ImageSettings,
  type SkyImage,
  prepareDirectImage,
} from '../stages/index.js';
import { imageIntegration } from '../compose/index.js';
import { chooseMethod } from './method.js';

const FREQUENCY_HZ = 150e6;
const START = parseInstant('2026-06-21T04:00:00Z');
const eda2 = await loadTelescope('eda2');

/** Stations in a circle of 28 m: heights of this many wavelengths rms, on a slope that rises to the east. */
function arrayOf(heightWavelengths: number, slopeDeg: number): Telescope {
  const random = randomStream(9, 'heights');
  const stations = Array.from({ length: 24 }, (_, s) => {
    const [radius, angle] = [14 * Math.sqrt(random.uniform()), 2 * Math.PI * random.uniform()];
    const eastM = radius * Math.cos(angle);
    const heightM = (heightWavelengths * random.gaussian() * SPEED_OF_LIGHT_M_PER_S) / FREQUENCY_HZ;
    const upM = heightM + Math.tan((slopeDeg * Math.PI) / 180) * eastM;
    return { name: `s${s}`, eastM, northM: radius * Math.sin(angle), upM };
  });
  return { ...eda2, stations };
}

const phaseTo = (place: Vector3, direction: Vector3): number =>
  (2 * Math.PI * FREQUENCY_HZ * dot(place, direction)) / SPEED_OF_LIGHT_M_PER_S;

/** Two sources of 1 and 0.5 Jy, with equal X and Y, and 3 Jy of receiver noise in autocorrelations. */
const sources = [
  { fluxJy: 1, direction: directionFromAltAz(52, 70) },
  { fluxJy: 0.5, direction: directionFromAltAz(30, 250) },
];
const NOISE_JY = 3;
const visibility = (places: readonly Vector3[], i: number, j: number): { re: number; im: number } => {
  let [re, im] = [i === j ? NOISE_JY : 0, 0];
  for (const { fluxJy, direction } of sources) {
    const phase = phaseTo(places[i], direction) - phaseTo(places[j], direction);
    re += fluxJy * Math.cos(phase);
    im += fluxJy * Math.sin(phase);
  }
  return { re, im };
};

type Visibility = (i: number, j: number) => { readonly re: number; readonly im: number };

function integrationOf(telescope: Telescope, samples = 10, of?: Visibility): Integration {
  const places = stationPositions(telescope);
  const stations = places.length;
  const baselines = baselineCount(stations);
  const values = new Float64Array(8 * baselines);
  for (let i = 0; i < stations; i++)
    for (let j = 0; j <= i; j++) {
      const { re, im } = of?.(i, j) ?? visibility(places, i, j);
      for (const product of [0, 3]) {
        values[2 * (4 * baselineIndex(i, j) + product)] = samples * re;
        values[2 * (4 * baselineIndex(i, j) + product) + 1] = samples * im;
      }
    }
  return {
    start: START,
    durationS: 1,
    channels: 1,
    stations,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, 1, baselines, 2),
    counts: countsCB(new Float64Array(baselines).fill(samples), 1, baselines),
    flaggedInputs: new Uint8Array(2 * stations),
  };
}

/** The direction of a pixel this many columns and rows from the centre. */
function directionAt(axes: TangentAxes, column: number, row: number, pixelSize: number): Vector3 {
  const [l, m] = [column * pixelSize, row * pixelSize];
  const n = Math.sqrt(1 - l * l - m * m);
  return {
    x: l * axes.l.x + m * axes.m.x + n * axes.n.x,
    y: l * axes.l.y + m * axes.m.y + n * axes.n.y,
    z: l * axes.l.z + m * axes.m.z + n * axes.n.z,
  };
}

/** The largest difference of XX from Σ V e^(−2πi …) over all ordered pairs, over the peak. */
async function errorOf(telescope: Telescope, autos: 'include' | 'leave-out'): Promise<number> {
  const places = stationPositions(telescope);
  const setup = { backend: openReference(), telescope, frequenciesHz: Float64Array.of(FREQUENCY_HZ) };
  const sky = await imageIntegration(
    integrationOf(telescope),
    { ...setup, weight: 'natural', autos },
    { field: { kind: 'all-sky' }, kernelSize: 5, pixels: 64 },
  );
  const { pixels, pixelSize, axes } = sky.plan;
  const summed = places
    .flatMap((_, i) => places.map((_, j) => ({ i, j, ...visibility(places, i, j) })))
    .filter(({ i, j }) => i !== j || autos === 'include');
  let [worst, peak, shown] = [0, 0, 0];
  for (let at = 0; at < pixels * pixels; at++) {
    const value = sky.image[at];
    if (Number.isNaN(value)) continue;
    shown++;
    const direction = directionAt(axes, (at % pixels) - pixels / 2, Math.floor(at / pixels) - pixels / 2, pixelSize); // prettier-ignore
    const phases = places.map((place) => phaseTo(place, direction));
    const [cos, sin] = [phases.map(Math.cos), phases.map(Math.sin)];
    let sum = 0;
    for (const { i, j, re, im } of summed)
      sum += re * (cos[j] * cos[i] + sin[j] * sin[i]) - im * (sin[j] * cos[i] - cos[j] * sin[i]);
    worst = Math.max(worst, Math.abs(value - sum / summed.length));
    peak = Math.max(peak, Math.abs(sum / summed.length));
  }
  assert.ok(shown > 2000, `${shown}`);
  return worst / peak;
}

const HEIGHTS = [0, 0.1, 1, 5] as const;
const SLOPES = [0, 3, 10] as const;
const arrays = HEIGHTS.flatMap((heights) => SLOPES.map((slope) => ({ heights, slope })));

describe('images from visibilities are within 0.1 % of a direct Fourier sum', () => {
  for (const { heights, slope } of arrays)
    for (const autos of ['leave-out', 'include'] as const)
      it(`heights of ${heights} wavelengths rms, a slope of ${slope}°, autocorrelations ${autos}`, async () => {
        const error = await errorOf(arrayOf(heights, slope), autos);
        assert.ok(error < 1e-3, `${(100 * error).toFixed(2)} % of the peak`);
      });
});

/** One source through the stations: |Σ e^(iφ)|²/N² towards every pixel, with autocorrelations. */
function errorOfSource({ image, plan }: SkyImage, places: readonly Vector3[], source: Vector3): number {
  const { pixels, pixelSize, axes } = plan;
  let worst = 0;
  for (let at = 0; at < pixels * pixels; at++) {
    if (Number.isNaN(image[at])) continue;
    const direction = directionAt(axes, (at % pixels) - pixels / 2, Math.floor(at / pixels) - pixels / 2, pixelSize); // prettier-ignore
    let [re, im] = [0, 0];
    for (const place of places) {
      const angle = phaseTo(place, source) - phaseTo(place, direction);
      re += Math.cos(angle);
      im += Math.sin(angle);
    }
    worst = Math.max(worst, Math.abs(image[at] - (re * re + im * im) / places.length ** 2));
  }
  return worst;
}

async function directImage(
  telescope: Telescope,
  image: ImageSettings,
  source: Vector3,
  places: readonly Vector3[],
): Promise<SkyImage> {
  const backend = openReference();
  const inputs = 2 * places.length;
  const values = new Float32Array(2 * inputs);
  places.forEach((place, s) => {
    const angle = phaseTo(place, source);
    values.set([Math.cos(angle), Math.sin(angle), Math.cos(angle), Math.sin(angle)], 4 * s);
  });
  const block = backend.allocateSpectra({ type: 'cf32', channels: 1, inputs, capacity: 1 });
  await block.write(spectraCAT(values, 'cf32', 1, inputs, 1), 1);
  const stage = prepareDirectImage({
    backend,
    telescope,
    frequenciesHz: Float64Array.of(FREQUENCY_HZ),
    image,
    grid: { spectrumRateHz: 1000 },
    lastsS: 0.001,
  });
  const made: SkyImage[] = [];
  const emit = (sky: SkyImage): Promise<void> => Promise.resolve(void made.push(ownImage(sky)));
  await stage.push({ block, index: 0, start: START, cutAt: 1, stays: 0 }, emit);
  await stage.flush(emit);
  await stage.close();
  return made[0];
}

async function flatImage(
  telescope: Telescope,
  image: ImageSettings,
  source: Vector3,
  places: readonly Vector3[],
): Promise<SkyImage> {
  const integration = integrationOf(telescope, 1, (i, j) => {
    const phase = phaseTo(places[i], source) - phaseTo(places[j], source);
    return { re: Math.cos(phase), im: Math.sin(phase) };
  });
  const setup = { backend: openReference(), telescope, frequenciesHz: Float64Array.of(FREQUENCY_HZ) };
  return imageIntegration(
    integration,
    { ...setup, weight: 'natural', autos: 'include', method: 'flat' },
    image,
  );
}

/** Live data, if gridding in u, v and w would be too slow; direct images of recordings have the same check. */
describe('direct images and those in the plane of the stations are within their bound, or refused', () => {
  const found: Record<'direct' | 'visibilities', string[]> = { direct: [], visibilities: [] };
  for (const by of ['direct', 'visibilities'] as const)
    for (const { heights, slope } of arrays)
      it(`, heights of ${heights} wavelengths rms, a slope of ${slope}°`, async () => {
        const telescope = arrayOf(heights, slope);
        const places = stationPositions(telescope);
        const spectra = { type: 'ci8', grid: { start: START, spectrumRateHz: 1000 } } as const;
        const frequenciesHz = Float64Array.of(FREQUENCY_HZ);
        const asked = { ...spectra, telescope, frequenciesHz, data: 'arrive' } as const;
        const image = { field: { kind: 'all-sky' }, kernelSize: 5, pixels: 64 } as const;
        const imaging = { everyS: 0.1, by, weight: 'natural', image } as const;
        const name = `${heights} ${slope}`;
        const { imaging: with_, chosen } = await chooseMethod(
          { ...asked, backend: openReference() },
          imaging,
          (method) => Promise.resolve({ eachS: method === 'w-term' ? 9 : 0.01, perDataS: 0 }),
        ).catch((error: unknown) => {
          // prettier-ignore
          assert.ok(error instanceof CorellaError);
          return { imaging: undefined, chosen: undefined };
        });
        if (!with_) return;
        found[by].push(name);
        for (const source of [
          [52, 70],
          [25, 250],
          [7, 130],
        ].map(([alt, az]) => directionFromAltAz(alt, az))) {
          const make = by === 'direct' ? directImage : flatImage;
          const error = errorOfSource(await make(telescope, with_.image, source, places), places, source);
          assert.ok(error <= chosen.predictedError, `${error}, ${chosen.predictedError} predicted`);
        }
      });

  it('which leaves slopes of stations that are nearly in one plane, and refuses heights', () => {
    assert.deepEqual(found.visibilities, ['0 0', '0 3', '0 10', '0.1 0', '0.1 3']);
    assert.ok(['0 0', '0 3', '0 10', '0.1 0'].every((name) => found.direct.includes(name)));
    assert.ok(!found.direct.some((name) => Number(name.split(' ')[0]) >= 1), found.direct.join());
  });
});
