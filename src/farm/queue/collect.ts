/**
 * The collector: results into the ledger, each once. A result is let go when it is on the disk, so a collector that dies
 * loses nothing. It also looks after the queue: what plan and ledger say is missing, and no queue has, is put back.
 */
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { z } from 'zod';
import type { Ledger, Verdict } from '../ledger.js';
import { Puzzle } from './chunks.js';
import { insist, sleep, type Patience, type Queue } from './connect.js';
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
  | { readonly kind: 'result'; readonly verdict: Verdict; readonly sizeBytes: number }
  | { readonly kind: 'set-aside'; readonly job: string; readonly errors: readonly string[] }
  /** Two workers were to do them, and one did. */
  | { readonly kind: 'unchecked'; readonly jobs: number }
  | { readonly kind: 'put-back'; readonly jobs: number };

interface CollectSettings extends Patience {
  readonly onEvent: (event: CollectEvent) => void;
  /** A worker that is silent for so long has lost its job. */
  readonly patienceS: number;
}

const BATCH = 32;
/** Quiet for so long, the queue is looked at. */
const LOOK_MS = 3000;
/** Quiet for so many patiences, whatever the queue says, what is missing is put back. */
const LONGEST_QUIET = 5;

/** Letters of a message. */
const MOST_WORDS = 10_000;
const failedSchema = z.object({
  job: z.string(),
  failures: z
    .array(z.object({ worker: z.string().max(MOST_WORDS), error: z.string().max(MOST_WORDS) }))
    .max(100),
});

/** Collects until every job is done or set aside; then what else has come is counted and let go. */
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
    if (nowMs - progressMs > 1000 * settings.patienceS) {
      const { unchecked, undecided } = await ledger.settle();
      for (const { job, failures } of undecided)
        settings.onEvent({ kind: 'set-aside', job, errors: [failures[0].error] });
      if (unchecked.length > 0) settings.onEvent({ kind: 'unchecked', jobs: unchecked.length });
    }
    const isTooQuiet = nowMs - progressMs > 1000 * LONGEST_QUIET * settings.patienceS;
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

/** Errors of the connection and of JetStream are the server's; ours must not be taken for one. */
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
      // Anyone may send failures: those of other jobs are nobody's.
      if (await ledger.putAside(checked.data))
        onEvent({
          kind: 'set-aside',
          job,
          errors: failures.map(({ worker, error }) => `${worker}: ${error}`),
        });
    }
  } else {
    const bytes = arrived.kind === 'result' ? arrived.bytes : new Uint8Array(0);
    onEvent({ kind: 'result', verdict: await ledger.take(bytes), sizeBytes: bytes.length });
  }
  // Only now: it is on the disk, or nobody needs it.
  for (const one of arrived.messages) one.ack();
}

/** Whether neither jobs nor results of this plan are under way, though some are missing. */
async function isQueueEmpty(queue: Queue, { plan }: Ledger): Promise<boolean> {
  try {
    const manager = await queue.manager();
    const results = await waitingOn(manager, RESULTS, resultSubject(plan.id));
    if (results > 0) return false;
    if ((await waitingOn(manager, JOBS, jobSubject(plan))) === 0) return true;
    // A server that was killed may keep a job that its consumer has passed.
    const { taken, waiting } = await inHand(manager, plan.version);
    return taken === 0 && waiting === 0;
  } catch (error) {
    if (!isServers(error)) throw error;
    // A store that was lost, with all that was in it; or no server at all, which the next fetch will say.
    return /not found/i.test((error as Error).message);
  }
}
