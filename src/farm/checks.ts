/** Jobs done by two workers: answers are kept until those of two workers agree; workers that differed are named. */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { FarmPlan, FarmShape } from './job.js';
import { decodeResult, type Result, bytesOf, numbersOf, type Part } from './result.js';
import { writeSafely } from './write-safely.js';
import { canonicalJson } from '../observation/index.js';

const outcomeSchema = z.object({ agreed: z.array(z.string()), differed: z.array(z.string()) });
/** Names of workers. A single name under `agreed` means that the result was not checked. */
export type Outcome = z.infer<typeof outcomeSchema>;

interface Answer {
  readonly worker: string;
  readonly attempt: string;
  read(): Promise<Uint8Array>;
}

export interface Checks {
  /** Answers to a job so far, the first from each worker. */
  answersOf(job: string): readonly Answer[];
  /** Stores an answer; if it agrees with an earlier one, returns the result that counts. */
  add(
    bytes: Uint8Array,
  ): Promise<'waiting' | 'duplicate' | 'late' | (Outcome & { readonly bytes: Uint8Array })>;
  /** Marks the job as decided. */
  close(job: string, outcome: Outcome): Promise<void>;
  forget(job: string): Promise<void>;
  wrong(): ReadonlyMap<string, number>;
  unchecked(): ReadonlySet<string>;
  refresh(): Promise<void>;
}

export async function openChecks(folder: string, { shape }: FarmPlan): Promise<Checks> {
  const answers = new Map<string, Answer[]>();
  const outcomes = new Map<string, Outcome>();
  const placeOf = (job: string): string => join(folder, 'answers', job);
  const list = (path: string): Promise<string[]> => readdir(path).catch(() => []);
  const answerOf = ({ head }: Result, path: string): Answer => ({
    worker: head.worker,
    attempt: head.attempt,
    read: () => readFile(path),
  });
  const refresh = async (): Promise<void> => {
    answers.clear();
    for (const job of await list(join(folder, 'answers'))) {
      const own: Answer[] = [];
      for (const file of (await list(placeOf(job))).filter((name) => name.endsWith('.result')).sort()) {
        const path = join(placeOf(job), file);
        own.push(answerOf(decodeResult(await readFile(path), path), path));
      }
      answers.set(job, own);
    }
    for (const file of await list(join(folder, 'checked')))
      if (file.endsWith('.json')) {
        const text = await readFile(join(folder, 'checked', file), 'utf8');
        outcomes.set(file.slice(0, -'.json'.length), outcomeSchema.parse(JSON.parse(text)));
      }
  };
  const forget = async (job: string): Promise<void> => {
    answers.delete(job);
    await rm(placeOf(job), { recursive: true, force: true });
  };
  await refresh();
  return {
    refresh,
    forget,
    answersOf: (job) => answers.get(job) ?? [],
    add: async (bytes) => {
      const result = decodeResult(bytes, 'a result');
      const { job, worker, attempt } = result.head;
      const own = answers.get(job) ?? [];
      if (own.some((one) => one.attempt === attempt)) return 'duplicate';
      if (own.some((one) => one.worker === worker)) return 'late';
      const agreed: Answer[] = [];
      const differed: string[] = [];
      for (const one of own) {
        const alike = isAlike(shape, decodeResult(await one.read(), one.worker), result);
        if (alike) agreed.push(one);
        else differed.push(one.worker);
      }
      const [first] = agreed;
      if (agreed.length > 0) return { agreed: [first.worker, worker], differed, bytes: await first.read() };
      await mkdir(placeOf(job), { recursive: true });
      const path = join(placeOf(job), `${own.length}.result`);
      await writeSafely(path, bytes);
      answers.set(job, [...own, answerOf(result, path)]);
      return 'waiting';
    },
    close: async (job, { agreed, differed }) => {
      outcomes.set(job, { agreed, differed });
      await writeSafely(join(folder, 'checked', `${job}.json`), JSON.stringify({ agreed, differed }));
      await forget(job);
    },
    wrong: () => {
      const counts = new Map<string, number>();
      for (const { differed } of outcomes.values())
        for (const worker of differed) counts.set(worker, (counts.get(worker) ?? 0) + 1);
      return counts;
    },
    unchecked: () => new Set([...outcomes].flatMap(([job, { agreed }]) => (agreed.length < 2 ? [job] : []))),
  };
}

/** For images from machines that compute differently: relative to the peak. */
const IMAGE_TOLERANCE = 1e-5;

/** For other floats: relative to the largest. */
const FLOAT_TOLERANCE = 1e-6;

/** Whole numbers must match bit for bit. Floats too between machines that compute alike, otherwise to rounding. */
export function isAlike({ type, pieces }: FarmShape, x: Result, y: Result): boolean {
  if (canonicalJson(x.head.parts) !== canonicalJson(y.head.parts)) return false;
  if (canonicalJson(x.head.account) !== canonicalJson(y.head.account)) return false;
  const isOneKind = x.head.backend === y.head.backend && x.head.machine === y.head.machine;
  return x.head.parts.every((part) => {
    const [a, b] = [x, y].map(({ body }) =>
      body.subarray(part.offsetBytes, part.offsetBytes + part.sizeBytes),
    );
    if (Buffer.compare(bytesOf(a), bytesOf(b)) === 0) return true;
    const isImage = pieces.some(({ product, kind }) => product === part.product && kind === 'images');
    if (isOneKind || (!isImage && type !== 'cf32')) return false;
    return areNear(part, x, y, isImage ? IMAGE_TOLERANCE : FLOAT_TOLERANCE);
  });
}

function areNear(part: Part, x: Result, y: Result, tolerance: number): boolean {
  const [a, b] = [x, y].map(({ body }) => numbersOf(part, body));
  let most = 0;
  for (const value of a) most = Math.max(most, Math.abs(value));
  for (let n = 0; n < a.length; n++) if (!(Math.abs(a[n] - b[n]) <= tolerance * most)) return false;
  return true;
}
