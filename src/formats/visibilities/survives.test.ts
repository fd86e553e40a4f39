/** Finished data survive any end of the writer: kill -9 during any write, a full disk. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { randomStream } from '../../core/random.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { findPartialFiles } from '../io/partial-files.js';
import { visibilityFormatFor } from '../registry.js';
import { wideHeader as header, wideIntegration as integration } from './uvh5/testing.js';

const folder = temporaryFolder('survives');
const INTEGRATIONS = 6;
const NAMES = ['v.uvfits', 'v.uvh5'] as const;
/** The number of writes in an undisturbed run. */
const writesOfARun = async (name: string): Promise<number> => {
  const home = await mkdtemp(join(folder, 'counted-'));
  const { said } = await runOf(script(home, { name, at: 0, part: 0, then: 'kill' }));
  await rm(home, { recursive: true });
  return Number(said[said.length - 1].replace('writes ', ''));
};

/** The file of `count` integrations from an undisturbed writer. */
async function wholeFile(name: string, count: number): Promise<Buffer> {
  const home = await mkdtemp(join(folder, 'whole-'));
  const path = join(home, name);
  const writer = await visibilityFormatFor(path).createVisibilities(path, header);
  for (let k = 0; k < count; k++) await writer.append(integration(k));
  await writer.finish();
  const bytes = readFileSync(path);
  await rm(home, { recursive: true });
  return bytes;
}

/**
 * Writes integration by integration, and reports each when finished; at the chosen write it does only a part, and then
 * either is killed by SIGKILL or gets a disk-full error.
 */
const script = (
  home: string,
  {
    name,
    at,
    part,
    then,
  }: { readonly name: string; readonly at: number; readonly part: number; readonly then: 'kill' | 'full' },
): string => `
  import { open } from 'node:fs/promises';
  import { writeSync, ftruncateSync } from 'node:fs';
  import { visibilityFormatFor } from ${JSON.stringify(new URL('../registry.js', import.meta.url).href)};
  import { wideHeader as header, wideIntegration as integration } from ${JSON.stringify(new URL('./uvh5/testing.js', import.meta.url).href)};
  const probe = await open('/dev/null');
  const prototype = Object.getPrototypeOf(probe);
  await probe.close();
  let writes = 0;
  let isFull = false;
  const { write } = prototype;
  prototype.write = async function (bytes, offset, length, position) {
    if (++writes === ${at}) {
      const some = Math.floor(length * ${part});
      if (some > 0) writeSync(this.fd, bytes, offset, some, position);
      if (${JSON.stringify(then)} === 'kill') process.kill(process.pid, 'SIGKILL');
      isFull = true;
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    }
    if (isFull && position + length > (await this.stat()).size)
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return write.call(this, bytes, offset, length, position);
  };
  const path = ${JSON.stringify(join(home, name))};
  const writer = await visibilityFormatFor(path).createVisibilities(path, header);
  for (let k = 0; k < ${INTEGRATIONS}; k++)
    try {
      await writer.append(integration(k));
      writeSync(1, 'finished\\n');
    } catch (error) {
      if (error.cause?.code !== 'ENOSPC') throw error;
      writeSync(1, 'kept ' + (await writer.keep()) + '\\n');
      process.exit(0);
    }
  writeSync(1, 'writes ' + writes + '\\n');
  process.exit(0);`;

async function runOf(
  text: string,
): Promise<{ readonly said: string[]; readonly by: number | string | null }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text], {
    // A killed process removes nothing: its temporary files are deleted with this test's folder.
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data: Buffer) => (said += data.toString()));
  const by = await new Promise<number | string | null>((resolve) => {
    child.on('close', (code, signal) => {
      resolve(signal ?? code);
    });
  });
  return { said: said.split('\n').filter((line) => line !== ''), by };
}

describe('visibilities survive', () => {
  for (const [name, trials] of [
    ['v.uvfits', 20],
    ['v.uvh5', 10],
  ] as const)
    it(`kill -9 in the middle of a write, at ${trials} moments: every finished integration of ${name} is recovered, byte for byte`, async () => {
      const random = randomStream(17, 'kill', trials);
      const writes = await writesOfARun(name);
      let recovered = 0;
      for (let trial = 0; trial < trials; trial++) {
        const home = await mkdtemp(join(folder, 'killed-'));
        const at = 1 + random.below(writes);
        const run = await runOf(script(home, { name, at, part: random.below(1000) / 1000, then: 'kill' }));
        assert.equal(run.by, 'SIGKILL', `write ${at} was never reached`);
        const finished = run.said.filter((line) => line === 'finished').length;
        const [left] = await findPartialFiles(home, join(home, name));
        const count = await visibilityFormatFor(name).repair(left.path);
        // The last integration may have been finished before it could be reported.
        assert.ok(count === finished || count === finished + 1, `${count} of ${finished}, at ${at}`);
        recovered += count;
        if (count > 0) assert.ok(readFileSync(left.path).equals(await wholeFile(name, count)), `at ${at}`);
        await rm(home, { recursive: true });
      }
      assert.ok(recovered > trials, `only ${recovered} integrations were at stake`);
    });

  for (const name of NAMES)
    it(`a full disk: what was finished of ${name} is the file, under its own name`, async () => {
      const random = randomStream(17, 'full');
      const writes = await writesOfARun(name);
      for (let trial = 0; trial < 3; trial++) {
        const home = await mkdtemp(join(folder, 'full-'));
        const at = 1 + Math.floor(writes / 3) + random.below(Math.floor(writes / 2));
        const run = await runOf(script(home, { name, at, part: random.below(1000) / 1000, then: 'full' }));
        assert.equal(run.by, 0);
        const finished = run.said.filter((line) => line === 'finished').length;
        assert.ok(run.said.includes(`kept ${finished}`), run.said.join());
        assert.ok(readFileSync(join(home, name)).equals(await wholeFile(name, finished)), name);
        assert.deepEqual(readdirSync(home), [name]);
        await rm(home, { recursive: true });
      }
    });

  it('one that grows under its own name is there from its first integration on', async () => {
    for (const name of NAMES) {
      const path = join(folder, name);
      const writer = await visibilityFormatFor(path).createVisibilities(path, header, {
        appears: 'first-integration',
      });
      await writer.append(integration(0));
      assert.ok(readFileSync(path).equals(await wholeFile(name, 1)));
      await writer.append(integration(1));
      assert.ok(readFileSync(path).equals(await wholeFile(name, 2)));
      await writer.finish();
      assert.ok(readFileSync(path).equals(await wholeFile(name, 2)));
    }
  });
});
