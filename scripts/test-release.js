// Installs the tarballs of npm run packages into an empty folder, on a PATH without a compiler, as a user would:
// npm run test:release. `corella devices` must list the cpu backend, and first light must run. Prints the CPU time of
// both. Needs npm's registry, for the dependencies.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { here } from './targets.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const release = join(root, 'build', 'release');
execFileSync(process.execPath, [join(root, 'scripts', 'packages.js'), '--target', here], {
  stdio: 'inherit',
});
const tarballs = readdirSync(release).filter((name) => name.endsWith('.tgz'));

const packingS = childrenS();
const folder = mkdtempSync(join(tmpdir(), 'corella-release-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
const tools = join(folder, 'tools');
const empty = join(folder, 'empty');
for (const one of [tools, empty]) mkdirSync(one);
const path = (process.env.PATH ?? '').split(delimiter);
for (const name of ['node', 'npm', 'sh', 'env', 'uname', 'ldd']) {
  const found = path.map((one) => join(one, name)).find((one) => existsSync(one));
  if (found !== undefined) symlinkSync(found, join(tools, name));
}

/** User and system time of all ended children, in seconds: fields 16 and 17 of proc(5)'s stat, in clock ticks. */
function childrenS() {
  const after = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(after[13]) + Number(after[14])) / 100;
}

/**
 * @param {string} program
 * @param {readonly string[]} words
 */
function run(program, words) {
  const before = childrenS();
  const env = { ...process.env, PATH: tools, npm_config_cache: join(folder, 'cache') };
  const ran = spawnSync(join(tools, '..', program), words, { cwd: empty, env, encoding: 'utf8' });
  console.log(`${program.split('/').at(-1)} ${words[0]}: ${(childrenS() - before).toFixed(1)} s of CPU`);
  if (ran.status === 0) return ran.stdout;
  console.error(`${ran.stdout}${ran.stderr}`);
  throw new Error(`${program} ${words.join(' ')} failed`);
}

const corella = 'empty/node_modules/.bin/corella';
run('tools/npm', ['install', '--no-audit', '--no-fund', ...tarballs.map((name) => join(release, name))]);
const devices = run(corella, ['devices']);
console.log(devices.trim());
if (!/^[➤✓] cpu /m.test(devices)) throw new Error('corella devices shows no cpu backend');
run(corella, ['demo']);
if (!existsSync(join(empty, 'first-light', 'image.png'))) throw new Error('corella demo made no image');
console.log(`install, devices and demo: ${(childrenS() - packingS).toFixed(1)} s of CPU`);
