/**
 * A worker: one job at a time. It reports progress while it works, sends the result, waits for the server's
 * acknowledgement, and only then acknowledges the job. If it is killed before that, another worker does the job again.
 */
import type { JsMsg } from '@nats-io/jetstream';
import { checkJob, type Failure, type Job } from '../job.js';
import { encodeResult, type ResultHead } from '../result.js';
import { doJob, WrongJobError, type Workplace } from '../work.js';
import { messageOf } from '../words.js';
import { sendFailed, sendResult } from './chunks.js';
import { insist, sleep, type RetrySettings, type Queue } from './connect.js';
import { putJob } from './jobs.js';
import { nextMessage } from './pull.js';
import { answerWho, type WorkerStatus } from './status.js';
import { findWorkers, jobSubject } from './streams.js';

/** A job is set aside after this many failures. */
const MOST_FAILURES = 3;
/** Limit on deliveries of a job, for workers that die without reporting a failure. */
const MOST_DELIVERIES = 10;
/** A worker waits longer after each failure in a row: one whose disk is not mounted leaves jobs to the others. */
const WAIT_AFTER_FAILURE_MS = 500;
const MOST_WAIT_MS = 5000;

export type WorkerEvent =
  | { readonly kind: 'waiting' }
  | {
      readonly kind: 'done';
      readonly job: Job;
      readonly head: ResultHead;
      readonly sentBytes: number;
      readonly sendS: number;
      readonly delivery: number;
    }
  | {
      readonly kind: 'failed';
      readonly job: string;
      readonly failures: readonly Failure[];
      readonly isSetAside: boolean;
    };

interface WorkerSettings extends RetrySettings {
  readonly onEvent: (event: WorkerEvent) => void;
  /** Ends after this long without a job; by default never. */
  readonly untilIdleS?: number;
}

/** Workers and their server are often started together. */
const LEAST_TIMEOUT_S = 10;

/** For a worker that ends when idle: whether it has waited long enough for a server that does not answer. */
export const hasWaitedLong = (sinceMs: number, untilIdleS: number | undefined): boolean =>
  untilIdleS !== undefined && performance.now() - sinceMs > 1000 * Math.max(untilIdleS, LEAST_TIMEOUT_S);

interface WorkerAccount {
  jobs: number;
  failed: number;
  sentBytes: number;
  readBytes: number;
  /** Time on jobs; the part of it that is neither reading nor computing; and time to send results. */
  busyS: number;
  overheadS: number;
  sendS: number;
}

interface OwnAccount extends WorkerAccount {
  /** Jobs for two workers that this one has already answered. */
  readonly answered: Set<string>;
}

/** Works until it is stopped, or idle for long enough. */
export async function runWorker(
  queue: Queue,
  place: Workplace,
  settings: WorkerSettings,
): Promise<WorkerAccount> {
  const { stop, onEvent, untilIdleS } = settings;
  const account: OwnAccount = {
    answered: new Set(),
    jobs: 0,
    failed: 0,
    sentBytes: 0,
    readBytes: 0,
    busyS: 0,
    overheadS: 0,
    sendS: 0,
  };
  const begun = performance.now();
  const now: { job?: string } = {};
  const status = (): WorkerStatus => ({
    name: place.name,
    version: place.version,
    backend: place.backend.kind,
    jobs: account.jobs,
    failed: account.failed,
    upS: (performance.now() - begun) / 1000,
    busyS: account.busyS,
    readBytes: account.readBytes,
    sentBytes: account.sentBytes,
    job: now.job,
  });
  const silence = answerWho(queue, status);
  let found: Awaited<ReturnType<typeof findWorkers>>;
  let quietSince = performance.now();
  let inARow = 0;
  let hasWaited = false;
  try {
    while (stop?.aborted !== true) {
      if (untilIdleS !== undefined && performance.now() - quietSince > 1000 * untilIdleS) break;
      found ??= await insist('looking for jobs', () => findWorkers(queue, place.version), {
        ...settings,
        givesUp: () => hasWaitedLong(quietSince, untilIdleS),
      });
      if (!found) {
        if (!hasWaited) onEvent({ kind: 'waiting' });
        hasWaited = true;
        await sleep(500, stop);
        continue;
      }
      const message = await nextMessage(found.consumer, stop).catch(async () => {
        // The server has lost our consumer; the next submitter creates a new one.
        found = undefined;
        await sleep(250, stop);
        return undefined;
      });
      if (!message) continue;
      let ended: Ended;
      const beat = setInterval(
        () => {
          message.working();
        },
        (1000 * found.timeoutS) / 3,
      );
      try {
        ended = await work(queue, place, message, settings, account, now);
      } finally {
        clearInterval(beat);
        delete now.job;
      }
      quietSince = performance.now();
      // Jobs that no worker can do are not this worker's fault: many of them must not keep it from the others.
      if (ended === 'wrong') await sleep(WAIT_AFTER_FAILURE_MS, stop);
      else {
        inARow = ended === 'done' ? 0 : inARow + 1;
        if (inARow > 0) await sleep(Math.min(MOST_WAIT_MS, WAIT_AFTER_FAILURE_MS * inARow), stop);
      }
    }
  } finally {
    silence();
  }
  const { jobs, failed, sentBytes, readBytes, busyS, overheadS, sendS } = account;
  return { jobs, failed, sentBytes, readBytes, busyS, overheadS, sendS };
}

