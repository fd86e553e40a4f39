/**
 * The collector: writes results into the ledger, each once. A result is acknowledged when it is on disk, so a collector
 * that dies loses nothing. It also checks the queue: jobs that are missing from both ledger and queue are put back.
 */
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { z } from 'zod';
import type { Ledger, Decision } from '../ledger.js';
import { Puzzle } from './chunks.js';
import { insist, sleep, type RetrySettings, type Queue } from './connect.js';
import { putJobs } from './jobs.js';
import { someMessages } from './pull.js';
import {
  ensureStreams,
  freshCollector,
  inHand,
  jobSubject,
  JOBS,
  RESULTS,
  resultSubject,
  waitingOn,
} from './streams.js';

export type CollectEvent =
  | { readonly kind: 'result'; readonly decision: Decision; readonly sizeBytes: number }
  | { readonly kind: 'set-aside'; readonly job: string; readonly errors: readonly string[] }
  /** Meant for two workers, but only one did them. */
  | { readonly kind: 'unchecked'; readonly jobs: number }
  | { readonly kind: 'put-back'; readonly jobs: number };

interface CollectSettings extends RetrySettings {
  readonly onEvent: (event: CollectEvent) => void;
  /** A worker that is silent for this long has lost its job. */
  readonly timeoutS: number;
}

const BATCH = 32;
/** After this long without messages, the queue is checked. */
const LOOK_MS = 3000;
/** After this many timeouts without messages, missing jobs are put back whatever the queue reports. */
const LONGEST_QUIET = 5;

/** Longest message, in characters. */
const MOST_WORDS = 10_000;
const failedSchema = z.object({
  job: z.string(),
  failures: z
    .array(z.object({ worker: z.string().max(MOST_WORDS), error: z.string().max(MOST_WORDS) }))
    .max(100),
});

/** Collects until every job is done or set aside; then counts and acknowledges what else has arrived. */
export async function collect(queue: Queue, ledger: Ledger, settings: CollectSettings): Promise<void> {
  const { stop } = settings;
  const { plan } = ledger;
  const puzzle = new Puzzle();
  const attend = (): Promise<Consumer> =>
    insist(
      'waiting for results',
      async () => {
        await ensureStreams(await queue.manager());
        return freshCollector(queue, plan.id);
      },
      settings,
    );
  const take = (message: JsMsg): Promise<void> => receive(puzzle, message, ledger, settings);
  let consumer = await attend();
  let [progressMs, lookedMs, emptyLooks] = [performance.now(), performance.now(), 0];
  while (ledger.missing().length > 0) {
    stop?.throwIfAborted();
    let came = 0;
    try {
      came = await someMessages(consumer, BATCH, take);
    } catch (error) {
      if (!isServers(error)) throw error;
      await sleep(250, stop);
      consumer = await attend();
    }
    const nowMs = performance.now();
    if (came > 0) {
      [progressMs, lookedMs, emptyLooks] = [nowMs, nowMs, 0];
      continue;
    }
    if (nowMs - lookedMs < LOOK_MS) continue;
    lookedMs = nowMs;
    await ledger.refresh();
    emptyLooks = (await isQueueEmpty(queue, ledger)) ? emptyLooks + 1 : 0;
    if (nowMs - progressMs > 1000 * settings.timeoutS) {
      const { unchecked, undecided } = await ledger.settle();
      for (const { job, failures } of undecided)
        settings.onEvent({ kind: 'set-aside', job, errors: [failures[0].error] });
      if (unchecked.length > 0) settings.onEvent({ kind: 'unchecked', jobs: unchecked.length });
    }
    const isTooQuiet = nowMs - progressMs > 1000 * LONGEST_QUIET * settings.timeoutS;
    if (emptyLooks < 2 && !isTooQuiet) continue;
    const missing = ledger.missing();
    if (missing.length === 0) break;
    await putJobs(queue, plan, ledger.waiting(), settings);
    settings.onEvent({ kind: 'put-back', jobs: missing.length });
    consumer = await attend();
    [progressMs, emptyLooks] = [performance.now(), 0];
  }
  await someMessages(consumer, 1000, take).catch((error: unknown) => {
    if (!isServers(error)) throw error;
  });
}

/** Errors of the connection and of JetStream come from the server; our own must not be mistaken for them. */
const isServers = (error: unknown): boolean =>
  error instanceof Error &&
  /^(?:JetStream|Consumer|Stream|Timeout|NoResponders|Closed|Draining|Connection|Request|Protocol|InvalidOperation)/.test(
    error.name,
  );

async function receive(
  puzzle: Puzzle,
  message: JsMsg,
  ledger: Ledger,
  { onEvent }: CollectSettings,
): Promise<void> {
  const arrived = puzzle.add(message);
  if (!arrived) return;
  if (arrived.kind === 'failed') {
    const checked = failedSchema.safeParse(arrived.json);
    if (checked.success) {
      const { job, failures } = checked.data;
      // Anyone may send failures: those of other plans' jobs are ignored.
      if (await ledger.putAside(checked.data))
        onEvent({
          kind: 'set-aside',
          job,
          errors: failures.map(({ worker, error }) => `${worker}: ${error}`),
        });
    }
  } else {
    const bytes = arrived.kind === 'result' ? arrived.bytes : new Uint8Array(0);
    onEvent({ kind: 'result', decision: await ledger.take(bytes), sizeBytes: bytes.length });
  }
  // Only now: the result is on disk, or not needed.
  for (const one of arrived.messages) one.ack();
}

/** Whether neither jobs nor results of this plan are under way although some are missing. */
async function isQueueEmpty(queue: Queue, { plan }: Ledger): Promise<boolean> {
  try {
    const manager = await queue.manager();
    const results = await waitingOn(manager, RESULTS, resultSubject(plan.id));
    if (results > 0) return false;
    if ((await waitingOn(manager, JOBS, jobSubject(plan))) === 0) return true;
    // A killed server may keep a job that its consumer has already passed.
    const { taken, waiting } = await inHand(manager, plan.version);
    return taken === 0 && waiting === 0;
  } catch (error) {
    if (!isServers(error)) throw error;
    // A lost store with all its contents; or no server, which the next fetch reports.
    return /not found/i.test((error as Error).message);
  }
}
