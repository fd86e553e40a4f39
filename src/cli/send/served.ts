/** Formats served over TCP instead of packets. */
export const served = { kraken: 1, kraken2: 2 } as const;
export type ServedFormat = keyof typeof served;
export const isServed = (name: string | undefined): name is ServedFormat =>
  name !== undefined && Object.hasOwn(served, name);
