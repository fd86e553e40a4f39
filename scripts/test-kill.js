// kill -9 at random moments of a running observation: 16 stations on the cpu, an integration every 200 ms, a new file
// every 2 s. Every finished integration must be readable: directly, or after `corella recover` if the kill interrupted
// a write. --kills N (20 by default), --seed N.
import { mkdtempSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFile } from '../dist/formats/index.js';
import { randomStream } from '../dist/core/random.js';
import { corella, option, startCorella } from './processes.js';

const kills = Number(option('kills', '20'));
const random = randomStream(Number(option('seed', '1')), 'kills');
const PORT = 4871;

const folder = mkdtempSync(join(tmpdir(), 'corella-kill-'));
await corella(folder, ...'simulate --stations 16 --rate 400kHz --duration 1s --perfect -o sky'.split(' '));
const sending = `send sky.sigmf-meta --format chips --channels 16 --to 127.0.0.1:${PORT} --loop --restamp`;
const sender = startCorella(folder, sending.split(' '));

/**
 * Integrations in a file, and whether their times are continuous; undefined if it cannot be read.
 * @param {string} path
 */
async function read(path) {
  try {
    const file = await openFile(path);
    try {
      if (file.kind !== 'visibilities') return undefined;
      let [count, last] = [0, -Infinity];
      for await (const { start, visibilities } of file.integrations()) {
        const now = start.unixSeconds + start.fraction;
        if (!(now > last) || !visibilities.every(Number.isFinite)) return undefined;
        last = now;
        count++;
      }
      return count;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** @param {string} place */
async function readAll(place) {
  const names = readdirSync(place).filter((name) => name.endsWith('.uvh5') && !name.startsWith('.'));
  const counts = [];
  for (const name of names) counts.push(await read(join(place, name)));
  return { files: names.length, unreadable: counts.filter((n) => n === undefined).length, integrations: counts.reduce((sum, n) => (sum ?? 0) + (n ?? 0), 0) ?? 0 }; // prettier-ignore
}

console.log('kill  after    finished  files  readable at once  after recover');
let bad = 0;
for (let kill = 1; kill <= kills; kill++) {
  const place = join(folder, String(kill));
  mkdirSync(place);
  const words =
    `live --listen ${PORT} --telescope lwasv --stations 16 --epoch clock --backend cpu --integration 200ms ` +
    '-o run.uvh5 --file-every 2s --json';
  let reported = 0;
  const waitS = 4 * random.uniform();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const run = startCorella(place, words.split(' '), () => {
    reported = run.text().match(/^\{"event":"integration".*\n/gm)?.length ?? 0;
    // So that some integrations are finished.
    if (reported >= 2) timer ??= setTimeout(() => void run.kill(), 1000 * waitS);
  });
  await run.ended;
  clearTimeout(timer);
  // Each is reported before it is written: all but the last were written when the next was reported.
  const finished = reported - 1;
  const before = await readAll(place);
  if (before.unreadable > 0) await corella(folder, 'recover', place);
  const after = before.unreadable > 0 ? await readAll(place) : before;
  const isLost = reported === 0 || after.integrations < finished || after.unreadable > 0;
  if (isLost) bad++;
  const row = [
    String(kill).padStart(4),
    `${waitS.toFixed(3)} s`.padStart(8),
    String(finished).padStart(9),
    String(before.files).padStart(6),
    String(before.integrations).padStart(17),
    (before.unreadable > 0 ? String(after.integrations) : '–').padStart(14),
  ];
  console.log(row.join('  ') + (isLost ? `   LOST ${run.errors()}` : ''));
  rmSync(place, { recursive: true });
}
await sender.kill('SIGINT');
rmSync(folder, { recursive: true });
console.log(
  bad === 0 ? `${kills} kills, every finished integration readable` : `${bad} of ${kills} lost something`,
);
process.exit(bad === 0 ? 0 : 1);
