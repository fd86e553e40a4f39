import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSeconds, parseInstant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { directionFromAltAz, skyFrame } from '../sky/frame.js';
import { fixedCentre, localCentre, parsePhaseCentre } from '../sky/phase-centre.js';
import { erfaRows, erfaSites } from '../sky/testing/erfa.js';
import {
  delayModels,
  geometricDelaysS,
  planTracking,
  sampleClock,
  trackedDelays,
  type DelayPiece,
} from './index.js';

const RATE_HZ = 32.768e6;
const piece = (given: Partial<DelayPiece>): DelayPiece => ({
  fromTick: 0n,
  delayS: 0,
  delayRate: 0,
  phaseRad: 0,
  phaseRateRadS: 0,
  ...given,
});
const close = (got: number, expected: number, tolerance: number, what = ''): void => {
  assert.ok(Math.abs(got - expected) <= tolerance, `${what} ${got} should be ${expected} ± ${tolerance}`);
};
const turnsApart = (aRad: number, bRad: number): number => {
  const turns = (aRad - bRad) / (2 * Math.PI);
  return Math.abs(turns - Math.round(turns));
};

describe('the delay at a tick', () => {
  it('of a drift of a microsecond a second, an hour later, is 3.6 ms for any tick size', () => {
    const far = 1n << 52n;
    const models = delayModels(1);
    models.load(0, piece({ fromTick: far, delayRate: 1e-6, phaseRad: 3, phaseRateRadS: 0.25 }));
    const [later] = trackedDelays(models, RATE_HZ, Number(far) + 3600 * RATE_HZ);
    close(later.delayS, 3.6e-3, 1e-15);
    close(turnsApart(later.phaseRad, 3 + 900), 0, 1e-12);
    assert.ok(Math.abs(later.phaseRad) <= Math.PI);
  });
});

describe('delay models', () => {
  it('take over at their tick; a later one replaces what comes after it', () => {
    const models = delayModels(2, Float64Array.of(0, 1e-9));
    assert.deepEqual(models.at(1, 5n), piece({ fromTick: 5n, delayS: 1e-9 }));
    models.load(0, piece({ fromTick: 0n, delayS: 1 }));
    models.load(0, piece({ fromTick: 640n, delayS: 5, phaseRad: Math.PI / 2 }));
    const delays = (...ticks: bigint[]): number[] => ticks.map((tick) => models.at(0, tick).delayS);
    assert.deepEqual(delays(-1n, 0n, 639n, 640n), [0, 1, 1, 5]);
    assert.equal(models.at(0, 640n).phaseRad, Math.PI / 2);
    models.load(0, piece({ fromTick: 600n, delayS: 7 }));
    assert.deepEqual(delays(599n, 600n, 700n), [1, 7, 7]);
    models.load(1, piece({ fromTick: 3n, delayS: 2 }));
    assert.equal(models.at(1, 3n).delayS, 2 + 1e-9);
  });

  it('refuse what is no delay', () => {
    const models = delayModels(2);
    assert.throws(() => {
      models.load(2, piece({}));
    }, /input is 2; give a whole number from 0 to 1/);
    assert.throws(() => {
      models.load(0, piece({ delayRate: 1 }));
    }, /input 0: a delay rate of 1 is not below 1/);
    assert.throws(() => {
      models.load(1, piece({ phaseRad: NaN }));
    }, /delay of input 1: phaseRad is NaN/);
    assert.throws(() => delayModels(2, new Float64Array(3)), /3 fixed delays for 2 inputs/);
  });
});

