/** Two rings with the same packets: the same outcome of every packet, the same blocks, the same account. */
import assert from 'node:assert/strict';
import type { FedRing } from '../ring.js';
import { randomFaults } from './random-faults.js';
import { Bench, checkAccount } from './try-case.js';

/** Closes neither; returns the number of packets. Both have the same plan, from testing/array.ts. */
export function compareRings(ring: FedRing, reference: FedRing, seed: number, packets: number): number {
  // A run of minutes, so that limits per minute expire.
  const [bench, oracle] = [ring, reference].map((one) => new Bench(one, 'any sent', 40_000_000n));
  for (const step of randomFaults(seed, packets)) {
    if (step === 'silence') for (const one of [ring, reference]) one.flush();
    else if (step === 'drain') for (const one of [bench, oracle]) one.drain();
    else for (const packet of step) assert.equal(bench.feed(packet), oracle.feed(packet));
  }
  for (const one of [ring, reference]) one.flush();
  for (const one of [bench, oracle]) one.drain();
  assert.deepEqual(bench.seen, oracle.seen);
  assert.deepEqual(ring.account(), reference.account());
  checkAccount(ring.account(), ring.plan, bench.fed);
  return bench.fed.length;
}
