/**
 * Random runs, reproducible by seed: loss, duplicates, reordering, damage, wrong clocks, restarts, jumps, silence, a
 * slow consumer.
 */
import { randomStream } from '../../core/random.js';
import { damaged } from '../../packets/testing/damage.js';
import { cellsBetween, SENDERS, packetOf, shuffled, SLOTS, TURN_SLOTS } from './array.js';
import type { Step } from './try-case.js';

/** About `packets` packets, in steps. */
export function randomFaults(seed: number, packets: number): Exclude<Step, { readonly atS: number }>[] {
  const random = randomStream(seed, 'faults');
  const steps: ReturnType<typeof randomFaults> = [];
  let sent = 0;
  let slot = random.below(4) === 0 ? TURN_SLOTS - random.below(60) : random.below(5000);
  /** Clock offset of each board. */
  const shifts = Array.from({ length: SENDERS }, () => 0);
  const loss = [0, 0.02, 0.3][random.below(3)];
  const order = [0, 20, 120][random.below(3)];
  while (sent < packets) {
    const what = random.below(24);
    if (what === 0) steps.push('silence');
    if (what === 1) slot = random.below(8000);
    if (what === 2) slot += random.below(SLOTS * 30);
    if (what === 3) shifts[random.below(SENDERS)] = [0, 0, SLOTS, -SLOTS, 40 * SLOTS, -3000][random.below(6)];
    if (what === 4) shifts.fill(0);
    const silent = what === 5 ? random.below(SENDERS) : -1;
    const length = 1 + random.below(3 * SLOTS);
    const batch = cellsBetween(slot, slot + length)
      .filter(({ sender }) => sender !== silent && random.uniform() >= loss)
      .flatMap((cell) => {
        const packet = packetOf({ ...cell, slot: Math.max(0, cell.slot + shifts[cell.sender]) });
        const chance = random.uniform();
        if (chance < 0.01) return [damaged(packet, random)];
        return chance < 0.03 ? [packet, packet] : [packet];
      });
    steps.push(order === 0 ? batch : shuffled(batch, order, random.below(2 ** 30)));
    sent += batch.length;
    slot += length;
    // Now and then the consumer pauses.
    if (random.below(5) > 0) steps.push('drain');
  }
  return steps;
}
