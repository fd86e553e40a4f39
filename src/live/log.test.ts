import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { ChangeLog, readLog } from './log.js';
import type { MadeChange } from './steering.js';

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const folder = temporaryFolder('change-log');
const noGains = (): never => assert.fail('no gains were changed');

it('every line of the log has the time it was written, and logs of the version before are read', async () => {
  const path = join(folder, 'run.changes.jsonl');
  const log = ChangeLog.open(path, '1.2.3', (why) => assert.fail(why));
  const change = {
    id: 1,
    change: { recording: false },
    by: { who: 'a test', authenticated: true },
    from: { epoch: 0, spectrum: 40, at: parseInstant('2026-06-21T04:00:00Z') },
  } as unknown as MadeChange;
  log.add(change, 'made');
  log.add({ ...change, id: 2 }, 'made');
  log.add({ ...change, id: 2 }, 'cancelled');
  await log.close();
  const text = await readFile(path, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(lines.length, 4);
  for (const { at } of lines) assert.match(String(at), UTC);
  const wanted = [{ epoch: 0, spectrum: 40, change: { recording: false } }];
  assert.deepEqual(await readLog(path, noGains), wanted);
  const [head, ...changes] = text.split('\n');
  await writeFile(
    path,
    [head.replace('"at"', '"started"'), ...changes.map((line) => line.replace('"at"', '"utc"'))].join('\n'),
  );
  assert.deepEqual(await readLog(path, noGains), wanted);
});
