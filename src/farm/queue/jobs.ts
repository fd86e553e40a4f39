/** Puts jobs onto the queue. */
import { randomUUID } from 'node:crypto';
import { refuse } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import type { FarmPlan, Job } from '../job.js';
import { insist, type RetrySettings, type Queue } from './connect.js';
import { ensureStreams, ensureWorkers, jobSubject, JOBS } from './streams.js';

/** Unacknowledged at the same time. */
const WINDOW = 64;

/**
 * Puts jobs on the queue, replacing this plan's jobs there: resubmitting never doubles them, and a job that the server
 * has lost comes back. A worker that is doing one of them continues, and its result counts.
 */
export async function putJobs(
  queue: Queue,
  plan: FarmPlan,
  jobs: readonly Job[],
  { timeoutS, ...retry }: RetrySettings & { readonly timeoutS: number },
): Promise<void> {
  const subject = jobSubject(plan);
  await insist(
    'preparing the queue',
    async () => {
      const manager = await queue.manager();
      await ensureStreams(manager);
      await ensureWorkers(manager, plan.version, timeoutS);
      await manager.streams.purge(JOBS, { filter: subject });
    },
    retry,
  );
  for (let first = 0; first < jobs.length; first += WINDOW)
    await Promise.all(jobs.slice(first, first + WINDOW).map((job) => putJob(queue, subject, job, retry)));
}

/** One job, sent under one message ID until the server has it. */
export async function putJob(queue: Queue, subject: string, job: Job, retry: RetrySettings): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(job));
  const most = queue.connection.info?.max_payload ?? 2 ** 20;
  if (bytes.length > most - 1024)
    refuse(
      job.plan,
      `a job of ${formatBytes(bytes.length)} is more than the server takes (${formatBytes(most)})`,
      'raise max_payload in its configuration; gains.file, or front.coefficients of a filter, take the room',
    );
  const msgID = randomUUID();
  await insist('putting a job on the queue', () => queue.js.publish(subject, bytes, { msgID }), retry);
}
