/**
 * Direct images of arrays that are not level, against a direct Fourier sum over the stations with their true heights. Every
 * pixel's direction comes from the FITS header (CRVAL, CDELT, CRPIX, SIN), as a reader of the file would have it.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openReference } from '../backend/reference.js';
import { describeDevices, openBackend } from '../backend/select.js';
import { spectraCAT } from '../core/axes.js';
import { parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { skyFrame, directionFromAltAz, type SkyFrame } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  ownImage,
  stationPositions,
  writeSkyFits,
  type ImageSettings,
  prepareDirectImage,
  type DirectSkyImage,
} from '../stages/index.js';
import { checkDirectImages } from './image.js';

const lwasv = await loadTelescope('lwasv');
const start = parseInstant('2026-06-21T04:00:00Z');
const allSky: ImageSettings = { field: { kind: 'all-sky' }, kernelSize: 5, pixels: 256 };

/** Stations in a circle of 28 m, on a slope that rises by `slopeDeg` towards the east. */
function sloping(slopeDeg: number): Telescope {
  const telescope = lwasv;
  const random = randomStream(3, 'sloping');
  const stations = Array.from({ length: 40 }, (_, s) => {
    const [radius, angle] = [14 * Math.sqrt(random.uniform()), 2 * Math.PI * random.uniform()];
    const eastM = radius * Math.cos(angle);
    const upM = Math.tan((slopeDeg * Math.PI) / 180) * eastM;
    return { name: `s${s}`, eastM, northM: radius * Math.sin(angle), upM };
  });
  return { ...telescope, stations };
}

/** The voltages of a source in this direction at each station: one spectrum of one channel, X and Y alike. */
function voltagesOf(telescope: Telescope, frequencyHz: number, direction: Vector3): Float32Array {
  const { polarisations } = telescope;
  const places = stationPositions(telescope);
  const voltages = new Float32Array(2 * places.length * polarisations);
  places.forEach((place, s) => {
    const angle = (2 * Math.PI * frequencyHz * dot(place, direction)) / SPEED_OF_LIGHT_M_PER_S;
    for (let p = 0; p < polarisations; p++) {
      voltages[2 * (s * polarisations + p)] = Math.cos(angle);
      voltages[2 * (s * polarisations + p) + 1] = Math.sin(angle);
    }
  });
  return voltages;
}

async function directImage(
  telescope: Telescope,
  frequencyHz: number,
  direction: Vector3,
  backend: Backend,
  image = allSky,
): Promise<DirectSkyImage> {
  const { polarisations } = telescope;
  const inputs = telescope.stations.length * polarisations;
  const shape = { type: 'cf32', channels: 1, inputs, capacity: 1 } as const;
  const block = backend.allocateSpectra(shape);
  const stage = prepareDirectImage({
    backend,
    telescope,
    frequenciesHz: Float64Array.of(frequencyHz),
    image,
    grid: { spectrumRateHz: 1000 },
    lastsS: 0.001,
  });
  try {
    await block.write(spectraCAT(voltagesOf(telescope, frequencyHz, direction), 'cf32', 1, inputs, 1), 1);
    let made: DirectSkyImage | undefined;
    const emit = (sky: DirectSkyImage): Promise<void> => {
      made = ownImage(sky);
      return Promise.resolve();
    };
    await stage.push({ block, index: 0, start, cutAt: 1, stays: 0 }, emit);
    await stage.flush(emit);
    if (!made) throw new Error('no image');
    return made;
  } finally {
    await stage.close();
    await block.close();
  }
}

/** [row from the south][column from the west], of the file's first plane, and the direction of every pixel by its header. */
async function readPlane(path: string, frame: SkyFrame) {
  const bytes = await readFile(path);
  const cards = new Map<string, number>();
  let cardsEnd = 0;
  for (let at = 0; cardsEnd === 0; at += 80) {
    const card = bytes.toString('latin1', at, at + 80);
    cards.set(card.slice(0, 8).trim(), Number(card.slice(10).split('/')[0]));
    if (card.startsWith('END')) cardsEnd = at + 80;
  }
  const data = Math.ceil(cardsEnd / 2880) * 2880;
  const of = (name: string): number => cards.get(name) ?? NaN;
  const pixels = of('NAXIS1');
  const radians = Math.PI / 180;
  const [ra0, dec0] = [of('CRVAL1') * radians, of('CRVAL2') * radians];
  const toSky = (column: number, row: number): Vector3 | undefined => {
    const x = (column + 1 - of('CRPIX1')) * of('CDELT1') * radians;
    const y = (row + 1 - of('CRPIX2')) * of('CDELT2') * radians;
    if (x * x + y * y >= 1) return undefined;
    const n = Math.sqrt(1 - x * x - y * y);
    const dec = Math.asin(y * Math.cos(dec0) + n * Math.sin(dec0));
    const ra = ra0 + Math.atan2(x, n * Math.cos(dec0) - y * Math.sin(dec0));
    return frame.directionEnu({ raDeg: ra / radians, decDeg: dec / radians });
  };
  const valueAt = (column: number, row: number): number =>
    bytes.readFloatBE(data + 4 * (row * pixels + column));
  return { pixels, toSky, valueAt };
}

