import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSeconds, parseInstant } from '../../../core/instant.js';
import { skyFrame } from '../../../sky/frame.js';
import type { Telescope } from '../../../telescope/telescope.js';
import type { Observation, StoppedTowards } from './metafits.js';
import { latenessM } from './phases.js';

const site = { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 377 };
const start = parseInstant('2026-06-21T04:00:00');
/** One tile 100 m east, 30 m north and 7 m up; the cables of its X and Y are 5 and −2 m long. */
const observation = (stopped: StoppedTowards, azimuthDeg = 0, altitudeDeg = 90): Observation =>
  ({
    telescope: {
      site,
      stations: [{ name: 'Tile011', eastM: 100, northM: 30, upM: 7 }],
    } as unknown as Telescope,
    applied: { stopped },
    pointing: { raDeg: 0, decDeg: 0, azimuthDeg, altitudeDeg },
    phaseCentre: { raDeg: 80, decDeg: -30 },
    integrationS: 8,
    cableM: [5, -2],
  }) as unknown as Observation;
const late = (of: Observation, cables: 'keep' | 'remove' = 'keep'): number[] =>
  [...(latenessM(of, cables, start) ?? [])].map((value) => Number(value.toFixed(9)));

describe('what the correlator of the MWA did to phases', () => {
  it('is nothing where fringes run, unless cables are taken out', () => {
    assert.equal(latenessM(observation('nowhere'), 'keep', start), undefined);
    assert.deepEqual(late(observation('nowhere'), 'remove'), [5, -2]);
  });

  it('is the way towards the zenith or where the tiles point, azimuth from north through east', () => {
    assert.deepEqual(late(observation('zenith')), [7, 7]);
    assert.deepEqual(late(observation('zenith'), 'remove'), [12, 5]);
    assert.deepEqual(late(observation('tile pointing', 90, 0)), [100, 100]);
    assert.deepEqual(late(observation('tile pointing', 0, 0)), [30, 30]);
    // Half of the east component, cos 60°, and sin 60° of the height.
    const low = 50 + 7 * Math.sqrt(0.75);
    assert.deepEqual(
      late(observation('tile pointing', 90, 60)),
      [low, low].map((x) => Number(x.toFixed(9))),
    );
  });

  it('is the way towards the phase centre in the middle of the integration', () => {
    const frame = skyFrame(site, addSeconds(start, 4));
    const { x, y, z } = frame.directionEnu({ raDeg: 80, decDeg: -30 });
    const way = Number((100 * x + 30 * y + 7 * z).toFixed(9));
    assert.deepEqual(late(observation('phase centre')), [way, way]);
  });
});
