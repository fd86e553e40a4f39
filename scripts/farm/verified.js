// farm submit --verify over a real queue: a worker with wrong numbers and matching checksums, beside two correct ones.
// Two workers do every job; the product must be that of one process, and the wrong worker be named.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openBackend } from '../../dist/backend/select.js';
import { connectQueue } from '../../dist/farm/index.js';
import { checkJob } from '../../dist/farm/job.js';
import { sendResult } from '../../dist/farm/queue/chunks.js';
import { nextMessage } from '../../dist/farm/queue/pull.js';
import { findWorkers } from '../../dist/farm/queue/streams.js';
import { checksumOf, encodeResult } from '../../dist/farm/result.js';
import { doJob } from '../../dist/farm/work.js';
import { corella, sleep } from '../processes.js';
import { openFarm } from './processes.js';

const WRONG_JOBS = 3;
const MOST_MS = 180_000;

/** Does some jobs, each with one wrong number. @param {string} server @param {string} root @param {string} version */
async function answerWrongly(server, root, version) {
  const queue = await connectQueue({ server }, 'wrong', { waits: true });
  const backend = await openBackend('reference');
  const place = { name: 'wrong', version, backend, roots: [root] };
  const answered = new Set();
  while (answered.size < WRONG_JOBS) {
    const found = await findWorkers(queue, version);
    const message = found && (await nextMessage(found.consumer));
    if (!message) continue;
    const job = checkJob(message.json(), version, 'a job');
    if (answered.has(job.id)) {
      // Another worker must do its second copy.
      message.nak(5000);
      continue;
    }
    const { head, body } = await doJob(job, place);
    body[8] ^= 0x40;
    await sendResult(queue, job.plan, head.attempt, encodeResult({ head: { ...head, sha256: checksumOf(head, body) }, body }), {}); // prettier-ignore
    await message.ackAck();
    answered.add(job.id);
  }
  await queue.close();
  await backend.close();
}

/**
 * @param {string} folder
 * @param {{ how: string, version: string, contents: (path: string) => Promise<string> }} of
 */
export async function verified(folder, { how, version, contents }) {
  const place = join(folder, 'verified');
  mkdirSync(place);
  // Long enough for the third answer: without one, jobs with different answers are set aside.
  const farm = await openFarm(place, { backend: 'reference', timeout: '60s' });
  try {
    const submit = `farm submit correlate ../sky.sigmf-meta ${how} -o farm.uvh5 --job-time 250ms --verify 1/1`;
    await corella(place, ...submit.split(' '), '--server', farm.url, '--timeout', '60s');
    await answerWrongly(farm.url, folder, version);
    for (const name of ['a', 'b']) farm.startWorker(name);
    farm.startCollector();
    const collector = farm.collector();
    const code = await Promise.race([collector?.ended, sleep(MOST_MS).then(() => 'not in time')]);
    if (code !== 0) throw new Error(`farm collect ended with ${code}: ${collector?.errors() ?? ''}`);
    const isSame = (await contents(join(place, 'farm.uvh5'))) === (await contents(join(folder, 'one.uvh5')));
    const { wrongWorkers } = z
      .object({ wrongWorkers: z.record(z.string(), z.number()) })
      .parse(JSON.parse(collector?.text() ?? ''));
    const isRight = isSame && JSON.stringify(wrongWorkers) === `{"wrong":${WRONG_JOBS}}`;
    console.log(
      isRight
        ? `--verify 1/1: ${WRONG_JOBS} of ${WRONG_JOBS} wrong results were found, their worker named, and the product is that of one process`
        : `--verify: NO: ${isSame} ${JSON.stringify(wrongWorkers)} ${collector?.errors() ?? ''}`,
    );
    return isRight;
  } finally {
    await farm.end();
  }
}
