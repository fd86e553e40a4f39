/**
 * The middle value when sorted, the upper of two; what is not a number does not count, and NaN is the middle of
 * nothing. A few wild values do not move it.
 */
export function median(values: ArrayLike<number>): number {
  const kept = new Float64Array(values.length);
  let count = 0;
  const length = values.length;
  for (let n = 0; n < length; n++) {
    const value = values[n];
    if (!Number.isNaN(value)) kept[count++] = value;
  }
  return middleOf(kept, count);
}

/** The same of the first `count` numbers, all of them numbers; their order is lost. */
export const middleOf = (values: Float64Array, count: number): number =>
  count === 0 ? NaN : placedAt(values, count, count >> 1);

/** The one that would be at a place if they were sorted. Hoare's selection: sorting would cost more. */
function placedAt(values: Float64Array, count: number, wanted: number): number {
  let [first, last] = [0, count - 1];
  while (first < last) {
    const pivot = values[(first + last) >> 1];
    let [low, high] = [first, last];
    while (low <= high) {
      while (values[low] < pivot) low++;
      while (values[high] > pivot) high--;
      if (low > high) break;
      const swapped = values[low];
      values[low++] = values[high];
      values[high--] = swapped;
    }
    if (wanted <= high) last = high;
    else if (wanted >= low) first = low;
    else break;
  }
  return values[wanted];
}
