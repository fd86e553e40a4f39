// npm run check: builds with types, all levels and warnings as errors; then, two at a time, types of the scripts, lint,
// references, import directions and formats. What each prints comes when it ends; all of them run whatever fails.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
if (spawnSync('node', ['scripts/build.js', '--strict'], { cwd: root, stdio: 'inherit' }).status !== 0)
  process.exit(1);

/** The longest first. */
const queue = [
  'npm run --silent lint',
  'npx tsc -p scripts',
  'npm run --silent format:check',
  'node scripts/api-reference.js --check',
  'node scripts/observation-schema.js --check',
  'node scripts/options-reference.js --check',
  'node scripts/json-reference.js --check',
  'node scripts/check-imports.js',
];
/** @type {string[]} */
const failed = [];
const worker = async () => {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const child = spawn('bash', ['-c', next], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (/** @type {Buffer} */ data) => (text += String(data)));
    /** @type {number | null} */
    const code = await new Promise((resolve) => child.once('close', resolve));
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${next}\n${text.trimEnd()}`.trimEnd());
    if (code !== 0) failed.push(next);
  }
};
await Promise.all([worker(), worker()]);
for (const one of failed) console.error(`failed: ${one}`);
process.exitCode = failed.length === 0 ? 0 : 1;
