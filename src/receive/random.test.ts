import { describe, it } from 'node:test';
import { ReferenceRing } from './reference.js';
import { smallPlan } from './testing/array.js';
import { randomFaults } from './testing/random-faults.js';
import { Bench, checkAccount } from './testing/try-case.js';

describe('random losses, restarts and jumps', () => {
  for (let seed = 1; seed <= 24; seed++) {
    it(`every packet and every packet slot is counted, seed ${seed}`, () => {
      const ring = new ReferenceRing(smallPlan, undefined, 0xaa);
      const bench = new Bench(ring, 'any sent', 40_000_000n);
      for (const step of randomFaults(seed, 3000)) {
        if (step === 'silence') ring.flush();
        else if (step === 'drain') bench.drain();
        else for (const packet of step) bench.feed(packet);
      }
      ring.flush();
      bench.drain();
      checkAccount(ring.account(), smallPlan, bench.fed);
    });
  }
});
