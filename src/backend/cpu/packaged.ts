/** The compiled library of an optional package, @corella/linux-x64 and the like: for users without a compiler. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { version } from '../../core/program/version.js';

/** Its folder as seen from a module; undefined if it is not installed, or of another version of Corella. */
export function packagedLibrary(from: string): string | undefined {
  let path: string;
  try {
    path = createRequire(from).resolve(`@corella/${process.platform}-${process.arch}/package.json`);
  } catch {
    return undefined;
  }
  const found = JSON.parse(readFileSync(path, 'utf8')) as { readonly version?: string };
  return found.version === version() ? join(dirname(path), 'native') : undefined;
}
