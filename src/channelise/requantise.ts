/** From real numbers to the few bits that travel on: one rule for every backend. */

/** To the nearest whole number, halves to the even one. */
export function roundHalfEven(value: number): number {
  const nearest = Math.round(value); // halves go up
  return nearest - value === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}
