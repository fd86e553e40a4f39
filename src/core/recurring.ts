/** Values in ascending order, without those that damage produced: seen once or twice while the others recur. */
export function recurring(values: Iterable<number>): number[] {
  const times = new Map<number, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  const often = Math.max(0, ...times.values());
  return [...times]
    .filter(([, count]) => count * 8 >= often)
    .map(([value]) => value)
    .sort((x, y) => x - y);
}
