import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CudaSession, CudaEvent, Stream } from './session.js';
import { closes } from '../../core/closing.js';
import { LapClock } from './lap-clock.js';

/** A card whose events are passed at the milliseconds given, one after the other. */
function card(...milliseconds: readonly number[]) {
  const times = new Map<CudaEvent, number>();
  const passes = [...milliseconds];
  let closed = 0;
  const session = {
    createEvent: () => {
      const event = {
        record: () => void times.set(event, passes.shift() ?? NaN),
        close: closes(() => {
          closed++;
        }),
      } as unknown as CudaEvent;
      return event;
    },
    millisecondsBetween: (begun: CudaEvent, ended: CudaEvent) =>
      (times.get(ended) ?? NaN) - (times.get(begun) ?? NaN),
  } as unknown as CudaSession;
  return { session, made: () => times.size, closed: () => closed };
}
const stream = {} as Stream;

it('steps are timed in seconds, summed, and the shortest of each remembered', async () => {
  const machine = card(0, 500, 500, 750, 1000, 1100, 2000, 2010);
  const clock = new LapClock<'image' | 'upload'>(machine.session);
  const lap = (step: 'image' | 'upload'): void => {
    clock.end(step, clock.begin(stream), stream);
  };
  lap('image');
  lap('upload');
  lap('image');
  assert.equal(clock.count, 3);
  // Only passed events are read.
  clock.collect(2);
  assert.deepEqual(clock.times, { image: 0.5, upload: 0.25 });
  assert.equal(clock.count, 3);
  clock.collect(3);
  assert.deepEqual(clock.times, { image: 0.6, upload: 0.25 });
  clock.reset();
  assert.deepEqual(clock.times, {});
  // Marks that were read are reused: three laps made six, the fourth none.
  lap('image');
  assert.equal(machine.made(), 6);
  clock.collect(9);
  assert.deepEqual([clock.times, clock.count], [{ image: 0.01 }, 4]);
  await clock.close();
  assert.equal(machine.closed(), 6);
});
