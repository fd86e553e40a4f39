// Parts of a bundle for another machine that this one lacks: packages of the npm registry, cached in build/packages/.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../build/packages', import.meta.url));

/**
 * The folder of a package, unpacked. `integrity` is from the lock file; without it only npm's own check applies.
 * @param {string} name
 * @param {string} version
 * @param {string} [integrity]
 */
export function unpackPackage(name, version, integrity) {
  const label = `${name.replace('@', '').replace('/', '-')}-${version}`;
  const unpacked = join(folder, label);
  if (existsSync(unpacked)) return unpacked;
  const half = `${unpacked}.${process.pid}`;
  mkdirSync(half, { recursive: true });
  try {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', half, `${name}@${version}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [archive] = readdirSync(half);
    if (integrity) {
      const [algorithm, expected] = integrity.split(/-(.*)/s);
      const found = createHash(algorithm)
        .update(readFileSync(join(half, archive)))
        .digest('base64');
      if (found !== expected) throw new Error(`${name}@${version} is not what package-lock.json knows`);
    }
    execFileSync('tar', ['-C', half, '-xzf', join(half, archive)]);
    renameSync(join(half, 'package'), unpacked);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
  return unpacked;
}

/**
 * Test files that import what a bundle has not, and why.
 * @type {Readonly<Record<string, string>>}
 */
export const leftOutTests = {
  'acceptance/page': 'a bundle has no driver of browsers',
  'acceptance/page-missing': 'a bundle has no driver of browsers',
  'cli/startup/help': 'a bundle has no TypeScript compiler',
};
