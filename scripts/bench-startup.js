// Startup time of corella, in CPU time (user and system) relative to that of `node -e 0`, run alternately: npm run
// bench:startup. `-- --runs 20 --only correlate,live` for more runs, or some commands. Fails above the limits.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commands } from '../dist/cli/commands.js';

const LIMITS = { version: 2.5, help: 4 };
const main = new URL('../dist/cli/main.js', import.meta.url).pathname;
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20' }, only: { type: 'string' } },
});
const only = values.only?.split(',');
const names = Object.keys(commands).filter((name) => !only || only.includes(name));
const subjects = [
  { name: 'node -e 0', words: ['-e', '0'], limit: Infinity },
  { name: 'corella --version', words: [main, '--version'], limit: LIMITS.version },
  { name: 'corella --help', words: [main, '--help'], limit: LIMITS.version },
  ...names.map((name) => ({
    name: `corella ${name} --help`,
    words: [main, name, '--help'],
    limit: LIMITS.help,
  })),
];

const folder = mkdtempSync(join(tmpdir(), 'corella-startup-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
// Of the whole process until its end, in microseconds.
const hook = join(folder, 'usage.cjs');
writeFileSync(
  hook,
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); require('node:fs').writeSync(3, String(user + system)); });",
);

/** @type {number[][]} */
const times = subjects.map(() => []);
for (let run = 0; run < Number(values.runs); run++)
  for (const [k, { words }] of subjects.entries()) times[k].push(await cpuMs(words));

const medians = times.map((all) => all.sort((x, y) => x - y)[Math.floor(all.length / 2)]);
for (const [k, { name, limit }] of subjects.entries()) {
  const ratio = medians[k] / medians[0];
  const isOver = ratio > limit;
  if (isOver) process.exitCode = 1;
  console.log(
    `${name.padEnd(28)} ${medians[k].toFixed(0).padStart(5)} ms  ${ratio.toFixed(2).padStart(5)} ×${isOver ? `  above ${limit}` : ''}`,
  );
}

/**
 * @param {readonly string[]} words
 * @returns {Promise<number>}
 */
function cpuMs(words) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--require', hook, ...words], {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    });
    let text = '';
    child.stdio[3]?.on('data', (data) => (text += String(data)));
    child.on('error', reject);
    child.on('close', () => {
      resolve(Number(text) / 1000);
    });
  });
}
