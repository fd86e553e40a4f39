// .ci/run: the steps of CI, in order; those of one line run two at a time, since they wait. Each prints its seconds and
// CPU seconds beside those of .ci/seconds-ARCH.json: a step that takes 1.5 times as much CPU time is a warning, one that
// takes 4 times as much has failed. A step that fails does not stop the others, but for npm ci.
//   node scripts/ci.js WORD…      those with a word in their command
//   node scripts/ci.js --record   writes the CPU seconds of what passes into the list
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const MORE = 1.5;
const MOST = 4;
/** Below this a step's CPU time says nothing. */
const LEAST_S = 10;

const products = ['voltages.sigmf-meta', 'voltages.sigmf-data', 'visibilities.uvfits', 'visibilities.uvh5', 'gains.json', 'gains.calh5', 'image.fits', 'image.png', 'direct.fits', 'direct.png', 'summary.json']; // prettier-ignore

/** What a newcomer would do on a clean clone: the README's own commands, then every check, always all of them. */
const plan = [
  ['npm ci'],
  ['npm start'],
  ['npm run check'],
  ['npm test'],
  ['npm run test:acceptance'],
  ['npm run test:nodes'], // Node 22 and 24: npm start, and one test file of each module
  // Every command line of every page; docs/live.md takes over a minute more: npm run test:docs
  ['npm run test:docs -- --without live'],
  [
    'npm run test:clients -- --debian', // what Debian's astropy, h5py, casacore and WSClean read of ours
    'npm run test:python', // arrays beside astropy and h5py; notebooks where Jupyter is installed
    'npm run test:farm -- --seeds 2', // twenty seeds take a quarter of an hour more: npm run test:farm
    'npm run test:kill -- --kills 1', // twenty: npm run test:kill
    'npm run test:bad-luck',
    'npm run fuzz -- --inputs 150',
    'npm run fuzz:packets -- --packets 3000',
  ],
  ['npm run test:hostile -- --seconds 60'], // ten minutes by default; measures losses, so alone
  ['npm run test:sanitize -- cpu --unless-passed'], // ThreadSanitizer takes three minutes more: npm run test:sanitize
  ['npm run check:cuda -- --short --unless-passed'], // every plan for every card takes over a minute more
  ['npm run test:machines -- --unless-passed'],
];

const words = process.argv.slice(2).filter((word) => word !== '--record');
const chosen = plan
  .map((commands) => commands.filter((one) => words.length === 0 || words.some((word) => one.includes(word))))
  .filter((commands) => commands.length > 0);

const list = join(root, '.ci', `seconds-${process.arch}.json`);
const expected = readList();
/** @type {Record<string, number>} */
const taken = {};
/** @type {string[]} */
const failed = [];
const notes = missingTools();
const counts = { passed: 0, failed: 0, skipped: 0 };
const scratch = mkdtempSync(join(tmpdir(), 'corella-ci-'));
process.once('exit', () => {
  rmSync(scratch, { recursive: true, force: true });
});
// Not by two steps at once.
if (words.length > 0)
  spawnSync(process.execPath, [join(root, 'scripts', 'build.js'), '--test'], { stdio: 'inherit' });
for (const commands of chosen) {
  const queue = [...commands];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      await step(next, commands.length > 1);
  };
  await Promise.all([worker(), worker()]);
  if (failed.some((one) => one.startsWith('npm ci:'))) break;
}
if (process.argv.includes('--record'))
  writeFileSync(list, `${JSON.stringify({ ...expected, ...taken }, null, 2)}\n`);
