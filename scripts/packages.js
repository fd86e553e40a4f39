// Makes what is published, as tarballs in build/release/: npm run packages.
//   corella-VERSION.tgz               the package, which names the others as optional dependencies
//   corella-linux-x64-VERSION.tgz     @corella/linux-x64: the compiled library of the cpu backend, every level
//   corella-linux-arm64-VERSION.tgz   the same for ARM64, by Debian's cross compiler
// `-- --target linux-x64` makes the library of one of them alone. A clone needs none of these: its package.json does not
// name them. Run `npm publish` on each tarball, the libraries first.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { here, targets } from './targets.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const release = join(root, 'build', 'release');
const { values } = parseArgs({ options: { target: { type: 'string', multiple: true } } });
const wanted = values.target ?? Object.keys(targets);
const own = /** @type {Record<string, unknown> & { version: string }} */ (
  parsed(readFileSync(join(root, 'package.json'), 'utf8'))
);

rmSync(release, { recursive: true, force: true });
mkdirSync(release, { recursive: true });
for (const name of wanted) packLibrary(name);
packProgram();
for (const name of readdirSync(release))
  if (name.endsWith('.tgz')) console.log(join('build', 'release', name));

/** @param {string} text @returns {unknown} */
function parsed(text) {
  return JSON.parse(text);
}

/** @param {string} name */
function packLibrary(name) {
  const target = targets[name];
  if (!target)
    throw new Error(`no library can be made for ${name}: choose ${Object.keys(targets).join(' or ')}`);
  const foreign = name !== here;
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build-native.js')], {
    stdio: 'inherit',
    env: { ...process.env, CORELLA_LEVELS: 'all', ...(foreign && { CORELLA_ARCH: target.architecture }) },
  });
  if (status !== 0) throw new Error(`the library for ${name} was not made`);
  const folder = join(release, name);
  mkdirSync(folder);
  cpSync(join(root, 'dist', foreign ? `native-${target.architecture}` : 'native'), join(folder, 'native'), {
    recursive: true,
  });
  const { version, license, author, repository, bugs, homepage } = own;
  writePackage(folder, {
    name: `@corella/${name}`,
    version,
    description: `The compiled library of corella's cpu backend for ${name}.`,
    ...{ license, author, repository, bugs, homepage },
    os: [target.platform],
    cpu: [target.architecture],
    libc: ['glibc'],
    files: ['native'],
  });
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(
    join(folder, 'README.md'),
    `The compiled library of the cpu backend of [corella](https://www.npmjs.com/package/corella) for ${name}. It is installed with corella, where it fits.\n`,
  );
  pack(folder);
}

/** The package of this clone, with the libraries as optional dependencies of the same version. */
function packProgram() {
  const folder = join(release, 'program');
  mkdirSync(folder);
  const packed = /** @type {{ filename: string }[]} */ (
    parsed(npm(root, ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]))
  );
  execFileSync('tar', ['-C', folder, '-xzf', join(folder, packed[0].filename)]);
  writePackage(join(folder, 'package'), {
    ...own,
    optionalDependencies: Object.fromEntries(
      Object.keys(targets).map((name) => [`@corella/${name}`, own.version]),
    ),
  });
  pack(join(folder, 'package'));
}

/**
 * @param {string} folder
 * @param {object} facts
 */
function writePackage(folder, facts) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(facts, null, 2)}\n`);
}

/** @param {string} folder */
function pack(folder) {
  npm(folder, ['pack', '--silent', '--ignore-scripts', '--pack-destination', release]);
}

/**
 * @param {string} cwd
 * @param {readonly string[]} words
 */
function npm(cwd, words) {
  return execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
