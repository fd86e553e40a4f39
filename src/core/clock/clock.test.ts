import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant, instant, parseInstant } from '../instant.js';
import { randomStream } from '../random.js';
import { afterElapsedSeconds } from './epochs.js';
import { numberOf, rational, rationalOf } from './rational.js';
import { instantOfTick, secondsOfTicks, tickOfInstant, unwrapTick, type TickClock } from './tick-clock.js';

describe('fractions', () => {
  it('are reduced, and exact for any double', () => {
    assert.deepEqual(rational(6n, -4n), { numerator: -3n, denominator: 2n });
    assert.deepEqual(rationalOf(23925.78125), rational(196_000_000n, 8192n));
    assert.deepEqual(rationalOf(0.1), rational(3602879701896397n, 36028797018963968n));
    assert.deepEqual(rationalOf(2 ** -1074), { numerator: 1n, denominator: 1n << 1074n });
    assert.deepEqual(rationalOf(-1e22), { numerator: -(10n ** 22n), denominator: 1n });
    assert.equal(numberOf(rational(-7n, 2n)), -3.5);
    assert.throws(() => rationalOf(Number.NaN), /no number/);
    assert.throws(() => rational(1n, 0n), /no number/);
  });
});

describe('ticks to UTC', () => {
  it('by hand', () => {
    // 25 kHz from a whole second: tick 25001 is one second and 40 µs later.
    const chips: TickClock = { epoch: parseInstant('2026-06-01T04:00:00Z'), tickRateHz: rational(25_000n) };
    assert.equal(formatInstant(instantOfTick(chips, 25_001n), 9), '2026-06-01T04:00:01.000040000Z');
    assert.equal(formatInstant(instantOfTick(chips, -1n), 9), '2026-06-01T03:59:59.999960000Z');
    // An epoch inside a second: 0.75 + 3/4 s.
    const odd: TickClock = { epoch: instant(1000, 0.75), tickRateHz: rational(4n) };
    assert.deepEqual(instantOfTick(odd, 3n), { unixSeconds: 1001, fraction: 0.5 });
    assert.equal(tickOfInstant(odd, instant(1001, 0.5)), 3n);
    assert.equal(tickOfInstant(odd, instant(1001, 0.624)), 3n);
    assert.equal(tickOfInstant(odd, instant(1001, 0.625)), 4n);
    assert.equal(tickOfInstant(odd, instant(1000, 0)), -3n);
  });

  it('keeps every tick where a double would not', () => {
    // 196 MHz since 1970 is 3.5e17 ticks, 39 times 2⁵³.
    const fast: TickClock = { epoch: instant(0), tickRateHz: rational(196_000_000n) };
    const tick = 196_000_000n * 1_780_000_000n + 123_456_789n;
    const moment = instantOfTick(fast, tick);
    assert.ok(tick > 2n ** 53n);
    assert.ok(Math.abs(moment.fraction - 123_456_789 / 196e6) < 1e-15);
    // 27 leap seconds since 1972.
    assert.equal(moment.unixSeconds, 1_780_000_000 - 27);
    const random = randomStream(4, 'ticks');
    for (let k = 0; k < 2000; k++) {
      const clock: TickClock = {
        epoch: instant(1_700_000_000 + random.below(1e6), random.uniform()),
        tickRateHz: rational(BigInt(1 + random.below(2e9)), BigInt(1 + random.below(8192))),
      };
      const at = BigInt(random.below(2 ** 53)) * BigInt(1 + random.below(64));
      assert.equal(tickOfInstant(clock, instantOfTick(clock, at)), at);
    }
  });

  it('counts leap seconds, forwards and back', () => {
    const before = parseInstant('2016-12-31T23:59:50Z');
    const after = parseInstant('2017-01-01T00:00:10Z');
    assert.deepEqual(afterElapsedSeconds(before.unixSeconds, 21), after);
    assert.deepEqual(afterElapsedSeconds(after.unixSeconds, -21), before);
    // A damaged tick of any size must end too.
    assert.ok(afterElapsedSeconds(0, 9.3e18).unixSeconds > 9e18);
    const clock: TickClock = { epoch: before, tickRateHz: rational(2n) };
    for (const [tick, text] of [
      [19n, '2016-12-31T23:59:59.5Z'],
      [20n, '2016-12-31T23:59:60.0Z'],
      [21n, '2016-12-31T23:59:60.5Z'],
      [22n, '2017-01-01T00:00:00.0Z'],
      [23n, '2017-01-01T00:00:00.5Z'],
    ] as const) {
      assert.equal(formatInstant(instantOfTick(clock, tick), 1), text);
      assert.equal(tickOfInstant(clock, parseInstant(text)), tick);
    }
  });

  it('durations of ticks', () => {
    assert.equal(secondsOfTicks(3n, rational(2n)), 1.5);
    assert.equal(secondsOfTicks(-3n, rational(2n)), -1.5);
    assert.equal(secondsOfTicks(2n ** 60n, rational(2n ** 60n, 7n)), 7);
  });

  it('a clock that begins again is followed', () => {
    const turn = 2n ** 48n;
    assert.equal(unwrapTick(5n, turn - 3n, 48), turn + 5n);
    assert.equal(unwrapTick(turn - 3n, turn + 5n, 48), turn - 3n);
    assert.equal(unwrapTick(turn - 3n, 7n * turn + 5n, 48), 7n * turn - 3n);
    assert.equal(unwrapTick(100n, 90n, 48), 100n);
    // Half a period away counts as behind, one tick less as ahead.
    assert.equal(unwrapTick(turn / 2n, turn, 48), turn / 2n);
    assert.equal(unwrapTick(turn / 2n - 1n, turn, 48), turn + turn / 2n - 1n);
    assert.equal(unwrapTick(3n, 2n ** 32n - 1n, 32), 2n ** 32n + 3n);
  });
});
