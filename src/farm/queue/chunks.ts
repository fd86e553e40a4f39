/** Results over the queue: sent in pieces that any server accepts, reassembled by the collector. */
import type { JsMsg } from '@nats-io/jetstream';
import type { Failure } from '../job.js';
import { insist, type RetrySettings, type Queue } from './connect.js';
import { nats } from './nats.js';
import { resultSubject } from './streams.js';

/** A server accepts 1 MiB by default. */
export const CHUNK_BYTES = 512 * 1024;
const WINDOW = 8;

const ATTEMPT = 'Corella-Attempt';
const PIECE = 'Corella-Piece';
const FAILED = 'Corella-Failed';

/** Sends a result; resolves when the server has all of it. */
export async function sendResult(
  queue: Queue,
  plan: string,
  attempt: string,
  bytes: Uint8Array,
  retry: RetrySettings,
): Promise<void> {
  const pieces = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  const send = (n: number): Promise<unknown> => {
    const head = nats().headers();
    head.set(ATTEMPT, attempt);
    head.set(PIECE, `${n}/${pieces}`);
    const piece = bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES);
    const options = { msgID: `${attempt}.${n}`, headers: head };
    return insist(
      'handing over a result',
      () => queue.js.publish(resultSubject(plan), piece, options),
      retry,
    );
  };
  for (let first = 0; first < pieces; first += WINDOW)
    await Promise.all(Array.from({ length: Math.min(WINDOW, pieces - first) }, (_, k) => send(first + k)));
}

/** Reports that a job has been given up. */
export async function sendFailed(
  queue: Queue,
  plan: string,
  failed: { readonly job: string; readonly failures: readonly Failure[] },
  retry: RetrySettings,
): Promise<void> {
  const head = nats().headers();
  head.set(FAILED, failed.job);
  const bytes = new TextEncoder().encode(JSON.stringify(failed));
  await insist(
    'reporting a failure',
    () => queue.js.publish(resultSubject(plan), bytes, { headers: head }),
    retry,
  );
}

/** What a set of messages contains. */
type Arrived =
  | { readonly kind: 'result'; readonly bytes: Uint8Array; readonly messages: readonly JsMsg[] }
  | { readonly kind: 'failed'; readonly json: unknown; readonly messages: readonly JsMsg[] }
  | { readonly kind: 'damaged'; readonly messages: readonly JsMsg[] };

/** Pieces of incomplete results; their messages are acknowledged only with the whole. */
export class Puzzle {
  private readonly begun = new Map<
    string,
    { readonly pieces: (Uint8Array | undefined)[]; readonly messages: JsMsg[] }
  >();

  add(message: JsMsg): Arrived | undefined {
    const head = message.headers;
    if (head?.has(FAILED) === true) {
      try {
        return { kind: 'failed', json: message.json(), messages: [message] };
      } catch {
        return { kind: 'damaged', messages: [message] };
      }
    }
    const attempt = head?.get(ATTEMPT) ?? '';
    const [n, of] = (head?.get(PIECE) ?? '').split('/').map(Number);
    if (attempt === '' || !(of >= 1 && of < 1e6) || !Number.isSafeInteger(n) || !(n >= 0 && n < of))
      return { kind: 'damaged', messages: [message] };
    const one = this.begun.get(attempt) ?? { pieces: new Array<Uint8Array | undefined>(of), messages: [] };
    this.begun.set(attempt, one);
    if (one.pieces.length !== of) return { kind: 'damaged', messages: [message] };
    one.messages.push(message);
    // Copied: the client reuses its memory.
    one.pieces[n] ??= Uint8Array.prototype.slice.call(message.data);
    if (Array.from(one.pieces).some((piece) => piece === undefined)) return undefined;
    this.begun.delete(attempt);
    return { kind: 'result', bytes: Buffer.concat(one.pieces as Uint8Array[]), messages: one.messages };
  }
}
