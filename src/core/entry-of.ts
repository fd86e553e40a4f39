/** The entry of a table under a name that came from elsewhere: "constructor" is none, as every object has it. */
export const entryOf = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
