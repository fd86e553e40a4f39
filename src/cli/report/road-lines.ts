/** How far the direct road is off for an array. */

/** Told above one per cent; above ten it was refused. */
export const roadLines = (error: number): string[] =>
  error > 0.01
    ? [
        `for this array the direct road is off by up to ${(100 * error).toFixed(1)} % of a source; ` +
          'correlating first is exact',
      ]
    : [];
