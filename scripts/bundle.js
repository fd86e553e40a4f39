// Makes build/bundle/: everything Corella needs on a bare Linux machine, without Node and network there.
//   target           what machine it is for, as linux-x64
//   node             the runtime: this one, or npm's of the same version for another machine
//   lib/             its C++ library, used only if the machine has no suitable one
//   app/             the compiled project with its tests, the CPU library, and production dependencies
//   sbom.cdx.json    third-party components (CycloneDX); THIRD-PARTY-NOTICES.txt their licences
//   corella          the command
//   corella-test     the tests: corella-test [WORD …]
// and build/bundle.tar.xz, the same packed. Run `npm run build` first.
//   node scripts/bundle.js                       for this machine
//   node scripts/bundle.js --target linux-x64    for that one: with npm's registry and Debian's cross compiler
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { leftOutTests, unpackPackage } from './bundle-parts.js';
import { writeBill } from './sbom.js';
import { here, targets } from './targets.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const bundle = join(root, 'build', 'bundle');
const app = join(bundle, 'app');
const limitBytes = 50e6;

/**
 * @param {string} message
 * @returns {never}
 */
function stop(message) {
  console.error(message);
  process.exit(1);
}

const { values } = parseArgs({ options: { target: { type: 'string', default: here } } });
const target =
  targets[values.target] ??
  stop(`no bundle can be made for ${values.target}: choose ${Object.keys(targets).join(' or ')}`);
const foreign = values.target !== here;
if (!existsSync(join(root, 'dist', 'cli', 'main.js'))) stop('nothing is built yet: run npm run build');

// The library of another processor comes from its own compiler, and is beside this machine's.
const native = foreign ? `native-${target.architecture}` : 'native';
if (foreign) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build-native.js')], {
    stdio: 'inherit',
    env: { ...process.env, CORELLA_ARCH: target.architecture },
  });
  if (status !== 0) stop(`without its library there is no bundle for ${values.target}`);
}

rmSync(bundle, { recursive: true, force: true });
mkdirSync(app, { recursive: true });
writeFileSync(join(bundle, 'target'), `${values.target}\n`);

// The runtime, without debug symbols.
const nodeVersion = process.version.slice(1);
const runtime = foreign
  ? join(unpackPackage(`node-${values.target}`, nodeVersion), 'bin', 'node')
  : process.execPath;
copyFileSync(runtime, join(bundle, 'node'));
spawnSync(`${foreign ? target.prefix : ''}strip`, ['--strip-all', join(bundle, 'node')]);
chmodSync(join(bundle, 'node'), 0o755);
mkdirSync(join(bundle, 'lib'));
for (const path of foreign ? compilersLibraries() : librariesOf(process.execPath))
  copyFileSync(path, join(bundle, 'lib', basename(path)));

/**
 * The C++ library that a program on this machine is linked with.
 * @param {string} program
 */
function librariesOf(program) {
  const said = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...said.matchAll(/=> (\S*(?:libstdc\+\+|libgcc_s)\S*)/g)].map(([, path]) => path);
}

/** The same for another machine: from its compiler. */
function compilersLibraries() {
  return ['libstdc++.so.6', 'libgcc_s.so.1'].map((name) => {
    const said = execFileSync(`${target.prefix}g++`, [`-print-file-name=${name}`], { encoding: 'utf8' });
    if (!said.includes('/')) stop(`${name} was not found: apt install ${target.compilerPackage}`);
    return said.trim();
  });
}

// The project. Source maps and declarations are useful only with the sources.
cpSync(join(root, 'dist'), join(app, 'dist'), {
  recursive: true,
  filter: (path) => !/(?:\.map|\.d\.ts|\.tsbuildinfo|\.built)$|[/\\]dist[/\\]native(?:-\w+)*$/.test(path),
});
cpSync(join(root, 'dist', native), join(app, 'dist', 'native'), { recursive: true });
const files = ['package.json', 'LICENSE', 'CHANGELOG.md', 'README.md', 'scripts/run-tests.js'];
for (const name of [...files, 'docs', 'examples']) {
  const from = join(root, name);
  if (!existsSync(from)) continue;
  mkdirSync(dirname(join(app, name)), { recursive: true });
  cpSync(from, join(app, name), { recursive: true, filter: (path) => !path.endsWith('.png') });
}
// Tests of what only a clone has.
writeFileSync(join(app, 'left-out-tests.json'), `${JSON.stringify(leftOutTests, null, 2)}\n`);

