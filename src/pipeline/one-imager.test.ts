/** Images from visibilities of arrays with heights and slopes, against a direct Fourier sum over all pairs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { directionFromAltAz } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import type { Telescope } from '../telescope/telescope.js';
import { stationPositions } from './geometry.js';
import { imageIntegration } from './image.js';

const FREQUENCY_HZ = 150e6;
const START = parseInstant('2026-06-21T04:00:00Z');
const eda2 = await loadTelescope('eda2');

/** Stations in a circle of 28 m: heights of so many wavelengths rms, on a slope that rises to the east. */
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

/** Two sources of 1 and 0.5 Jy, X and Y alike, and 3 Jy of receiver noise in autocorrelations. */
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

function integrationOf(telescope: Telescope, samples = 10): Integration {
  const places = stationPositions(telescope);
  const stations = places.length;
  const baselines = baselineCount(stations);
  const values = new Float64Array(8 * baselines);
  for (let i = 0; i < stations; i++)
    for (let j = 0; j <= i; j++) {
      const { re, im } = visibility(places, i, j);
      for (const product of [0, 3]) {
        values[2 * (4 * baselineIndex(i, j) + product)] = samples * re;
        values[2 * (4 * baselineIndex(i, j) + product) + 1] = samples * im;
      }
    }
  return {
    ...{ start: START, durationS: 1, channels: 1, stations, polarisations: 2 },
    visibilities: visibilitiesCBPP(values, 1, baselines, 2),
    counts: countsCB(new Float64Array(baselines).fill(samples), 1, baselines),
    flaggedInputs: new Uint8Array(2 * stations),
  };
}

/** The largest difference of XX from Σ V e^(−2πi …) over all ordered pairs, over the peak. */
async function errorOf(telescope: Telescope, autos: 'include' | 'leave-out'): Promise<number> {
  const places = stationPositions(telescope);
  const road = { backend: openReference(), telescope, frequenciesHz: Float64Array.of(FREQUENCY_HZ) };
  const sky = await imageIntegration(
    integrationOf(telescope),
    { ...road, weight: 'natural', autos },
    { field: { kind: 'all-sky' }, kernelSize: 5, pixels: 64 },
  );
  const { pixels, pixelSize, axes } = sky.plan;
  let [worst, peak, shown] = [0, 0, 0];
  for (let at = 0; at < pixels * pixels; at++) {
    const value = sky.image[at];
    if (Number.isNaN(value)) continue;
    shown++;
    const [l, m] = [
      ((at % pixels) - pixels / 2) * pixelSize,
      (Math.floor(at / pixels) - pixels / 2) * pixelSize,
    ];
    const n = Math.sqrt(1 - l * l - m * m);
    const direction = {
      x: l * axes.l.x + m * axes.m.x + n * axes.n.x,
      y: l * axes.l.y + m * axes.m.y + n * axes.n.y,
      z: l * axes.l.z + m * axes.m.z + n * axes.n.z,
    };
    let [sum, pairs] = [0, 0];
    for (let i = 0; i < places.length; i++)
      for (let j = 0; j < places.length; j++) {
        if (i === j && autos === 'leave-out') continue;
        const { re, im } = visibility(places, i, j);
        const angle = phaseTo(places[j], direction) - phaseTo(places[i], direction);
        sum += re * Math.cos(angle) - im * Math.sin(angle);
        pairs++;
      }
    worst = Math.max(worst, Math.abs(value - sum / pairs));
    peak = Math.max(peak, Math.abs(sum / pairs));
  }
  assert.ok(shown > 2000, `${shown}`);
  return worst / peak;
}

describe('images from visibilities are within 0.1 % of a direct Fourier sum', () => {
  for (const [heights, slope] of [
    [0, 0],
    [1, 0],
    [2, 3],
    [5, 0],
    [0, 10],
  ] as const)
    for (const autos of ['leave-out', 'include'] as const)
      it(`heights of ${heights} wavelengths rms, a slope of ${slope}°, autocorrelations ${autos}`, async () => {
        const error = await errorOf(arrayOf(heights, slope), autos);
        assert.ok(error < 1e-3, `${(100 * error).toFixed(2)} % of the peak`);
      });
});
