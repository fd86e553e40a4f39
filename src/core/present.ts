/** The items that there are: what a failed condition (`condition && item`) leaves out is not among them. */
export const present = <Items extends readonly unknown[]>(
  ...items: Items
): Exclude<Items[number], false | undefined>[] =>
  items.filter((item) => item !== false && item !== undefined) as Exclude<Items[number], false | undefined>[];
