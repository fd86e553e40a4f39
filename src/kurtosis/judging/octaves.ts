/**
 * log2 of a positive number by nothing but sums, products and quotients, each rounded as IEEE 754 has it: the same bits in
 * TypeScript and in C++ (judging/verdicts.h), on every processor. Logarithms of libraries differ in the last one.
 */
const asNumber = new Float64Array(1);
const asWords = new Uint32Array(asNumber.buffer);
const UPPER = new Uint8Array(Uint16Array.of(1).buffer)[0];

/** The last of the odd powers of the series that matters to a double. */
const LAST_POWER = 21;

export function octavesOf(value: number): number {
  asNumber[0] = value;
  const upper = asWords[UPPER];
  let octave = (upper >>> 20) - 1023;
  asWords[UPPER] = (upper & 0xfffff) | 0x3ff00000;
  let [part] = asNumber;
  if (part > Math.SQRT2) {
    part /= 2;
    octave++;
  }
  // ln x = 2 artanh t with t = (x − 1)/(x + 1): at most 0.17 here.
  const t = (part - 1) / (part + 1);
  const square = t * t;
  let sum = 0;
  for (let n = LAST_POWER; n >= 1; n -= 2) sum = sum * square + 1 / n;
  return octave + (2 / Math.LN2) * t * sum;
}
