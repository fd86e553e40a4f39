import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openBackend } from '../../backend/select.js';
import { spectraCAT } from '../../core/axes.js';
import { parseInstant } from '../../core/instant.js';
import { spectraOfFront } from '../../compose/index.js';
import { spectraInMemory } from '../../stages/testing.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import type { Observed, RealTimeCost } from '../product.js';
import { planBeamsProduct } from './beams.js';

const start = parseInstant('2026-06-21T04:00:00Z');
const telescope = selectStations(await loadTelescope('lwasv'), 3);
const source = {
  ...spectraInMemory(
    { samples: 8, spectra: spectraCAT(new Int8Array(2 * 2 * 6 * 8), 'ci8', 2, 6, 8), gaps: [], start },
    {
      type: 'ci8',
      inputs: 6,
      polarisations: 2,
      spectrumRateHz: 1000,
      chunk: 8,
      frequenciesHz: Float64Array.of(60e6, 60.1e6),
    },
  ),
  // Live data have no end.
  samples: Infinity,
};
const observed: Observed = {
  recording: { ...source, path: 'live data', telescope },
  telescope,
  front: { source },
  spectra: spectraOfFront({ source }),
  flaggedInputs: new Uint8Array(6),
  rules: [],
  discs: [],
  equaliserIsLost: false,
};
const towards = (beams: number): string[] => Array.from({ length: beams }, (_, n) => `az ${n % 360} el 60`);

describe('more beams than the machine makes in real time', () => {
  const make = async (beams: number, realTime: RealTimeCost | undefined) => {
    const backend = await openBackend('reference');
    const planned = planBeamsProduct({ beams: null, towards: towards(beams) }, observed);
    try {
      const made = await planned.make({ backend, history: [], realTime });
      await made.composed.stage.close();
      return planned;
    } finally {
      await backend.close();
    }
  };

  it('are refused at the start, with the number that would do', async () => {
    const refused = /91 beams take 91 % of real time on this machine, by a measurement; take at most 90,/;
    await assert.rejects(make(91, { secondsPerBeam: 0.01 }), refused);
    await make(90, { secondsPerBeam: 0.01 });
    // Data that wait are as fast as they are processed.
    await make(91, undefined);
  });

  it('are refused when they are steered to', async () => {
    const planned = await make(2, { secondsPerBeam: 0.01 });
    planned.refusePlaces?.(towards(90), start);
    assert.throws(() => planned.refusePlaces?.(towards(91), start), /91 beams take 91 % of real time/);
  });

  it('are known by a measurement, made once', async () => {
    const realTime: RealTimeCost = {};
    await make(1, realTime);
    const { secondsPerBeam = NaN } = realTime;
    assert.ok(secondsPerBeam > 0 && secondsPerBeam < Infinity);
    await make(1, realTime);
    assert.equal(realTime.secondsPerBeam, secondsPerBeam);
  });

  it('and lists of very many are refused at once', () => {
    assert.throws(
      () => planBeamsProduct({ beams: null, towards: towards(100_000) }, observed),
      /names 100000 beams; take at most 4096/,
    );
  });
});
