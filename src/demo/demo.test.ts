import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { baselineCount, countsCB, visibilitiesCBPP } from '../core/axes.js';
import { parseInstant } from '../core/instant.js';
import { averageChannels, stokesI } from '../image/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { beamPixels } from './demo.js';
import { imageIntegration } from '../compose/index.js';

/** 61 stations on a sunflower spiral: a round field, evenly filled. */
const stations = Array.from({ length: 61 }, (_, s) => {
  const radiusM = 20 * Math.sqrt((s + 0.5) / 61);
  const angle = s * Math.PI * (3 - Math.sqrt(5));
  return { name: `s${s}`, eastM: radiusM * Math.cos(angle), northM: radiusM * Math.sin(angle), upM: 0 };
});
const telescope: Telescope = {
  name: 'spiral',
  title: 'a spiral',
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 377 },
  stations,
  polarisations: 1,
  band: { lowHz: 10e6, highHz: 90e6 },
  recording: { centreFrequencyHz: 60e6, sampleRateHz: 1e6, channels: 1, bits: 8 },
  beamExponent: 0,
};

describe('the width of an array’s beam', () => {
  it('is that of a source at the zenith, measured in the image', async () => {
    const start = parseInstant('2026-06-21T04:00:00Z');
    const frequenciesHz = Float64Array.of(60e6);
    // A source of 1 Jy at the zenith: stations on flat ground receive it in phase.
    const baselines = baselineCount(61);
    const sky = await imageIntegration(
      {
        start,
        durationS: 1e-3,
        channels: 1,
        stations: 61,
        polarisations: 1,
        visibilities: visibilitiesCBPP(
          Float64Array.from({ length: 2 * baselines }, (_, n) => 1 - (n % 2)),
          1,
          baselines,
          1,
        ),
        counts: countsCB(new Float64Array(baselines).fill(1), 1, baselines),
        flaggedInputs: new Uint8Array(61),
      },
      { backend: openReference(), telescope, frequenciesHz, weight: 'natural', autos: 'leave-out' },
      { pixels: 64, field: { kind: 'all-sky' }, kernelSize: 5 },
    );
    const plane = stokesI(averageChannels(sky.image, sky.plan), sky.plan, 0);
    const row = Array.from(plane.subarray(32 * 64, 33 * 64));
    const at = 32;
    const peak = row[at];
    // The half-power point, between two pixels.
    let k = at;
    while (row[k + 1] > peak / 2) k++;
    const half = k + (row[k] - peak / 2) / (row[k] - row[k + 1]) - at;
    const predicted = beamPixels(telescope, sky.plan);
    // The beam of a disc is not Gaussian: they agree within a few per cent.
    assert.ok(Math.abs(predicted / (2 * half) - 1) < 0.1, `predicted ${predicted}, measured ${2 * half}`);
  });
});
