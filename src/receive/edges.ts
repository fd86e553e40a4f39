/** Which missing packets are losses: not those before a stream epoch's first packet, nor those after its last. */
import type { Presence } from '../core/presence/presence.js';
import type { ArrivedBlock } from './ring.js';

/** Empty slots at the block's beginning and at its end; in an empty block both are the whole block. */
function silentEnds({ slots, rowWords, bits }: Presence): {
  readonly before: number;
  readonly after: number;
} {
  const anyone = new Uint32Array(rowWords);
  for (let at = 0; at < bits.length; at++) anyone[at % rowWords] |= bits[at];
  const hasPackets = (slot: number): boolean => ((anyone[slot >>> 5] >>> (slot & 31)) & 1) === 1;
  let before = 0;
  while (before < slots && !hasPackets(before)) before++;
  let after = 0;
  while (after < slots && !hasPackets(slots - 1 - after)) after++;
  return { before, after };
}

/** Counts losses block by block. */
export class LostCells {
  private lost = 0;
  private session: number | undefined;
  /** Missing after the last packet so far: counted as lost when another packet arrives. */
  private after = 0;

  constructor(private readonly cellsPerBlock: number) {}

  take({ session, presence, missingCells, skippedBlocks }: ArrivedBlock): void {
    const isFirst = session !== this.session;
    const cellsPerSlot = presence.senders * presence.fragments;
    const ends = missingCells === 0 ? { before: 0, after: 0 } : silentEnds(presence);
    const after = cellsPerSlot * ends.after;
    this.lost += missingCells - after;
    if (isFirst) this.lost -= Math.min(missingCells - after, cellsPerSlot * ends.before);
    else this.lost += this.after + skippedBlocks * this.cellsPerBlock;
    [this.session, this.after] = [session, after];
  }

  get count(): number {
    return this.lost;
  }
}
