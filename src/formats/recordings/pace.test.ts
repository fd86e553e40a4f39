import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StreamPace, type PaceEvent } from './stream.js';

/** Blocks of a tenth of a second; the rates of each second. */
function eventsAt(rates: readonly number[], jitterMs = 0): readonly (readonly [second: number, PaceEvent])[] {
  const pace = new StreamPace(1000);
  const events: (readonly [number, PaceEvent])[] = [];
  let samples = 0;
  rates.forEach((rateHz, second) => {
    for (let tenth = 1; tenth <= 10; tenth++) {
      samples += rateHz / 10;
      const nowMs = 5000 + 1000 * second + 100 * tenth + jitterMs * (tenth % 2);
      const event = pace.at(nowMs, samples);
      if (event) events.push([second, event]);
    }
  });
  return events;
}
const seconds = (count: number, rateHz: number): readonly number[] => new Array<number>(count).fill(rateHz);

describe('the rate at which samples come', () => {
  it('is reported once where it changes, and once where it is the stated one again', () => {
    const events = eventsAt([...seconds(20, 1000), ...seconds(30, 500), ...seconds(30, 1000)]);
    const kept = events.map(([, { rateHz, isAsStated }]) => [Math.round(rateHz / 100), isAsStated]);
    // A range may hold a part of each rate.
    assert.deepEqual(kept.at(-1), [10, true]);
    assert.ok(kept.slice(0, -1).some(([rate, isAsStated]) => rate === 5 && isAsStated === false));
    assert.ok(events.length <= 4, JSON.stringify(events));
    // Thirty seconds at half the rate: fifteen seconds late.
    assert.ok(Math.abs((events.at(-1)?.[1].lateS ?? 0) - 15) < 0.2);
  });

  it('is not reported where samples come as stated, unevenly or 2 % off', () => {
    assert.deepEqual(eventsAt(seconds(60, 1000), 90), []);
    assert.deepEqual(eventsAt(seconds(60, 980)), []);
  });

  it('is reported of a sender that is faster from the first on', () => {
    const [[second, { rateHz, isAsStated, lateS }], ...more] = eventsAt(seconds(40, 2000));
    assert.deepEqual([Math.round(rateHz), isAsStated, more], [2000, false, []]);
    assert.ok(second >= 9 && second <= 11 && lateS < -9, `${second} ${lateS}`);
  });
});
