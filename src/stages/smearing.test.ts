/**
 * Reported smearing, compared with a source at the edge of a field that is averaged over channel and time numerically.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSeconds, parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';
import { skyFrame } from '../sky/frame.js';
import { fixedCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { stationPositions } from './geometry.js';
import { smearingOf, type Smearing } from './smearing.js';

const random = randomStream(6, 'smearing');
const telescope: Telescope = {
  name: 'test',
  title: 'test',
  site: { latitudeDeg: -30, longitudeDeg: 21, heightM: 1000 },
  stations: Array.from({ length: 9 }, (_, s) => ({
    name: `s${s}`,
    eastM: 2000 * (random.uniform() - 0.5),
    northM: 2000 * (random.uniform() - 0.5),
    upM: 3 * random.gaussian(),
  })),
  polarisations: 1,
  band: { lowHz: 1e8, highHz: 2e8 },
  recording: { centreFrequencyHz: 1.5e8, sampleRateHz: 1e6, channels: 4, bits: 8 },
  beamExponent: 0,
};
const FREQUENCY_HZ = 150e6;
const start = parseInstant('2026-03-01T18:00:00Z');
const stationsM = stationPositions(telescope);
const STEPS = 101;

interface Case {
  readonly channelWidthHz: number;
  readonly durationS: number;
  readonly halfWidth: number;
  readonly fringes: 'stopped' | 'running';
}

/**
 * Averages, in small steps, each pair's response to a source at the field's edge: the remaining fraction of its peak,
 * less 1.
 */
function averaged({ channelWidthHz, durationS, halfWidth, fringes }: Case): Smearing {
  const middle = skyFrame(telescope.site, addSeconds(start, durationS / 2));
  const axes = middle.tangentAxes(middle.positionOf({ x: 0.3, y: 0.4, z: Math.sqrt(0.75) }));
  const centre = middle.positionOf(axes.n);
  const lost = { bandwidth: 0, time: 0 };
  for (const [l, m] of [
    [halfWidth, 0],
    [-halfWidth, 0],
    [0, halfWidth],
    [0, -halfWidth],
  ]) {
    const n = Math.sqrt(1 - l * l - m * m);
    const along = (axis: keyof Vector3): number => l * axes.l[axis] + m * axes.m[axis] + n * axes.n[axis];
    const source = middle.positionOf({ x: along('x'), y: along('y'), z: along('z') });
    /** Metres of path between a pair, with the fringes stopped at the centre or not. */
    const paths = (part: number, isStopped: boolean): number[] => {
      const frame = skyFrame(telescope.site, addSeconds(start, part * durationS));
      const s = frame.directionEnu(source);
      const c = frame.directionEnu(centre);
      const towards = isStopped ? { x: s.x - c.x, y: s.y - c.y, z: s.z - c.z } : s;
      const metres = stationsM.map((place) => dot(place, towards));
      return metres.flatMap((a, i) => metres.slice(0, i).map((b) => a - b));
    };
    const still = paths(0.5, true);
    const reference = paths(0.5, fringes === 'stopped');
    let [across, during] = [0, 0];
    for (let step = 0; step < STEPS; step++) {
      const part = (step + 0.5) / STEPS;
      const offHz = (part - 0.5) * channelWidthHz;
      const now = paths(part, fringes === 'stopped');
      for (const [pair, metres] of still.entries()) {
        across += Math.cos((2 * Math.PI * offHz * metres) / SPEED_OF_LIGHT_M_PER_S);
        during += Math.cos(
          (2 * Math.PI * FREQUENCY_HZ * (now[pair] - reference[pair])) / SPEED_OF_LIGHT_M_PER_S,
        );
      }
    }
    lost.bandwidth = Math.max(lost.bandwidth, 1 - across / STEPS / still.length);
    lost.time = Math.max(lost.time, 1 - during / STEPS / still.length);
  }
  return lost;
}

describe('what an image is reported to lose at its edge', () => {
  for (const [name, one] of [
    [
      'a channel of 40 kHz and 2 s over 10°',
      { channelWidthHz: 40e3, durationS: 2, halfWidth: 0.087, fringes: 'stopped' },
    ],
    [
      'a channel of 1.28 MHz and 30 s over 10°',
      { channelWidthHz: 1.28e6, durationS: 30, halfWidth: 0.087, fringes: 'stopped' },
    ],
    [
      '8 s with fringes running',
      { channelWidthHz: 200e3, durationS: 8, halfWidth: 0.087, fringes: 'running' },
    ],
    ['half the sky', { channelWidthHz: 100e3, durationS: 10, halfWidth: 0.7, fringes: 'stopped' }],
  ] as const satisfies readonly (readonly [string, Case])[]) {
    it(`${name}: as a source really loses`, () => {
      const middle = skyFrame(telescope.site, addSeconds(start, one.durationS / 2));
      const position = middle.positionOf({ x: 0.3, y: 0.4, z: Math.sqrt(0.75) });
      const said = smearingOf(
        { start, durationS: one.durationS },
        {
          telescope,
          frequenciesHz: Float64Array.of(FREQUENCY_HZ),
          channelWidthHz: one.channelWidthHz,
          centre: fixedCentre('here', position),
          halfWidth: one.halfWidth,
          fringes: one.fringes,
        },
      );
      const seen = averaged(one);
      for (const kind of ['bandwidth', 'time'] as const) {
        const off = Math.abs(said[kind] - seen[kind]);
        assert.ok(off < 1e-3 + 0.02 * seen[kind], `${kind}: ${said[kind]} said, ${seen[kind]} seen`);
      }
    });
  }
});