/** The largest difference from the direct Fourier sum over a source's peak, where it is, and where the image peaks. */
async function compared(
  telescope: Telescope,
  frequencyHz: number,
  source: Vector3,
  sky: DirectSkyImage,
  onlyPeak = false,
) {
  const folder = temporaryFolder('plane');
  const path = join(folder, 'direct.fits');
  await writeSkyFits(path, sky, {
    telescope,
    method: 'direct',
    unit: 'counts',
    channelWidthHz: 1e4,
    channels: 'average',
    history: [],
  });
  const plane = await readPlane(path, sky.frame);
  const places = stationPositions(telescope);
  const turns = frequencyHz / SPEED_OF_LIGHT_M_PER_S;
  const towardsSource = places.map((place) => dot(place, source));
  let [worst, shown, below, best] = [0, 0, 0, { value: -Infinity, column: 0, row: 0 }];
  for (let row = 0; row < plane.pixels; row++)
    for (let column = 0; column < plane.pixels; column++) {
      const value = plane.valueAt(column, row);
      const direction = plane.toSky(column, row);
      if (!direction || direction.z < -1e-3) {
        if (!Number.isNaN(value)) below++;
        continue;
      }
      if (Number.isNaN(value)) continue;
      shown++;
      if (value > best.value) best = { value, column, row };
      if (onlyPeak) continue;
      // One pixel in seven, and all at the rim.
      if ((row * 3 + column) % 7 !== 0 && dot(direction, sky.plan.axes.n) > 0.15) continue;
      let [re, im] = [0, 0];
      for (const [s, place] of places.entries()) {
        const angle = 2 * Math.PI * turns * (towardsSource[s] - dot(place, direction));
        re += Math.cos(angle);
        im += Math.sin(angle);
      }
      worst = Math.max(worst, Math.abs(value - (re * re + im * im) / places.length ** 2));
    }
  return { ...plane, worst, shown, below, best };
}

const lattice = [
  [88, 0],
  [60, 40],
  [45, 130],
  [35, 220],
  [30, 310],
  [20, 75],
] as const;

describe('direct images of arrays that are not level', () => {
  for (const { kind } of describeDevices().filter(({ present }) => present))
    for (const frequencyHz of [58e6, 80e6])
      it(`LWA-SV at ${frequencyHz / 1e6} MHz is within 0.7 % of a source with 5 × 5 kernels, on ${kind}`, async () => {
        const telescope = lwasv;
        const backend = await openBackend(kind);
        try {
          for (const [alt, az] of lattice) {
            const source = directionFromAltAz(alt, az);
            const sky = await directImage(telescope, frequencyHz, source, backend);
            const { worst, shown, below } = await compared(telescope, frequencyHz, source, sky);
            assert.ok(worst <= 0.007, `${(100 * worst).toFixed(2)} % at ${alt}°, ${az}°`);
            assert.equal(below, 0);
            assert.ok(shown > 36_000, `${shown}`);
          }
        } finally {
          await backend.close();
        }
      });

  it('a slope of 10° is imaged, and its bound is reported', async () => {
    const telescope = sloping(10);
    const frequencyHz = 80e6;
    const frame = skyFrame(telescope.site, start);
    const { anywhere: bound } = checkDirectImages(
      { telescope, frequenciesHz: Float64Array.of(frequencyHz) },
      frame,
      allSky,
    );
    assert.ok(bound < 0.005, `${bound}`);
    for (const [alt, az] of lattice) {
      const source = directionFromAltAz(alt, az);
      const sky = await directImage(telescope, frequencyHz, source, openReference());
      const { worst, below } = await compared(telescope, frequencyHz, source, sky);
      assert.ok(worst <= Math.max(bound, 1e-3), `${worst} where ${bound} was predicted`);
      assert.equal(below, 0);
    }
  });

  it('a source is where the header has it to 0.1 pixel, all over the sky', async () => {
    const telescope = lwasv;
    const image = { ...allSky, pixels: 384 };
    for (const [alt, az] of [...lattice, [12, 160], [10, 340]] as const) {
      const source = directionFromAltAz(alt, az);
      const sky = await directImage(telescope, 80e6, source, openReference(), image);
      const { best, valueAt, toSky } = await compared(telescope, 80e6, source, sky, true);
      const vertex = (before: number, middle: number, after: number): number =>
        (before - after) / (2 * (before - 2 * middle + after));
      const { column, row, value } = best;
      const at = toSky(
        column + vertex(valueAt(column - 1, row), value, valueAt(column + 1, row)),
        row + vertex(valueAt(column, row - 1), value, valueAt(column, row + 1)),
      );
      assert.ok(at);
      // In the image's own pixels, by how far along l and m the two directions are apart.
      const { axes, pixelSize } = sky.plan;
      const apart = { x: at.x - source.x, y: at.y - source.y, z: at.z - source.z };
      const off = Math.hypot(dot(apart, axes.l), dot(apart, axes.m)) / pixelSize;
      assert.ok(off < 0.1, `${off} pixels at ${alt}°, ${az}°`);
    }
  });

  it('a level array is imaged round the zenith exactly', async () => {
    const telescope = sloping(0);
    const sky = await directImage(telescope, 80e6, directionFromAltAz(60, 40), openReference());
    assert.deepEqual(sky.plan.axes, sky.frame.tangentAxes(sky.frame.zenith));
  });
});
