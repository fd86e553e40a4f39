import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CorellaError } from '../core/errors.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { localCentre, parsePhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { checkedPhaseLoss, phaseLoss, phaseLossLines } from './phase-loss.js';
import { requestDelays } from './tracking.js';

describe('the loss by phases alone', () => {
  it('is 1 − sinc(B·τ), by hand', () => {
    assert.equal(phaseLoss(25e3, 0), 0);
    // sinc(½) = 2/π; sinc(1) = 0, and beyond it nothing is left.
    assert.ok(Math.abs(phaseLoss(1e6, 0.5e-6) - (1 - 2 / Math.PI)) < 1e-12);
    assert.ok(Math.abs(phaseLoss(1e6, -0.5e-6) - (1 - 2 / Math.PI)) < 1e-12);
    assert.ok(Math.abs(phaseLoss(1e6, 1e-6) - 1) < 1e-12);
    assert.ok(Math.abs(phaseLoss(1e6, 1.5e-6) - 1) < 1e-12);
  });

  it('is reported above 0.2 % and refused above 5 %', () => {
    const at = (turns: number): number =>
      checkedPhaseLoss({ channelWidthHz: 1e6 }, { mostApartS: turns * 1e-6 });
    // 1 − sinc(x) ≈ (πx)²/6: 0.19 % at 0.034, 0.21 % at 0.036, 4.9 % at 0.174, 5.1 % at 0.178.
    assert.deepEqual(phaseLossLines(at(0.034)), []);
    const [{ code, text }] = phaseLossLines(at(0.036));
    assert.equal(code, 'sky.delays-by-phase');
    assert.match(text, /0\.21 %/);
    assert.ok(at(0.174) > 0.048);
    assert.throws(
      () => at(0.178),
      (error) => error instanceof CorellaError && /5\.\d+ % of the amplitude/.test(error.what),
    );
  });
});

describe('how far delays are apart', () => {
  const telescope = {
    name: 'two',
    site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
    polarisations: 1,
    stations: [-600, 600].map((eastM, s) => ({ name: `s${s}`, eastM, northM: 0, upM: 0 })),
  } as unknown as Telescope;
  const start = parseInstant('2026-06-21T04:00:00Z', 'test');
  const apart = (request: Parameters<typeof requestDelays>[0], lastsS: number): number =>
    requestDelays(request, telescope, { start, tickRateHz: 1e6, lastsS })?.mostApartS ?? Number.NaN;

  it('of a place over the ground: its own difference', () => {
    const track = localCentre('low', { x: Math.sin(1), y: 0, z: Math.cos(1) });
    const expected = (1200 * Math.sin(1)) / SPEED_OF_LIGHT_M_PER_S;
    assert.ok(Math.abs(apart({ track }, 1) / expected - 1) < 1e-9);
  });

  it('of a source through a day: the whole baseline, when it rises', () => {
    // For a source on the equator an east-west baseline is end-on twice a day.
    const day = apart({ track: parsePhaseCentre('0 0', 'test') }, 86_400);
    assert.ok(Math.abs((day * SPEED_OF_LIGHT_M_PER_S) / 1200 - 1) < 1e-3, String(day));
  });

  it('of pieces: where they are farthest apart while they last, whatever all of them have in common', () => {
    const piece = { delayRate: 0, phaseRad: 0, phaseRateRadS: 0, from: start };
    const track = {
      fixedS: new Float64Array(2),
      pieces: [
        { ...piece, input: 0, delayS: 7e-6 },
        { ...piece, input: 1, delayS: 8e-6, delayRate: 1e-7 },
        { ...piece, input: 1, delayS: 7e-6, from: addSeconds(start, 20) },
        { ...piece, input: 0, delayS: 99e-6, from: addSeconds(start, 200) },
      ],
    };
    // 1 µs at first, 3 µs after 20 s, then nothing; 200 s is past the end.
    assert.ok(Math.abs(apart({ track }, 100) - 3e-6) < 1e-12);
    assert.ok(Math.abs(apart({ track }, 10) - 2e-6) < 1e-12);
  });

  it('of fixed delays: the largest less the smallest, cables beside what is tracked', () => {
    assert.ok(Math.abs(apart({ fixedS: Float64Array.of(-2e-6, 1e-6) }, 1) - 3e-6) < 1e-15);
    const track = localCentre('zenith', { x: 0, y: 0, z: 1 });
    assert.ok(Math.abs(apart({ track, fixedS: Float64Array.of(-2e-6, 1e-6) }, 1) - 3e-6) < 1e-12);
  });
});
