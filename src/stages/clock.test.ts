import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSamples, instant, parseInstant, secondsBetween, type Instant } from '../core/instant.js';
import {
  dividedClock,
  everySpectra,
  integrationClock,
  oneIntegration,
  onUtc,
  refuseLeapSeconds,
} from './clock.js';

describe("an integration's clock", () => {
  it('cuts every so many spectra from the first, wherever one looks', () => {
    const clock = everySpectra(10);
    assert.deepEqual(
      [0, 9, 10, 25].map((index) => clock.cutAfter(index)),
      [10, 10, 20, 30],
    );
    assert.equal(oneIntegration.cutAfter(1e9), Infinity);
  });

  it('cuts on boundaries of UTC: the first spectrum that begins on one or after it is the next integration’s', () => {
    // Four spectra a second from 0.9 s after a minute: they begin at 0.90, 1.15, 1.40, 1.65, 1.90, 2.15 …
    const clock = onUtc(1, { start: instant(1_700_000_040, 0.9), spectrumRateHz: 4 });
    assert.deepEqual(
      [0, 1, 4, 5].map((index) => clock.cutAfter(index)),
      [1, 5, 5, 9],
    );
  });

  it('takes a spectrum that begins on a boundary but for rounding as beginning on it', () => {
    // 0.1 is no binary number: spectrum 7 begins at 0.3 + 0.7, which may fall short of 1 by 1e-16.
    const clock = onUtc(1, { start: instant(86_400, 0.3), spectrumRateHz: 10 });
    assert.deepEqual(
      [0, 6, 7].map((index) => clock.cutAfter(index)),
      [7, 7, 17],
    );
  });

  it('two machines started at different moments cut at the same instants', () => {
    const cuts = [0.25, 3.75].map((startS) => {
      const clock = onUtc(5, { start: instant(86_400 * 20_000 + 7, startS % 1), spectrumRateHz: 8 });
      return instant(86_400 * 20_000 + 7, (startS % 1) + clock.cutAfter(0) / 8);
    });
    assert.ok(cuts.every(({ unixSeconds }) => (unixSeconds % 86_400) % 5 === 0));
  });

  it('cuts at the same instants on both sides of midnight, where the length divides no day', () => {
    const midnight = parseInstant('2026-06-21T00:00:00Z');
    const cutsFrom = (startS: number): number[] => {
      const start: Instant = addSamples(midnight, startS, 1);
      const clock = onUtc(0.7, { start, spectrumRateHz: 10 });
      const all = [clock.cutAfter(0)];
      while (all.length < 12) all.push(clock.cutAfter(all[all.length - 1]));
      return all.map((cut) => Math.round(10 * secondsBetween(midnight, addSamples(start, cut, 10))));
    };
    const [before, after] = [cutsFrom(-2), cutsFrom(0)];
    // 1 782 000 000 s since 1970 are 2 545 714 285 times 0.7 s and 0.5 s.
    assert.deepEqual(after.slice(0, 3), [2, 9, 16]);
    assert.deepEqual(
      before.filter((cut) => cut > 0),
      after.slice(0, before.filter((cut) => cut > 0).length),
    );
  });

  it('a length that divides a day begins anew at midnight, however it is written', () => {
    for (const everyS of [0.1, 1 / 3, 0.04, 0.3, 7.5, 600, 86_400]) {
      const start = parseInstant('2026-06-20T23:59:59Z');
      const clock = onUtc(everyS, { start, spectrumRateHz: 1200 });
      assert.equal(clock.cutAfter(1199), 1200, `${everyS}`);
      assert.equal(clock.cutAfter(1200), 1200 + 1200 * everyS, `${everyS}`);
    }
  });

  it('clocks of parts and of several parts share their cuts, to the spectrum, all day long', () => {
    for (const [integrationS, parts] of [
      [1, 3],
      [0.9999999, 3],
      [0.7, 3],
      [1, 7],
    ]) {
      const grid = { start: parseInstant('2026-06-20T22:00:00.0003Z'), spectrumRateHz: 24_000 };
      const clock = dividedClock({ integrationS, align: 'utc' }, parts, grid);
      const [small, large] = [clock(1), clock(parts)];
      const whole = integrationClock({ integrationS, align: 'utc' }, grid);
      for (const hours of [0, 1, 3, 30]) {
        let at = large.cutAfter(hours * 3600 * grid.spectrumRateHz);
        assert.equal(at, whole.cutAfter(at - 1));
        const end = large.cutAfter(at);
        for (let part = 0; part < parts; part++) at = small.cutAfter(at);
        assert.equal(at, end, `${integrationS} s in ${parts} after ${hours} h`);
      }
    }
  });

  describe('over the leap second at the end of 2016', () => {
    // Ten spectra a second from 23:59:48; the leap second is 120 to 130, and 00:00:00 is 130.
    const grid = { start: parseInstant('2016-12-31T23:59:48Z'), spectrumRateHz: 10 };
    const cuts = (everyS: number, to: number): number[] => {
      const [clock, all] = [onUtc(everyS, grid), [0]];
      while (all[all.length - 1] < to) all.push(clock.cutAfter(all[all.length - 1]));
      return all;
    };

    it('boundaries stay those of UTC, and the leap second is an integration of its own', () => {
      assert.deepEqual(cuts(10, 300), [0, 20, 120, 130, 230, 330]);
      assert.deepEqual(cuts(5, 180), [0, 20, 70, 120, 130, 180]);
      assert.deepEqual(
        cuts(0.4, 134).filter((cut) => cut >= 112),
        [112, 116, 120, 124, 128, 130, 134],
      );
    });

    it('integrations with their middle in it are refused, and others are not', () => {
      const check = (everyS: number, align: 'utc' | 'first-sample', spectra = 240): void => {
        refuseLeapSeconds('a.uvh5', integrationClock({ integrationS: everyS, align }, grid), grid, spectra);
      };
      const refused = /a\.uvh5: has data within the leap second 2016-12-31T23:59:60Z.*source\.from/;
      for (const align of ['utc', 'first-sample'] as const) {
        assert.throws(() => {
          check(1, align);
        }, refused);
        check(1, align, 120);
        assert.throws(() => {
          check(1, align, 125);
        }, refused);
      }
      assert.throws(() => {
        check(10, 'utc');
      }, refused);
      check(10, 'first-sample');
      // All of it, with its middle there.
      assert.throws(() => {
        refuseLeapSeconds('a.uvh5', oneIntegration, grid, 250);
      }, refused);
      refuseLeapSeconds('a.uvh5', oneIntegration, grid, 280);
    });

    it('images that begin there are refused too', () => {
      const clock = everySpectra(40);
      refuseLeapSeconds('a.uvh5', clock, grid, 240);
      assert.throws(() => {
        refuseLeapSeconds('a.fits', clock, grid, 240, 'start and middle');
      }, /a\.fits: has data within the leap second/);
    });
  });

  it('refuses integrations shorter than a spectrum', () => {
    const grid = { start: instant(0), spectrumRateHz: 100 };
    assert.throws(() => integrationClock({ integrationS: 0.001 }, grid), /shorter than one spectrum/);
    assert.equal(integrationClock({}, grid), oneIntegration);
    assert.equal(integrationClock({ integrationS: 0.05 }, grid).cutAfter(0), 5);
    assert.equal(
      integrationClock({ integrationS: 1, align: 'utc' }, { ...grid, start: instant(0, 0.5) }).cutAfter(0),
      50,
    );
  });
});
