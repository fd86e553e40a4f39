/** How far direct images of an array are off. */

/** Reported above one per cent; above ten it was refused. */
export const roadLines = (error: number): string[] =>
  error > 0.01
    ? [
        `direct images of this array are off by up to ${(100 * error).toFixed(1)} % of a source; ` +
          'images from visibilities are exact',
      ]
    : [];
