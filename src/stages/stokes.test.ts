import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageCPML } from '../core/axes.js';
import { parseInstant } from '../core/instant.js';
import { skyFrame } from '../sky/frame.js';
import { fixedCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { edgeError, snapshotStokes, stokesFrameOf, withFeeds } from './stokes.js';

const site = { latitudeDeg: 34, longitudeDeg: -107, heightM: 2000 };
const telescope: Telescope = {
  name: 'two',
  title: 'two dishes',
  site,
  polarisations: 2,
  beamExponent: 0,
  mount: 'altaz',
  stations: [
    { name: 'a', eastM: 0, northM: 0, upM: 0 },
    { name: 'b', eastM: 100, northM: 0, upM: 0 },
  ],
  band: { lowHz: 1e6, highHz: 1e9 },
  recording: { centreFrequencyHz: 1e8, sampleRateHz: 1e6, channels: 8, bits: 8 },
};
const moment = parseInstant('2024-03-01T12:00:00Z', 'moment');
const centre = fixedCentre('spot', { raDeg: 202.7845, decDeg: 30.5092 });
/** By hand, from the components of the vertical along east and north. */
function parallacticRad(): number {
  const { l, m } = skyFrame(site, moment).tangentAxes({ raDeg: 202.7845, decDeg: 30.5092 });
  return Math.atan2(l.z, m.z);
}

const close = (got: number, expected: number, tolerance: number): void => {
  assert.ok(Math.abs(got - expected) <= tolerance, `${got} is not ${expected}`);
};

describe('feeds in visibilities', () => {
  it('that are circular have phases of minus and plus the parallactic angle', () => {
    const { gains, leakage, crossHands } = withFeeds(undefined, telescope, centre, {
      channels: 1,
      feeds: 'circular',
    })(moment);
    const chi = parallacticRad();
    assert.ok(Math.abs(chi) > 0.5);
    // RL = (Q + iU)·e^(−2iχ): R has e^(−iχ), L e^(+iχ).
    [Math.cos(chi), -Math.sin(chi), Math.cos(chi), Math.sin(chi)].forEach((value, k) => {
      close(gains[k], value, 1e-6);
    });
    for (const part of leakage ?? [1]) close(part, 0, 1e-9);
    assert.deepEqual([...(crossHands ?? [])], [1]);
  });

  it('that are linear are behind the gains: G·J', () => {
    const before = {
      gains: Float64Array.of(2, 0, 3, 0, 1, 0, 1, 0),
      solved: new Uint8Array(4).fill(1),
      crossHands: Uint8Array.of(1),
    };
    const { gains, leakage } = withFeeds(before as never, telescope, centre, { channels: 1 })(moment);
    const chi = parallacticRad();
    close(gains[0], 2 * Math.cos(chi), 1e-6);
    close(gains[2], 3 * Math.cos(chi), 1e-6);
    close(leakage?.[0] ?? 0, -2 * Math.sin(chi), 1e-6);
    close(leakage?.[2] ?? 0, 3 * Math.sin(chi), 1e-6);
  });

  it('are of each station, by its own vertical', () => {
    const far = {
      ...telescope,
      stations: [...telescope.stations, { name: 'far', eastM: 0, northM: 2e6, upM: -3e5 }],
    };
    const { gains } = withFeeds(undefined, far, centre, { channels: 1, feeds: 'circular' })(moment);
    const turnDeg = ((Math.atan2(gains[9], gains[8]) - Math.atan2(gains[1], gains[0])) * 180) / Math.PI;
    assert.ok(Math.abs(turnDeg) > 1 && Math.abs(turnDeg) < 40, `${turnDeg}`);
  });
});

describe('the frame of Stokes parameters', () => {
  it('is what the file states, or what is asked for', () => {
    const of = (header: Parameters<typeof stokesFrameOf>[1], asked?: 'altaz' | 'corrected') =>
      stokesFrameOf(telescope, header, asked).frame.kind;
    assert.equal(of({}), 'unknown');
    assert.equal(of({}, 'altaz'), 'feeds');
    assert.equal(of({}, 'corrected'), 'sky');
    assert.equal(of({ feedFrame: 'feeds' }), 'feeds');
    assert.equal(of({ feedFrame: 'feeds', xOrientation: 'unknown' }), 'unknown');
    assert.equal(of({ feedFrame: 'sky' }), 'sky');
    assert.throws(() => of({ feedFrame: 'sky' }, 'altaz'), /applied already/);
    const mountless = stokesFrameOf({ ...telescope, mount: undefined }, { feedFrame: 'feeds' }, undefined);
    assert.equal(mountless.frame.kind, 'unknown');
  });
});

describe('snapshots', () => {
  const frame = skyFrame(site, moment);
  const options = {
    telescope,
    pixels: 2,
    pixelCosine: 0.01,
    axes: frame.tangentAxes(frame.zenith),
    frame,
    ...({ brightness: 'apparent', crossHands: 'known' } as const),
  };
  const image = imageCPML(
    Float64Array.from({ length: 16 }, (_, k) => k),
    1,
    4,
    2,
  );
  const why = (more: object, durationS = 1): string | undefined =>
    snapshotStokes({ image, durationS }, { kind: 'feeds' }, { ...options, ...more }).stokes.history[0];

  it('lack Q and U where the sky rotates, receivers are in the image, or X and Y have no common phase', () => {
    assert.match(why({}) ?? '', /are of the sky \(IAU\): .*alt-az feeds/);
    assert.match(why({}, 121) ?? '', /left out: the data are longer than 2 minutes/);
    assert.match(why({ autos: 'include' }) ?? '', /left out: autocorrelations/);
    assert.match(why({ crossHands: 'lacking' }) ?? '', /left out: the phase between X and Y/);
  });
});

describe('the error at the edge of a field', () => {
  it('grows with the field, and is of I too for fixed dipoles', () => {
    const frames = [skyFrame(site, moment)];
    const [small, large] = [0.01, 0.05].map((half) => edgeError(telescope, centre, half, frames));
    assert.equal(small.ofI < 1e-9, true);
    assert.ok(large.ofLinear > 4 * small.ofLinear && small.ofLinear > 1e-4);
    assert.ok(edgeError({ ...telescope, mount: 'fixed' }, centre, 0.05, frames).ofI > 1e-3);
  });
});