for (const note of notes) console.log(note);
for (const command of failed) console.log(`FAILED: ${command}`);
console.log(`== ${failed.length === 0 ? 'all passed' : `${failed.length} failed`} (${sinceStart()} s)`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** @returns {Record<string, number | undefined>} */
function readList() {
  /** @type {unknown} */
  const read = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : {};
  return /** @type {Record<string, number | undefined>} */ (read);
}

function sinceStart() {
  return (performance.now() / 1000).toFixed(0);
}

/**
 * Runs one step. Of steps that share the machine the output is printed when they end.
 * @param {string} command
 * @param {boolean} shared
 */
async function step(command, shared) {
  console.log(`\n== ${command} (${sinceStart()} s)`);
  const times = join(scratch, command.replaceAll(/\W+/g, '-'));
  // Bash counts a command's processes; its line goes to a file of its own.
  const timed = `TIMEFORMAT='%R %U %S'; { time ${command} 2>&3; } 3>&2 2>'${times}'`;
  const child = spawn('bash', ['-c', timed], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (/** @type {Buffer} */ data) => {
      text += String(data);
      if (!shared) process.stdout.write(data);
    });
  /** @type {number | null} */
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (shared) console.log(`\n-- ${command}\n${text.trimEnd()}`);
  const closing = [...text.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1);
  counts.passed += Number(closing?.[1] ?? 0);
  counts.failed += Number(closing?.[2] ?? 0);
  counts.skipped += Number(closing?.[3] ?? 0);
  const [wallS, userS, systemS] = readFileSync(times, 'utf8').trim().split('\n').at(-1)?.split(' ').map(Number) ?? []; // prettier-ignore
  const cpuS = Math.round(userS + systemS);
  const usual = expected[command];
  const beside = usual === undefined ? '' : ` (usually ${usual})`;
  console.log(`-- ${command}: ${wallS.toFixed(0)} s, ${cpuS} s of CPU time${beside}`);
  const problem = code === 0 ? productsMissing(command) : `exit code ${code}`;
  if (problem !== undefined) failed.push(`${command}: ${problem}`);
  // A stamp shortens a check to nothing: its whole time is the one to compare with.
  else taken[command] = command.includes('--unless-passed') ? Math.max(cpuS, usual ?? 0) : cpuS;
  if (usual === undefined || cpuS < LEAST_S) return;
  const ratio = (cpuS / usual).toFixed(1);
  if (cpuS > MOST * usual) failed.push(`${command}: ${ratio} times its usual CPU time`);
  else if (cpuS > MORE * usual) notes.push(`SLOW: ${command}: ${ratio} times its usual CPU time`);
}

/** @param {string} command */
function productsMissing(command) {
  if (command !== 'npm start') return undefined;
  const lost = products.filter((name) => !(statSync(join(root, 'first-light', name), { throwIfNoEntry: false })?.size)); // prettier-ignore
  return lost.length === 0 ? undefined : `it did not write first-light/${lost.join(', ')}`;
}

/** Installs tools where that is possible; the lines for what then lacks one. */
function missingTools() {
  process.env.PATH = `${process.env.PATH ?? ''}:/usr/sbin`;
  // All levels are compiled at once by npm ci, for every step; npm run check refuses the compiler's warnings.
  process.env.CORELLA_LEVELS ??= 'all';
  /** @param {string} line */
  const runs = (line) => spawnSync('bash', ['-c', line], { stdio: 'ignore' }).status === 0;
  const other = process.arch === 'x64' ? 'aarch64' : 'x86_64';
  /** Command, Debian's package (- if it is not installed here), and what needs it. @type {[string, string, string][]} */
  const tools = [
    ['clang-format', 'clang-format', 'the format of C++ and CUDA'],
    ['chromium', 'chromium', 'the page in a browser'],
    ['nats-server', 'nats-server', 'test:farm'],
    ['nvcc', '-', 'check:cuda'],
    ['qemu-x86_64', 'qemu-user', 'test:machines on other processors'],
    [`${other}-linux-gnu-g++`, '-', `test:machines on ${other}`],
  ];
  const lines = tools.flatMap(([command, packaged, what]) => {
    if (!runs(`command -v ${command}`) && packaged !== '-')
      runs(`apt-get update && apt-get install -y ${packaged}`);
    return runs(`command -v ${command}`) ? [] : [`NOT CHECKED: ${what}: no ${command}`];
  });
  const hasPython = runs("/usr/bin/python3 -c 'import astropy, h5py'");
  return hasPython ? lines : [...lines, "NOT CHECKED: parts of test:clients: no astropy or h5py of Debian's"];
}
