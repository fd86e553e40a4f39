/** The workers, and the jobs and results that wait. */
import { z } from 'zod';
import type { FarmPlan } from '../job.js';
import { onJson, onMessage, sleep, type Queue } from './connect.js';
import { nats } from './nats.js';
import { inHand, jobSubject, JOBS, RESULTS, resultSubject, waitingOn } from './streams.js';

const statusSchema = z.object({
  name: z.string(),
  version: z.string(),
  backend: z.string(),
  job: z.string().exactOptional(),
  jobs: z.number(),
  failed: z.number(),
  upS: z.number(),
  busyS: z.number(),
  readBytes: z.number(),
  sentBytes: z.number(),
});
/** A worker's description of itself. */
export type WorkerStatus = z.infer<typeof statusSchema>;

const WHO = 'corella.farm.who';

/** Answers requests for workers; returns the function that stops it. */
export const answerWho = (queue: Queue, status: () => WorkerStatus): (() => void) =>
  onMessage(queue, WHO, (message) => {
    message.respond(JSON.stringify(status()));
  });

/** All that answer within a moment; a worker that computes on its own thread may miss the request. */
async function askWorkers(queue: Queue): Promise<WorkerStatus[]> {
  const answers: WorkerStatus[] = [];
  const inbox = nats().createInbox();
  const end = onJson(queue, inbox, statusSchema, (answer) => answers.push(answer));
  queue.connection.publish(WHO, '', { reply: inbox });
  await sleep(1000);
  end();
  return answers.sort((x, y) => x.name.localeCompare(y.name));
}

interface QueueStatus {
  /** On the queue, including those that workers are doing. */
  readonly jobs: number;
  readonly taken: number;
  /** Result messages that no collector has acknowledged. */
  readonly resultMessages: number;
  readonly workers: readonly WorkerStatus[];
}

/** Status of one plan; zero if the server does not know the plan. */
export async function queueStatus(queue: Queue, plan: FarmPlan): Promise<QueueStatus> {
  const manager = await queue.manager();
  const none = (): number => 0;
  const [jobs, resultMessages, hand, workers] = await Promise.all([
    waitingOn(manager, JOBS, jobSubject(plan)).catch(none),
    waitingOn(manager, RESULTS, resultSubject(plan.id)).catch(none),
    inHand(manager, plan.version).catch(() => ({ taken: 0 })),
    askWorkers(queue),
  ]);
  return { jobs, taken: hand.taken, resultMessages, workers };
}
