/** Distinguishes two senders with one ID from one sender with late packets: a late packet leaves a gap at its place. */
import type { SenderCounts } from './ring.js';

/** Fewer packets of another clock, or a smaller part of a sender's packets, are damage. */
const LEAST = 10;
const LEAST_SHARE = 0.01;

type Counts = Pick<SenderCounts, 'duplicateIdPackets' | 'missingCells'> & {
  readonly outcomes: Pick<SenderCounts['outcomes'], 'placed'>;
};

/**
 * Whether another clock uses a sender's ID while its own clock continues; counted since an earlier account if given.
 */
export function hasDuplicateId(now: Counts, before?: Counts): boolean {
  const duplicateIdPackets = now.duplicateIdPackets - (before?.duplicateIdPackets ?? 0);
  const placed = now.outcomes.placed - (before?.outcomes.placed ?? 0);
  const missing = now.missingCells - (before?.missingCells ?? 0);
  return (
    duplicateIdPackets > LEAST && duplicateIdPackets > LEAST_SHARE * placed && duplicateIdPackets > missing
  );
}
