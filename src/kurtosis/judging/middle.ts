/**
 * The middle of thousands of numbers, as core/median.ts has it. It is found by counting in narrow buckets about it: selection by
 * halves guesses wrong at every other number.
 */
import { middleOf } from '../../core/median.js';

/** Fewer are quicker by selection. */
const LEAST = 512;
const SAMPLE = 64;
const BUCKETS = 1024;
/** More in one bucket are quicker by selection again. */
const MOST_IN_BUCKET = 1024;

export class Middle {
  private readonly sample = new Float64Array(SAMPLE);
  private readonly buckets = new Uint32Array(BUCKETS);
  private readonly found = new Float64Array(MOST_IN_BUCKET);
  private places = new Uint16Array(0);

  /** Of the first `count` values, all of them numbers; the upper of two, and NaN of none. Their order is kept. */
  of(values: Float64Array, count: number): number {
    if (count < LEAST) return middleOf(values.slice(0, count), count);
    const { sample, buckets, found } = this;
    if (this.places.length < count) this.places = new Uint16Array(count);
    const { places } = this;
    for (let n = 0; n < SAMPLE; n++) sample[n] = values[Math.floor((n * count) / SAMPLE)];
    sample.sort();
    const low = sample[SAMPLE / 16];
    const high = sample[(15 * SAMPLE) / 16];
    if (!(high > low)) return middleOf(values.slice(0, count), count);
    // Rounding keeps the order: a number in a later bucket is never smaller.
    const scale = (BUCKETS - 2) / (high - low);
    buckets.fill(0);
    for (let n = 0; n < count; n++) {
      const bucket = Math.min(BUCKETS - 1, Math.max(0, (values[n] - low) * scale + 1)) | 0;
      places[n] = bucket;
      buckets[bucket]++;
    }
    let wanted = count >> 1;
    let bucket = 0;
    while (wanted >= buckets[bucket]) wanted -= buckets[bucket++];
    if (buckets[bucket] > MOST_IN_BUCKET) return middleOf(values.slice(0, count), count);
    let many = 0;
    for (let n = 0; n < count; n++) if (places[n] === bucket) found[many++] = values[n];
    return found.subarray(0, many).sort()[wanted];
  }
}
