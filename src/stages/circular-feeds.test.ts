/** Models of circular feeds: RR = I + V, LL = I − V, RL = Q + iU. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { baselineIndex, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds, instant } from '../core/instant.js';
import { dot } from '../core/vector.js';
import { findBeam } from '../sky/beams/registry.js';
import { skyFrame, type SkyPosition } from '../sky/frame.js';
import { fixedSource } from '../sky/source.js';
import type { Telescope } from '../telescope/telescope.js';
import { trio } from '../formats/testing/trio.js';
import { stationPositions } from './geometry.js';
import { through } from './run.js';
import { prepareCalibrate, type CalibrateSettings } from './calibrate.js';

const STATIONS = 6;
const telescope: Telescope = {
  ...trio,
  beamExponent: 0,
  polarisations: 2,
  stations: Array.from({ length: STATIONS }, (_, s) => ({
    name: `s${s}`,
    eastM: 30 * Math.cos(s * s + 1),
    northM: 30 * Math.sin(3 * s * s),
    upM: 0,
  })),
};
const start = instant(1_770_000_000);
const frame = skyFrame(telescope.site, addSeconds(start, 1));
const frequenciesHz = Float64Array.of(100e6);
const [I, q, u, v] = [10, 0.3, 0.2, 0.1];
const sourceAt = (position: SkyPosition) =>
  fixedSource({ name: 'one', position, fluxJy: I, stokes: { q, u, v } });
/** Of input a. */
const size = (a: number): number => 1 + 0.1 * a;
const phase = (a: number): number => a * a;

/** [[RR, RL], [LR, LL]] with those gains applied, by the formulae of docs/conventions.md. */
function observed(): Integration {
  const baselines = (STATIONS * (STATIONS + 1)) / 2;
  const values = new Float64Array(8 * baselines);
  const sky = [[[I * (1 + v), 0], [I * q, I * u]], [[I * q, -I * u], [I * (1 - v), 0]]]; // prettier-ignore
  const toward = frame.directionEnu(frame.zenith);
  const places = stationPositions(telescope);
  for (let i = 0; i < STATIONS; i++)
    for (let j = 0; j <= i; j++)
      for (const p of [0, 1])
        for (const r of [0, 1]) {
          const path = dot(places[i], toward) - dot(places[j], toward);
          const [re, im] = sky[p][r];
          const [x, y] = [2 * i + p, 2 * j + r];
          const angle = (2 * Math.PI * 100e6 * path) / 299_792_458 + phase(x) - phase(y);
          const gain = size(x) * size(y);
          values.set(
            [
              gain * (re * Math.cos(angle) - im * Math.sin(angle)),
              gain * (re * Math.sin(angle) + im * Math.cos(angle)),
            ],
            2 * (4 * baselineIndex(i, j) + 2 * p + r),
          );
        }
  return {
    start,
    durationS: 2,
    channels: 1,
    stations: STATIONS,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, 1, baselines, 2),
    counts: countsCB(new Float64Array(baselines).fill(1), 1, baselines),
    flaggedInputs: new Uint8Array(2 * STATIONS),
  };
}

const settings: CalibrateSettings = {
  backend: openReference(),
  telescope,
  frequenciesHz,
  polarisations: 2,
  feeds: 'circular',
  sources: [sourceAt(frame.zenith)],
  minimumAltitudeDeg: 5,
};

it('gains of circular feeds by a polarised source are those that were put in, R against L too', async () => {
  const stage = await prepareCalibrate(settings);
  const { calibration } = await through(stage, observed());
  await stage.close();
  assert.equal(calibration.crossHand.how, 'model');
  for (let a = 0; a < 2 * STATIONS; a++) {
    const [re, im] = calibration.gains.subarray(2 * a, 2 * a + 2);
    assert.ok(Math.abs(Math.hypot(re, im) - size(a)) < 1e-6, `input ${a}: ${Math.hypot(re, im)}`);
    const off = Math.atan2(im, re) - (phase(a) - phase(0));
    assert.ok(Math.abs(Math.sin(off / 2)) < 1e-6, `input ${a} is ${off} rad off`);
  }
});

it('V = 0 does not determine R against L, and beams that differ for X and Y are not theirs', async () => {
  await assert.rejects(
    prepareCalibrate({ ...settings, crossHand: { kind: 'v-zero', u: 'positive' } }),
    /cross-hand: these data are of circular feeds.*V = 0 does not determine.*products\.gains\.polarise.*42deg/,
  );
  const north = { ...frame.zenith, decDeg: frame.zenith.decDeg + 40 };
  const stage = await prepareCalibrate({
    ...settings,
    sources: [sourceAt(north)],
    element: findBeam('mwa-dipole'),
  });
  await assert.rejects(through(stage, observed()), /element: mwa-dipole differs between X and Y/);
  await stage.close();
});
