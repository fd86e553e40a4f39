import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP } from '../core/axes.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import type { Telescope } from '../telescope/telescope.js';
import { FringeHistory } from './fringe-history.js';

const telescopeOf = (stations: number): Telescope => ({
  name: 'few',
  title: 'a few',
  polarisations: 1,
  beamExponent: 0,
  site: { latitudeDeg: 50, longitudeDeg: 0, heightM: 0 },
  stations: Array.from({ length: stations }, (_, s) => ({ name: `a${s}`, eastM: 3 * s, northM: 0, upM: 0 })),
  band: { lowHz: 1e8, highHz: 2e8 },
  recording: { centreFrequencyHz: 1.5e8, sampleRateHz: 1e6, channels: 4, bits: 8 },
});
const bookOf = (stations: number): FringeHistory =>
  new FringeHistory({
    telescope: telescopeOf(stations),
    frequenciesHz: Float64Array.of(1.5e8, 1.51e8),
    channelWidthHz: 1e6,
    sources: [],
  });

describe('fringes on the page', () => {
  it('are of the latest integrations of two to eight stations', () => {
    const history = bookOf(2);
    assert.ok(history.isShown && history.view() === undefined);
    const start = parseInstant('2026-01-01T00:00:00Z');
    for (let t = 0; t < 130; t++) {
      // In each channel the pairs 0-0, 1-0, 1-1: sums of four samples, the fringe at t degrees.
      const [re, im] = [Math.cos((t * Math.PI) / 180), Math.sin((t * Math.PI) / 180)];
      const one = [4, 0, 8 * re, 8 * im, 12, 0];
      history.add({
        start: addSeconds(start, 2 * t),
        durationS: 2,
        channels: 2,
        stations: 2,
        polarisations: 1,
        visibilities: visibilitiesCBPP(Float64Array.from([...one, ...one]), 2, 3, 1),
        counts: countsCB(new Float64Array(6).fill(4), 2, 3),
        flaggedInputs: new Uint8Array(2),
      });
    }
    const view = history.view();
    assert.ok(view);
    assert.equal(view.timesS.length, 120);
    // The first ten have been removed.
    assert.equal(view.startUnixS, Date.parse('2026-01-01T00:00:20Z') / 1000);
    assert.deepEqual(
      view.baselines.map(({ name, phasesDeg, amplitudes }) => [name, phasesDeg[0], amplitudes[119]]),
      [['a1–a0', 10, 2]],
    );
    assert.deepEqual(
      view.powers.map(({ name, powers }) => [name, powers[5]]),
      [
        ['a0', 1],
        ['a1', 3],
      ],
    );
    assert.equal(view.source, undefined);
  });

  it('are not shown of one, or of nine', () => {
    assert.ok(!bookOf(1).isShown && !bookOf(9).isShown);
  });
});
