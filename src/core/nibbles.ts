/** Two 4-bit two's complement numbers in a byte: the real part high, the imaginary low (docs/conventions.md). */

/** Shifting a nibble to the top of 32 bits and back extends its sign. */
export const highNibble = (byte: number): number => (byte << 24) >> 28;
export const lowNibble = (byte: number): number => (byte << 28) >> 28;
export const packNibbles = (high: number, low: number): number => ((high & 15) << 4) | (low & 15);