/** `failed` may succeed on another worker, or is left to one; `wrong` fails on every worker. */
type Ended = 'done' | 'failed' | 'wrong';

/** One job, whatever its outcome. */
async function work(
  queue: Queue,
  place: Workplace,
  message: JsMsg,
  settings: WorkerSettings,
  account: OwnAccount,
  now: { job?: string },
): Promise<Ended> {
  const { stop, onEvent } = settings;
  let job: Job;
  try {
    job = checkJob(message.json(), place.version, 'a message on the queue');
  } catch (error) {
    message.term();
    account.failed++;
    onEvent({
      kind: 'failed',
      job: '?',
      failures: [{ worker: place.name, error: messageOf(error) }],
      isSetAside: true,
    });
    return 'wrong';
  }
  now.job = job.id;
  const answered = `${job.plan} ${job.id}`;
  if (job.verified && (account.answered.has(answered) || job.verified.not.includes(place.name))) {
    await leave(queue, place, message, job, settings);
    return 'failed';
  }
  try {
    if (message.info.deliveryCount > MOST_DELIVERIES)
      throw new Error(`taken up ${MOST_DELIVERIES} times, and no worker lived to say why it failed`);
    const { head, body } = await doJob(job, place, stop);
    const sending = performance.now();
    const bytes = encodeResult({ head, body });
    await sendResult(queue, job.plan, head.attempt, bytes, settings);
    // Without an acknowledgement it is done again, and the ledger drops the duplicate.
    await message.ackAck().catch(() => false);
    const sendS = (performance.now() - sending) / 1000;
    account.jobs++;
    if (job.verified) account.answered.add(answered);
    account.sentBytes += bytes.length;
    account.readBytes += head.bytesRead;
    account.busyS += head.seconds;
    account.overheadS += head.overheadS;
    account.sendS += sendS;
    onEvent({
      kind: 'done',
      job,
      head,
      sentBytes: bytes.length,
      sendS,
      delivery: message.info.deliveryCount,
    });
    return 'done';
  } catch (error) {
    if (stop?.aborted === true) {
      message.nak();
      throw error;
    }
    account.failed++;
    await fail(queue, place, message, job, error, settings);
    return error instanceof WrongJobError ? 'wrong' : 'failed';
  }
}

/** Leaves the job to another worker, which checks this one's result. */
async function leave(
  queue: Queue,
  place: Workplace,
  message: JsMsg,
  job: Job,
  settings: WorkerSettings,
): Promise<void> {
  const not = [...new Set([...(job.verified?.not ?? []), place.name])];
  const subject = jobSubject({ version: job.version, id: job.plan });
  await putJob(queue, subject, { ...job, verified: { not } }, settings);
  await message.ackAck().catch(() => false);
}

/** Puts the job back onto the queue with its failure, or sets it aside after the third. */
async function fail(
  queue: Queue,
  place: Workplace,
  message: JsMsg,
  job: Job,
  error: unknown,
  settings: WorkerSettings,
): Promise<void> {
  const failures = [...job.failures, { worker: place.name, error: messageOf(error) }];
  const isSetAside =
    error instanceof WrongJobError ||
    failures.length >= MOST_FAILURES ||
    message.info.deliveryCount > MOST_DELIVERIES;
  settings.onEvent({ kind: 'failed', job: job.id, failures, isSetAside });
  if (isSetAside) await sendFailed(queue, job.plan, { job: job.id, failures }, settings);
  else
    await putJob(queue, jobSubject({ version: job.version, id: job.plan }), { ...job, failures }, settings);
  await message.ackAck().catch(() => false);
}
