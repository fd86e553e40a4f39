import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CudaSession, CudaEvent } from '../backend/cuda/session.js';
import { closes } from '../core/closing.js';
import { cardContestant } from './correlate-cuda.js';

/** A mock GPU: each launch takes the given time, and events record when they were reached. */
function paperCard(secondsOf: (launch: number) => number) {
  let clockS = 0;
  let launched = 0;
  let events = 0;
  const times = new Map<unknown, number>();
  const createEvent = (): CudaEvent => {
    events++;
    const event = {
      record: () => void times.set(event, clockS),
      passed: () => Promise.resolve(),
      close: closes(() => {
        events--;
      }),
    } as unknown as CudaEvent;
    return event;
  };
  const session = {
    streams: { compute: {} },
    createEvent,
    millisecondsBetween: (first: CudaEvent, last: CudaEvent) =>
      ((times.get(last) ?? NaN) - (times.get(first) ?? NaN)) * 1000,
  } as unknown as CudaSession;
  return {
    session,
    launch: () => {
      clockS += secondsOf(launched++);
    },
    launched: () => launched,
    marksLeft: () => events,
  };
}

describe('timing by the card', () => {
  it('counts the median launch, fills a quarter of a second, and frees its events', async () => {
    // Launches take 9 ms until the clock has settled, then 1 ms, one of them 100: the rate is 5 units in 1 ms.
    const card = paperCard((launch) => (launch < 4 ? 0.009 : launch === 6 ? 0.1 : 0.001));
    const contestant = cardContestant(card.session, card.launch, 5);
    const first = await contestant.run();
    assert.ok(typeof first === 'object');
    assert.ok(Math.abs(first.work / first.seconds - 5000) < 1e-6);
    await contestant.run();
    // 4 untimed and 8 timed in the first run; then 1.2 × 0.25 s / 1 ms = 300 and half as many before them.
    assert.ok(Math.abs(card.launched() - 462) <= 2);
    assert.equal(card.marksLeft(), 0);
  });
});
