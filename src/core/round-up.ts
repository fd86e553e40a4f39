/** The next whole multiple, for rows padded to the alignment of memory. */
export const roundUp = (value: number, multiple: number): number => Math.ceil(value / multiple) * multiple;

/** The next power of two, or the value where it is one. */
export const powerOfTwoFrom = (value: number): number => 2 ** Math.ceil(Math.log2(value));

/** Added and subtracted, it rounds to integers, halves to even. */
const WHOLE = 1.5 * 2 ** 52;
/** To the nearest integer, halves to even; below 2⁵¹. */
export const halfToEven = (value: number): number => value + WHOLE - WHOLE;
