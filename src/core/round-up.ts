/** The next whole multiple: how long a row is once it must end where memory's own pieces do. */
export const roundUp = (value: number, multiple: number): number => Math.ceil(value / multiple) * multiple;