// Production dependencies: not dev in the lock file, and suitable for the target.
/** Parts of packages that are not used at run time. */
const unread = [
  /^koffi\/(?:vendor|doc|lib|cnoke)/,
  /^koffi\/.*\.(?:cc|hh|inc|S|asm)$/,
  /^@koromix\/[^/]+\/musl_/,
  /^dejavu-fonts-ttf\/(?!package\.json|LICENSE|ttf$|ttf\/DejaVuSans(?:-Bold)?\.ttf$)/,
  /^zod\/(?:src|v3|locales)\//,
  /(?:\.map|\.d\.ts|\.d\.cts|\.d\.mts|\.md|\.markdown)$/i,
];
const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().default(''),
      dev: z.boolean().default(false),
      os: z.array(z.string()).optional(),
      cpu: z.array(z.string()).optional(),
      integrity: z.string().optional(),
    }),
  ),
});
const { packages } = lock.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
for (const [path, facts] of Object.entries(packages)) {
  if (path === '' || facts.dev) continue;
  if (facts.os && !facts.os.includes(target.platform)) continue;
  if (facts.cpu && !facts.cpu.includes(target.architecture)) continue;
  const name = path.replace(/^.*node_modules\//, '');
  const installed = join(root, path);
  if (!existsSync(installed) && !facts.cpu) stop(`${name} is not installed: npm ci`);
  const from = existsSync(installed) ? installed : unpackPackage(name, facts.version, facts.integrity);
  cpSync(from, join(app, path), {
    recursive: true,
    dereference: true,
    filter: (file) => !unread.some((pattern) => pattern.test(join(name, relative(from, file)))),
  });
}

// Third-party components, beside the command.
writeBill(bundle, values.target);

/** @param {string} script */
const launcher = (script) => `#!/bin/sh
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
if [ "$(uname -s) $(uname -m)" != "Linux ${target.machine}" ]; then
  echo "corella: this bundle is for Linux on ${target.machine} (${values.target}), and this machine is $(uname -s) on $(uname -m)" >&2
  exit 1
fi
# Prefer the machine's own C++ library: NVIDIA's libraries may want it newer than ours, and ours newer than it.
if ! "$here/node" --version >/dev/null 2>&1 || ldd "$here"/app/dist/native/*.so 2>&1 | grep -q 'not found'; then
  LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export LD_LIBRARY_PATH
fi
exec "$here/node" "$here/app/${script}" "$@"
`;
for (const [name, words] of [
  ['corella', 'dist/cli/main.js'],
  ['corella-test', 'scripts/run-tests.js'],
]) {
  writeFileSync(join(bundle, name), launcher(words));
  chmodSync(join(bundle, name), 0o755);
}

// It must start in an empty environment: no Node on the PATH, no home, another folder. For another machine, in an
// emulator if there is one.
const bare = /** @type {const} */ ({ cwd: '/', env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
if (!foreign) console.log(execFileSync(join(bundle, 'corella'), ['devices'], bare).trim());
else if (spawnSync(target.emulator, ['--version']).status === 0) {
  const words = [join(bundle, 'node'), join(app, 'dist', 'cli', 'main.js'), 'devices'];
  const said = execFileSync(target.emulator, ['-cpu', 'max', '-L', target.sysroot, ...words], {
    ...bare,
    env: { ...bare.env, QEMU_SET_ENV: `LD_LIBRARY_PATH=${join(bundle, 'lib')}` },
  });
  console.log(`in ${target.emulator}:\n${said.trim()}`);
} else console.log(`not started: apt install qemu-user brings ${target.emulator}`);

const packed = join(root, 'build', 'bundle.tar.xz');
execFileSync(
  'tar',
  ['--sort=name', '--owner=0', '--group=0', '-C', join(root, 'build'), '-cJf', packed, 'bundle'],
  {
    env: { ...process.env, XZ_OPT: '-3 -T0' },
  },
);
/** @param {string} path */
const sizeOf = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
/** @param {number} bytes */
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const packedBytes = statSync(packed).size;
console.log(
  `for ${values.target}: build/bundle ${megabytes(sizeOf(bundle))}, build/bundle.tar.xz ${megabytes(packedBytes)}`,
);
if (packedBytes > limitBytes)
  stop(`the packed bundle is over ${megabytes(limitBytes)}: leave something out (scripts/bundle.js, unread)`);
