import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../../core/instant.js';
import { everySpectra, integrationClock, oneIntegration, onUtc } from './clock.js';

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
