import assert from 'node:assert/strict';
import { it } from 'node:test';
import { spectraCAT, visibilitiesCBPP, countsCB } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import { packNibbles } from '../../core/nibbles.js';
import { delayModels } from '../../delay/index.js';
import { runOne } from '../run.js';
import { prepareTurnBack } from './turn-back.js';
import { turnSpectra } from './turn-spectra.js';

const still = { fromTick: 0n, delayRate: 0, phaseRad: 0, phaseRateRadS: 0 };
const near = (got: ArrayLike<number>, wanted: readonly number[]): void => {
  assert.equal(got.length, wanted.length);
  wanted.forEach((value, n) => {
    assert.ok(Math.abs(got[n] - value) < 1e-5, `${n}: ${got[n]}, not ${value}`);
  });
};

it('channels that are there already are turned by −f·d, and by the phase at the middle of each spectrum', () => {
  const law = delayModels(2);
  law.load(0, { ...still, delayS: 0.25 }); // a quarter of a turn at 1 Hz, back
  law.load(1, { ...still, delayS: 0, phaseRateRadS: Math.PI }); // at 1 spectrum a second: π/2 a half, 3π/2 next
  const source = {
    ...{ channels: 1, inputs: 2, spectrumRateHz: 1, frequenciesHz: Float64Array.of(1) },
  };
  const bytes = Int8Array.of(3, 4, 5, 0, 7, 0, 0, 7);
  const wanted = [4, -3, 0, -5, 0, 7, 7, 0];
  near(
    turnSpectra(
      { spectra: spectraCAT(bytes, 'ci8', 1, 2, 2), samples: 2 },
      { ...source, type: 'ci8' },
      law,
      0,
    ),
    wanted,
  );
  const nibbles = Int8Array.from([
    packNibbles(3, 4),
    packNibbles(5, 0),
    packNibbles(7, 0),
    packNibbles(0, 7),
  ]);
  near(
    turnSpectra(
      { spectra: spectraCAT(nibbles, 'ci4', 1, 2, 2), samples: 2 },
      { ...source, type: 'ci4' },
      law,
      0,
    ),
    wanted,
  );
});

it('what was tracked is turned back at the middle of the integration, fixed delays are not', async () => {
  const law = delayModels(2, Float64Array.of(0, 0.3));
  law.load(1, { ...still, delayS: 0, delayRate: 0.05, phaseRad: Math.PI }); // 0.25 s at 5 s
  const stage = prepareTurnBack({
    ...{ law, tickRateHz: 1, start: instant(100), frequenciesHz: Float64Array.of(1) },
  });
  // V_10 = x1·conj(x0): turned by +f·d = a quarter, and by −π.
  const { visibilities } = await runOne(stage, {
    ...{ start: instant(104), durationS: 2, channels: 1, stations: 2, polarisations: 1 },
    visibilities: visibilitiesCBPP(Float64Array.of(2, 0, 1, 2, 3, 0), 1, 3, 1),
    counts: countsCB(Float64Array.of(1, 1, 1), 1, 3),
    flaggedInputs: new Uint8Array(2),
  });
  near(visibilities, [2, 0, 2, -1, 3, 0]);
});
