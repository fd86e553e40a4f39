import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** From package.json, two folders up both in src/ and in dist/. */
export function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
