/** Who works, and what waits. */
import { z } from 'zod';
import type { FarmPlan } from '../job.js';
import { jsonOf } from '../words.js';
import { sleep, type Queue } from './connect.js';
import { nats } from './nats.js';
import { inHand, jobSubject, JOBS, RESULTS, resultSubject, waitingOn } from './streams.js';

const statusSchema = z.object({
  ...{ name: z.string(), version: z.string(), backend: z.string(), job: z.string().exactOptional() },
  ...{ jobs: z.number(), failed: z.number(), upS: z.number(), busyS: z.number() },
  ...{ readBytes: z.number(), sentBytes: z.number() },
});
/** What a worker says of itself. */
export type WorkerStatus = z.infer<typeof statusSchema>;

const WHO = 'corella.farm.who';

/** Answers whoever asks who works here; returns what ends it. */
export function answerWho({ connection }: Queue, status: () => WorkerStatus): () => void {
  const subscription = connection.subscribe(WHO, {
    callback: (_, message) => {
      message.respond(JSON.stringify(status()));
    },
  });
  return () => {
    if (!connection.isClosed()) subscription.unsubscribe();
  };
}

/** Everyone who answers within a moment; one that computes on its own thread may miss it. */
async function askWorkers({ connection }: Queue): Promise<WorkerStatus[]> {
  const answers: WorkerStatus[] = [];
  const inbox = nats().createInbox();
  const subscription = connection.subscribe(inbox, {
    callback: (_, message) => {
      const checked = statusSchema.safeParse(jsonOf(message));
      if (checked.success) answers.push(checked.data);
    },
  });
  connection.publish(WHO, '', { reply: inbox });
  await sleep(1000);
  subscription.unsubscribe();
  return answers.sort((x, y) => x.name.localeCompare(y.name));
}

interface QueueStatus {
  /** On the queue, those that workers have in hand included. */
  readonly jobs: number;
  readonly taken: number;
  /** Messages of results that no collector has taken. */
  readonly resultMessages: number;
  readonly workers: readonly WorkerStatus[];
}

/** Of one plan; a server that knows nothing of it has nothing. */
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
