/**
 * The middle value when sorted, the upper of two; what is not a number does not count, and NaN is the middle of
 * nothing. A few wild values do not move it.
 */
export function median(values: ArrayLike<number>): number {
  const sorted = Float64Array.from(values)
    .filter((value) => !Number.isNaN(value))
    .sort();
  return sorted.length === 0 ? NaN : sorted[Math.floor(sorted.length / 2)];
}
