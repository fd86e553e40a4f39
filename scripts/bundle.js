// Makes build/bundle/: everything Corella needs on a bare Linux machine, with no Node and no network there.
//   node             the runtime that runs this script
//   lib/             its C++ library, used only where the machine has none that suits
//   app/             the compiled project with its tests, the CPU library, and production dependencies
//   corella          the command
//   corella-test     the tests: corella-test [WORD …]
// and build/bundle.tar.xz, the same packed. Run `npm run build` first.
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

const root = fileURLToPath(new URL('..', import.meta.url));
const bundle = join(root, 'build', 'bundle');
const app = join(bundle, 'app');
const limitBytes = 50e6;

if (!existsSync(join(root, 'dist', 'cli', 'main.js'))) {
  console.error('nothing is built yet: run npm run build');
  process.exit(1);
}
rmSync(bundle, { recursive: true, force: true });
mkdirSync(app, { recursive: true });

// The runtime, without the symbols that only a debugger reads.
copyFileSync(process.execPath, join(bundle, 'node'));
spawnSync('strip', ['--strip-all', join(bundle, 'node')]);
chmodSync(join(bundle, 'node'), 0o755);
mkdirSync(join(bundle, 'lib'));
for (const line of execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).split('\n')) {
  const found = /=> (\S*(?:libstdc\+\+|libgcc_s)\S*)/.exec(line);
  if (found) copyFileSync(found[1], join(bundle, 'lib', basename(found[1])));
}

// The project. Source maps and declarations are for those who have the sources.
cpSync(join(root, 'dist'), join(app, 'dist'), {
  recursive: true,
  filter: (path) => !/(\.map|\.d\.ts|\.tsbuildinfo|native-sanitize)$/.test(path),
});
for (const name of ['package.json', 'LICENSE', 'CHANGELOG.md', 'README.md', 'scripts/run-tests.js']) {
  const from = join(root, name);
  if (!existsSync(from)) continue;
  mkdirSync(dirname(join(app, name)), { recursive: true });
  copyFileSync(from, join(app, name));
}

// Production dependencies: what the lock file does not call dev, and what is installed here for this platform.
/** Parts of packages that nothing here reads at run time. */
const unread = [
  /^koffi\/(?:vendor|doc|lib|cnoke)/,
  /^koffi\/.*\.(?:cc|hh|inc|S|asm)$/,
  /^dejavu-fonts-ttf\/(?!package\.json|LICENSE|ttf$|ttf\/DejaVuSans(?:-Bold)?\.ttf$)/,
  /^zod\/(?:src|v3|locales)\//,
  /(?:\.map|\.d\.ts|\.d\.cts|\.d\.mts|\.md|\.markdown)$/i,
];
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
for (const [path, facts] of Object.entries(lock.packages)) {
  if (path === '' || facts.dev || !existsSync(join(root, path))) continue;
  const from = join(root, path);
  cpSync(from, join(app, path), {
    recursive: true,
    dereference: true,
    filter: (file) => !unread.some((pattern) => pattern.test(relative(join(root, 'node_modules'), file))),
  });
}

const launcher = (words) => `#!/bin/sh
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
# Prefer the machine's own C++ library: NVIDIA's libraries may want it newer than ours.
if ! "$here/node" --version >/dev/null 2>&1; then
  LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export LD_LIBRARY_PATH
fi
exec "$here/node" "$here/app/${words}" "$@"
`;
for (const [name, words] of [
  ['corella', 'dist/cli/main.js'],
  ['corella-test', 'scripts/run-tests.js'],
]) {
  writeFileSync(join(bundle, name), launcher(words));
  chmodSync(join(bundle, name), 0o755);
}

// It must start with nothing around it: no Node on the PATH, no home, another folder.
const said = execFileSync(join(bundle, 'corella'), ['devices'], {
  cwd: '/',
  env: { PATH: '/usr/bin:/bin' },
  encoding: 'utf8',
});
console.log(said.trim());

const packed = join(root, 'build', 'bundle.tar.xz');
execFileSync(
  'tar',
  ['--sort=name', '--owner=0', '--group=0', '-C', join(root, 'build'), '-cJf', packed, 'bundle'],
  {
    env: { ...process.env, XZ_OPT: '-3 -T0' },
  },
);
const sizeOf = (path) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const packedBytes = statSync(packed).size;
console.log(`build/bundle ${megabytes(sizeOf(bundle))}, build/bundle.tar.xz ${megabytes(packedBytes)}`);
if (packedBytes > limitBytes) {
  console.error(
    `the packed bundle is over ${megabytes(limitBytes)}: leave something out (scripts/bundle.js, unread)`,
  );
  process.exit(1);
}
