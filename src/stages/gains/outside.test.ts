import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Calibration, CalibrationPlan } from '../../calibrate/index.js';
import { baselineIndex, countsCB, gainsCA, visibilitiesCBPP } from '../../core/axes.js';
import { parseInstant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { dot } from '../../core/vector.js';
import { sourcesUp } from '../../sky/above.js';
import { skyFrame } from '../../sky/frame.js';
import { findSources } from '../../sky/sources.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import { stationPositions } from '../geometry.js';
import { outsideModel } from './outside.js';

describe('sources that are not in the model', () => {
  const frequencyHz = 58e6;
  const stations = 24;
  const searched = async (inData: readonly string[], noiseJy: number, seed: number) => {
    const telescope = selectStations(await loadTelescope('lwasv'), stations);
    const frame = skyFrame(telescope.site, parseInstant('2026-06-21T10:00:00Z'));
    const about = { telescope, frequencyHz };
    const up = (names: readonly string[]) => sourcesUp(findSources(names), frame, 0, about);
    const stationsM = stationPositions(telescope);
    const baselines = (stations * (stations + 1)) / 2;
    const visibilities = visibilitiesCBPP(new Float64Array(baselines * 8), 1, baselines, 2);
    const random = randomStream(seed, 'noise');
    // Box and Muller, whose values the seeds below were chosen by.
    const noise = (): number =>
      noiseJy * Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
    for (let i = 0; i < stations; i++)
      for (let j = 0; j < i; j++)
        for (const pair of [0, 3]) {
          const at = 2 * (4 * baselineIndex(i, j) + pair);
          [visibilities[at], visibilities[at + 1]] = [noise(), noise()];
          for (const { directionEnu, apparentFluxJy } of up(inData)) {
            const [a, b] = [i, j].map((s) => dot(stationsM[s], directionEnu));
            const phase = (2 * Math.PI * frequencyHz * (a - b)) / SPEED_OF_LIGHT_M_PER_S;
            visibilities[at] += apparentFluxJy * Math.cos(phase);
            visibilities[at + 1] += apparentFluxJy * Math.sin(phase);
          }
        }
    const gains = gainsCA(new Float64Array(4 * stations), 1, 2 * stations);
    for (let a = 0; a < 2 * stations; a++) gains[2 * a] = 1;
    return outsideModel(frame, {
      telescope,
      frequenciesHz: Float64Array.of(frequencyHz),
      stationsM,
      modelled: up(['CygA']),
      plan: { usedBaselines: new Uint8Array(baselines).fill(1) } as unknown as CalibrationPlan,
      calibration: { gains, solved: new Uint8Array(2 * stations).fill(1) } as unknown as Calibration,
      integration: {
        start: frame.moment,
        durationS: 1,
        channels: 1,
        stations,
        polarisations: 2,
        visibilities,
        counts: countsCB(new Float64Array(baselines).fill(1), 1, baselines),
        flaggedInputs: new Uint8Array(2 * stations),
      },
    });
  };

  it('have no position below five times the noise', async () => {
    // Cas A would be a thousand times the noise here. These have a peak of noise of 4.3 and 4.1 times the rms.
    for (const seed of [180, 646]) assert.deepEqual(await searched(['CygA'], 300, seed), [], `seed ${seed}`);
  });

  it('are found at their places above it', async () => {
    const found = await searched(['CygA', 'CasA'], 300, 1);
    const casA = found.find(({ name }) => name === 'Cas A');
    assert.ok(
      casA && casA.offsetDeg <= casA.stepDeg && Math.abs(casA.overFlux - 1) < 0.1,
      JSON.stringify(found),
    );
  });
});
