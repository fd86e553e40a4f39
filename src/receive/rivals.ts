/** Two senders under one name, told from one whose packets are late: what is late leaves a hole where it should have been. */
import type { LaneAccount } from './ring.js';

/** Fewer are damaged times, or a network's mood. */
const LEAST = 10;
const LEAST_SHARE = 0.01;

type Counts = Pick<LaneAccount, 'rivals' | 'missingCells'> & {
  readonly outcomes: Pick<LaneAccount['outcomes'], 'placed'>;
};

/** Whether another clock speaks under a sender's name while its own goes on; since an earlier account of it. */
export function hasRivals(now: Counts, before?: Counts): boolean {
  const rivals = now.rivals - (before?.rivals ?? 0);
  const placed = now.outcomes.placed - (before?.outcomes.placed ?? 0);
  const missing = now.missingCells - (before?.missingCells ?? 0);
  return rivals > LEAST && rivals > LEAST_SHARE * placed && rivals > missing;
}
