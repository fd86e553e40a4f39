/** JSON in canonical form: keys sorted, no white space, no undefined values. Equal data give equal bytes. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} is not JSON`);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new Error(`${typeof value} is not JSON`);
  return text;
}
