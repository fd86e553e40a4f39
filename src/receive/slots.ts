/** Parts of a block's presence bits. */
import { emptyPresence, type Presence } from '../core/presence/presence.js';

/** A copy of the slots from `first` to before `end`. */
export function presenceBetween(presence: Presence, first: number, end: number): Presence {
  const { lanes, fragments, rowWords, bits } = presence;
  const part = emptyPresence(lanes, fragments, end - first);
  const shift = first & 31;
  for (let row = 0; row < lanes * fragments; row++) {
    for (let word = 0; word * 32 < end - first; word++) {
      const at = row * rowWords + (first >>> 5) + word;
      const next = (first >>> 5) + word + 1 < rowWords ? bits[at + 1] : 0;
      const both = shift === 0 ? bits[at] : (bits[at] >>> shift) | (next << (32 - shift));
      const left = end - first - word * 32;
      part.bits[row * part.rowWords + word] = left >= 32 ? both : both & ((1 << left) - 1);
    }
  }
  return part;
}