describe('tracking', () => {
  const stationsAt = (...places: readonly (readonly [number, number, number])[]) =>
    places.map(([eastM, northM, upM], s) => ({ name: `s${s}`, eastM, northM, upM }));
  const site = erfaSites.sevilleta;
  const stations = stationsAt([1000, 0, 0], [0, 1000, 0], [-2100, 1700, 35]);

  it('delays the station that receives the wave first', () => {
    const start = parseInstant('2026-06-21T04:00:00Z');
    const direction = directionFromAltAz(30, 90);
    const tracking = planTracking({
      telescope: { site, stations, polarisations: 2 },
      towards: localCentre('east', direction),
      clock: sampleClock(start, 1e6),
      firstTick: 500n,
    });
    assert.deepEqual([tracking.inputs, tracking.ticksPerPiece], [6, 10_000_000n]);
    const pieces = tracking.pieces(3);
    // A kilometre east, a source 30° over the east: cos 30° · 1 km / c = 2.888750 µs.
    close(pieces[0].delayS, (Math.sqrt(3) / 2) * (1000 / SPEED_OF_LIGHT_M_PER_S), 1e-20);
    close(pieces[0].delayS, 2.88875e-6, 1e-12);
    assert.deepEqual(pieces[1], pieces[0]);
    assert.deepEqual([pieces[0].fromTick, pieces[0].delayRate, pieces[0].phaseRad], [30_000_500n, 0, 0]);
    close(pieces[2].delayS, 0, 1e-20);
    const far = (-2100 * Math.cos(Math.PI / 6) + 35 / 2) / SPEED_OF_LIGHT_M_PER_S;
    close(pieces[5].delayS, far, 1e-20);
    close(geometricDelaysS({ stations }, direction)[2], far, 1e-20);
  });

  it("is within a picosecond of ERFA's delays over kilometres, through a leap second too", () => {
    const worst = [0, 0, 0];
    for (const [utc, source, secondsText, ...delays] of erfaRows('delays')) {
      const clock = sampleClock(parseInstant(utc), RATE_HZ);
      const tracking = planTracking({
        telescope: { site, stations, polarisations: 1 },
        towards: parsePhaseCentre(source, 'test'),
        clock,
        firstTick: 0n,
      });
      const tick = BigInt(Math.round(Number(secondsText) * RATE_HZ));
      const pieces = tracking.pieces(Number(tick / tracking.ticksPerPiece));
      pieces.forEach((one, s) => {
        const delayS = one.delayS + (Number(tick - one.fromTick) / RATE_HZ) * one.delayRate;
        worst[s] = Math.max(worst[s], Math.abs(delayS - Number(delays[s])));
      });
    }
    // A kilometre: 0.22 ps from the straight piece, and 1 mas of the sky, 0.02 ps.
    assert.ok(worst[0] < 0.25e-12 && worst[1] < 0.25e-12 && worst[2] < 0.7e-12, worst.join(' '));
    assert.ok(worst[0] > 1e-14);
  });

  it('touches the true delay in the middle of each piece and is 0.22 ps off at its ends, a kilometre out', () => {
    const start = parseInstant('2026-06-21T04:00:00Z');
    const centre = fixedCentre('a place', { raDeg: 310, decDeg: 0 });
    const telescope = { site, stations: stationsAt([1000, 0, 0]), polarisations: 1 } as const;
    const tracking = planTracking({
      telescope,
      towards: centre,
      clock: sampleClock(start, 1e6),
      firstTick: 0n,
    });
    const trueS = (seconds: number): number => {
      const frame = skyFrame(site, addSeconds(start, seconds));
      return geometricDelaysS(telescope, centre.directionEnu(frame))[0];
    };
    let worst = 0;
    for (let k = 0; k < 360; k += 40) {
      const [one] = tracking.pieces(k);
      const offS = (seconds: number): number =>
        one.delayS + one.delayRate * seconds - trueS(10 * k + seconds);
      close(offS(5), 0, 1e-19, 'in the middle');
      for (const seconds of [0, 10]) worst = Math.max(worst, Math.abs(offS(seconds)));
    }
    // ½·ω²·(1 km/c)·(5 s)² = ½·(7.292e-5)²·3.336e-6·25 = 0.222 ps where the whole delay curves.
    assert.ok(worst < 0.2218e-12, `${worst}`);
    assert.ok(worst > 0.21e-12, `${worst}`);
  });

  it('follows the Sun, which is no star: 360° in a day and not a degree more', () => {
    const start = parseInstant('2026-06-21T19:00:00Z');
    const telescope = { site, stations: stationsAt([1000, 0, 0]), polarisations: 1 } as const;
    const options = { telescope, clock: sampleClock(start, 1e6), firstTick: 0n };
    const towards = parsePhaseCentre('Sun', 'test');
    const star = fixedCentre('where it was', towards.position(skyFrame(site, start)));
    const [after] = planTracking({ ...options, towards }).pieces(360);
    const [left] = planTracking({ ...options, towards: star }).pieces(360);
    // In an hour the Sun moves 1/24 of a degree relative to the stars: 2.4e-9 s of a kilometre's 3.3 µs.
    const behindS = Math.abs(after.delayS - left.delayS);
    assert.ok(behindS > 0.5e-9 && behindS < 3e-9, `${behindS}`);
  });

  it('knows ticks from times, to the next one', () => {
    const start = parseInstant('2016-12-31T23:59:59Z');
    const clock = sampleClock(start, 1000);
    assert.equal(clock.tickOf(parseInstant('2017-01-01T00:00:00')), 2000n);
    assert.equal(clock.tickOf(parseInstant('2016-12-31T23:59:60.0005')), 1001n);
    assert.deepEqual(clock.instantOf(1500n), parseInstant('2016-12-31T23:59:60.5'));
    assert.equal(clock.tickOf(addSeconds(start, -1.0005)), -1000n);
    assert.throws(
      () =>
        planTracking({
          telescope: { site, stations, polarisations: 1 },
          towards: localCentre('up', { x: 0, y: 0, z: 1 }),
          clock,
          firstTick: 0n,
          everyS: 0,
        }),
      /tracking: seconds a piece is 0/,
    );
  });
});
