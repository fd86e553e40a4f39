// Checks that C++ and CUDA sources are formatted by .clang-format, or with --write formats them. Versions of
// clang-format differ slightly: the reference is 14, of Debian 12. If it is not installed this reports so and succeeds,
// unless --require.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = 14;
const root = fileURLToPath(new URL('..', import.meta.url));
const write = process.argv.includes('--write');

const program = [`clang-format-${VERSION}`, 'clang-format'].find((name) => {
  const { error, stdout } = spawnSync(name, ['--version'], { encoding: 'utf8' });
  return !error && stdout.includes(`version ${VERSION}.`);
});
if (program === undefined) {
  console.log(
    `no clang-format ${VERSION} here: C++ and CUDA are not checked (Debian: apt install clang-format)`,
  );
  process.exit(process.argv.includes('--require') ? 1 : 0);
}

const sources = ['src', 'bench', 'scripts', 'casacore'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:cpp|h|cu|cuh)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name)),
);
const { status } = spawnSync(program, [...(write ? ['-i'] : ['--dry-run', '--Werror']), ...sources], {
  stdio: 'inherit',
});
if (status !== 0) {
  console.error('C++ or CUDA is not formatted: npm run format');
  process.exit(1);
}
console.log(
  `${sources.length} C++ and CUDA sources ${write ? 'formatted' : 'are formatted by .clang-format'}`,
);
