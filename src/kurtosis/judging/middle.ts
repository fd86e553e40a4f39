/**
 * The middle of thousands of numbers, as core/median.ts has it, of one block after the other: it is looked for near the last one's,
 * where few are. Selection among all of them guesses wrong at every other number.
 */
import { placedAt } from '../../core/median.js';

/** So many, over the root of all, are looked for near the last middle: ten times what chance moves it by. */
const NEAR = 8;
/** So much further where the middle is not among them, and once more. */
const WIDER = 8;

export class Middle {
  private found = new Float64Array(0);
  /** Where the last one was, and how far from it is near. */
  private last = NaN;
  private near = 0;

  /** Of the first `count` values, all of them numbers; the upper of two, and NaN of none. Their order is kept. */
  of(values: Float64Array, count: number): number {
    if (count === 0) return NaN;
    if (this.found.length < count) this.found = new Float64Array(values.length);
    if (Number.isNaN(this.last)) return this.amongAll(values, count);
    return this.isNear(values, count) || this.isNear(values, count)
      ? this.last
      : this.amongAll(values, count);
  }

  /** Whether it is near the last one; then that is it, and what is near is told anew. */
  private isNear(values: Float64Array, count: number): boolean {
    const { found } = this;
    const wanted = count >> 1;
    const low = this.last - this.near;
    const high = this.last + this.near;
    let below = 0;
    let many = 0;
    // Comparisons are added up instead of branched upon: nobody foresees them.
    for (let n = 0; n < count; n++) {
      const value = values[n];
      found[many] = value;
      below += +(value < low);
      many += +(value >= low) & +(value <= high);
    }
    const isFound = below <= wanted && wanted < below + many;
    if (isFound) this.last = placedAt(found, many, wanted - below);
    this.near *= isFound ? Math.min(2, Math.max(0.5, (NEAR * Math.sqrt(count)) / many)) : WIDER;
    return isFound;
  }

  private amongAll(values: Float64Array, count: number): number {
    const { found } = this;
    for (let n = 0; n < count; n++) found[n] = values[n];
    this.last = placedAt(found, count, count >> 1);
    const quarter = placedAt(found, count, (3 * count) >> 2) - this.last;
    this.near = (2 * NEAR * quarter) / Math.sqrt(count);
    return this.last;
  }
}
