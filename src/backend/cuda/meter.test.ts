import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CudaSession, CudaEvent, Stream } from './session.js';
import { closes } from '../../core/closing.js';
import { CardMeter } from './meter.js';

/** A card whose events are recorded at the milliseconds given, one after the other, and have passed by `now`. */
function card(...milliseconds: readonly number[]) {
  const times = new Map<CudaEvent, number>();
  const passes = [...milliseconds];
  let now = 0;
  let closed = 0;
  const session = {
    createEvent: () => {
      const event = {
        record: () => void times.set(event, passes.shift() ?? NaN),
        isPassed: () => (times.get(event) ?? NaN) <= now,
        close: closes(() => {
          closed++;
        }),
      } as unknown as CudaEvent;
      return event;
    },
    millisecondsBetween: (begun: CudaEvent, ended: CudaEvent) =>
      (times.get(ended) ?? NaN) - (times.get(begun) ?? NaN),
  } as unknown as CudaSession;
  return { session, made: () => times.size, closed: () => closed, passTo: (until: number) => (now = until) };
}
const stream = {} as Stream;

it('steps are timed in seconds and summed once they have passed', async () => {
  const machine = card(0, 500, 500, 750, 1000, 1100, 2000, 2010);
  const meter = new CardMeter(machine.session);
  meter.around('image', stream, () => undefined);
  assert.deepEqual([meter.account(), machine.made()], [undefined, 0]);
  meter.begin();
  assert.equal(
    meter.around('image', stream, () => 7),
    7,
  );
  await meter.around('upload', stream, () => Promise.resolve());
  meter.around('image', stream, () => undefined);
  machine.passTo(750);
  assert.deepEqual(meter.account()?.seconds, { image: 0.5, upload: 0.25 });
  machine.passTo(1100);
  assert.deepEqual(meter.account()?.seconds, { image: 0.6, upload: 0.25 });
  meter.begin();
  assert.equal(meter.account(), undefined);
  // Marks that were read are reused: three steps made six, the fourth none.
  meter.around('image', stream, () => undefined);
  assert.equal(machine.made(), 6);
  machine.passTo(2010);
  assert.deepEqual(meter.account()?.seconds, { image: 0.01 });
  await meter.close();
  assert.equal(machine.closed(), 6);
});
