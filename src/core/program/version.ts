import { readFileSync } from 'node:fs';

/** Read from package.json, two folders up both in src/ and in dist/. */
export function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
