import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant, parseInstant } from '../../core/instant.js';
import { everySpectra, integrationClock, oneIntegration, onUtc, refuseSharedDates } from './clock.js';

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

    it('two integrations on one Julian Date are refused, and others are not', () => {
      const check = (everyS: number, align: 'utc' | 'first-sample', spectra = 240): void => {
        refuseSharedDates(integrationClock({ integrationS: everyS, align }, grid), grid, spectra);
      };
      for (const align of ['utc', 'first-sample'] as const) {
        assert.throws(() => {
          check(1, align);
        }, /leap second.*--times/);
        check(1, align, 125);
        check(10, align);
      }
      assert.throws(() => {
        check(0.5, 'utc');
      }, /leap second/);
      refuseSharedDates(oneIntegration, grid, 240);
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
