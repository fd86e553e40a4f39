/**
 * The median, the upper of two middle values; NaN values do not count, and the median of nothing is NaN. A few outliers
 * do not move it.
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

/** The median of the first `count` numbers, none of them NaN; changes their order. */
export const middleOf = (values: Float64Array, count: number): number =>
  count === 0 ? NaN : placedAt(values, count, count >> 1);

/** The value that would be at an index after sorting. Hoare's selection is cheaper than sorting. */
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
