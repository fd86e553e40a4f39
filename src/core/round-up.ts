/** The next whole multiple, for rows padded to the alignment of memory. */
export const roundUp = (value: number, multiple: number): number => Math.ceil(value / multiple) * multiple;

/** The next power of two, or the value where it is one. */
export const powerOfTwoFrom = (value: number): number => 2 ** Math.ceil(Math.log2(value));
