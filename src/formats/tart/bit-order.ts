/**
 * Whether samples of one bit lie in their bytes in the order of time. A receiver's filter makes neighbouring samples
 * alike, within a byte as from one byte to the next. If the lowest bit is first, neighbours in time across a byte's end
 * are far apart as they are read, and only turned round they are alike everywhere. Noise without a filter shows nothing.
 */
const PER_BYTE = 8;
const LAGS = [1, 2, 3, 4] as const;
/** Of correlation coefficients, squared and added over the lags: those of four antennas' noise are 0.001. */
const LEAST_DIFFERENCE = 0.02;
/** Turned round they must fit so much better. */
const BETTER = 4;

/** rows : [antenna][byte] */
export function isLowestBitFirst(rows: readonly Uint8Array[]): boolean {
  const asRead = difference(rows, (bit) => PER_BYTE - 1 - bit);
  const turned = difference(rows, (bit) => bit);
  return asRead > LEAST_DIFFERENCE && asRead > BETTER * turned;
}

/** Between the correlations of samples within bytes and across their ends; `shiftOf` is the place of a sample's bit. */
function difference(rows: readonly Uint8Array[], shiftOf: (bit: number) => number): number {
  return LAGS.reduce((sum, lag) => {
    const within = { alike: 0, count: 0 };
    const across = { alike: 0, count: 0 };
    for (const row of rows)
      for (let t = 0; t + lag < PER_BYTE * row.length; t++) {
        const first = (row[Math.floor(t / PER_BYTE)] >> shiftOf(t % PER_BYTE)) & 1;
        const second = (row[Math.floor((t + lag) / PER_BYTE)] >> shiftOf((t + lag) % PER_BYTE)) & 1;
        const one = (t % PER_BYTE) + lag < PER_BYTE ? within : across;
        one.count++;
        one.alike += first === second ? 1 : -1;
      }
    return sum + (within.alike / within.count - across.alike / across.count) ** 2;
  }, 0);
}
