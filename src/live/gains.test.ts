/** Gains during a run are solved with the same model as in corella calibrate. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { fixedSource } from '../sky/source.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import type { IntegrationClock } from '../stages/index.js';
import { LiveGains, type LiveGainsSettings, type Solved } from './gains.js';
import { Steering } from './steering.js';

const START = parseInstant('2026-11-16T00:00:00Z', 'live gains');
const FREQUENCY_HZ = 60e6;
const STATIONS = 8;
/** Shorter baselines receive diffuse emission that no point-source model includes. */
const NEAR_M = 15;
const GAIN = 2;
const COUNT = 1e6;

const telescope: Telescope = {
  name: 'test',
  title: 'stations in two rows',
  polarisations: 1,
  beamExponent: 0,
  site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1500 },
  stations: Array.from({ length: STATIONS }, (_, s) => ({
    name: `s${s}`,
    eastM: 11 * (s % 4) + s ** 2 / 9,
    northM: 37 * Math.floor(s / 4) + s,
    upM: 0,
  })),
  band: { lowHz: 30e6, highHz: 90e6 },
  recording: { centreFrequencyHz: FREQUENCY_HZ, sampleRateHz: 1e6, channels: 1, bits: 8 },
};
const frame = skyFrame(telescope.site, addSeconds(START, 0.5));
const position = frame.positionOf({ x: 0.3, y: 0.2, z: Math.sqrt(1 - 0.13) });
const source = fixedSource({ name: 'spot', position, fluxJy: 1000 });

/** A source of 1000 Jy observed with gains of 2, and three times as much on every short baseline. */
function integrationOf(): Integration {
  const towards = frame.directionEnu(position);
  const values = new Float64Array(2 * baselineCount(STATIONS));
  telescope.stations.forEach((a, i) => {
    telescope.stations.slice(0, i + 1).forEach((b, j) => {
      const [east, north] = [a.eastM - b.eastM, a.northM - b.northM];
      const angle = (2 * Math.PI * FREQUENCY_HZ * (east * towards.x + north * towards.y)) / 299_792_458;
      const at = 2 * baselineIndex(i, j);
      values[at] =
        COUNT * GAIN ** 2 * (1000 * Math.cos(angle) + (Math.hypot(east, north) < NEAR_M ? 3000 : 0));
      values[at + 1] = COUNT * GAIN ** 2 * 1000 * Math.sin(angle);
    });
  });
  const counts = new Float64Array(baselineCount(STATIONS)).fill(COUNT);
  return {
    start: START,
    durationS: 1,
    channels: 1,
    stations: STATIONS,
    polarisations: 1,
    visibilities: visibilitiesCBPP(values, 1, baselineCount(STATIONS), 1),
    counts: countsCB(counts, 1, baselineCount(STATIONS)),
    flaggedInputs: new Uint8Array(STATIONS),
  };
}

async function solve(model?: LiveGainsSettings['model']): Promise<Solved | string> {
  let outcome: Solved | string = 'nothing';
  const steering = new Steering({ flaggedInputs: new Uint8Array(STATIONS), integrationS: 1 });
  const every: IntegrationClock = { cutAfter: (index) => 100 * (Math.floor(index / 100) + 1) };
  steering.follow(
    {
      kind: 'spectra',
      type: 'ci8',
      inputs: STATIONS,
      polarisations: 1,
      channels: 1,
      start: START,
      spectrumRateHz: 100,
      channelWidthHz: 1e5,
      frequenciesHz: Float64Array.of(FREQUENCY_HZ),
      // eslint-disable-next-line @typescript-eslint/require-await
      async *blocks() {
        assert.fail('not read');
      },
      close: nothingToClose,
    },
    { start: START, spectrumRateHz: 100 },
    { cuts: every, files: every },
    () => every,
  );
  const gains = new LiveGains(
    {
      backend: openReference(),
      telescope,
      polarisations: 1,
      sources: [source],
      minimumAltitudeDeg: 5,
      frequenciesHz: Float64Array.of(FREQUENCY_HZ),
      model,
    },
    steering,
    {
      solved: (solved) => {
        outcome = solved;
      },
      failed: (why) => {
        outcome = why;
      },
    },
  );
  gains.solve({ at: START, tick: 0n });
  await gains.integration(integrationOf());
  await gains.close();
  return outcome;
}

describe('gains while an observation runs', () => {
  it('leave out the baselines that the model leaves out', async () => {
    const right = await solve(() => ({ minimumBaselineM: NEAR_M }));
    assert.ok(typeof right !== 'string', JSON.stringify(right));
    assert.equal(right.solvedInputs, STATIONS);
    const { gains } = right.calibrated;
    for (let a = 0; a < STATIONS; a++) {
      assert.ok(Math.abs(gains[2 * a] - GAIN) < 1e-6 && Math.abs(gains[2 * a + 1]) < 1e-6, `input ${a}`);
    }
    // With all baselines the model does not fit the sky.
    const wrong = await solve();
    assert.ok(typeof wrong === 'string' && wrong.startsWith('the model explains'), JSON.stringify(wrong));
  });
});
