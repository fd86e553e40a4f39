/**
 * The state of a farm: a folder with the plan and one file per finished job. A result counts once it is complete on
 * disk under its job's name; later results for that job are dropped and counted. Queues may be lost.
 *
 *   run.farm/plan.json · jobs/N.json (without a server) · results/JOB.result · failed/JOB.json · dropped.json
 *
 * For a job done by two workers, answers wait in answers/JOB/ until two from different workers agree: that is the
 * result, and checked/JOB.json lists the workers that agreed and those that differed.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CorellaError, refuse } from '../core/errors.js';
import { isThere } from '../formats/index.js';
import { canonicalJson } from '../observation/index.js';
import { jobsOf, PROTOCOL, refuseOtherVersion, type Failure, type FarmPlan, type Job } from './job.js';
import { openChecks } from './checks.js';
import { wrongNumbers, wrongShape } from './shape.js';
import { decodeResult, encodeResult, type Result } from './result.js';
import { writeSafely } from './write-safely.js';

export { writeSafely };

/** What was done with a result. */
export type Decision =
  | 'merged'
  /** The same result again: its acknowledgement was lost, or its collector ended before sending one. */
  | 'duplicate'
  /** Another attempt at a job finished in the meantime: equal, not needed. */
  | 'late'
  /** Another attempt with different bytes: the machines do not compute alike. */
  | 'differs'
  /** For a job done by two workers: the first answer, or one that agrees with none so far. */
  | 'waiting'
  /** Not a job of this plan. */
  | 'foreign'
  /** Cut short, changed in transit, or of another version. */
  | 'damaged';

type Dropping = Exclude<Decision, 'merged' | 'waiting'>;
type Dropped = Record<Dropping, number>;
const droppedSchema = z.object({
  duplicate: z.number(),
  late: z.number(),
  differs: z.number(),
  foreign: z.number(),
  damaged: z.number(),
});
const noneDropped = (): Dropped => ({ duplicate: 0, late: 0, differs: 0, foreign: 0, damaged: 0 });

/** A job that every attempt failed at. */
interface SetAside {
  readonly job: string;
  readonly failures: readonly Failure[];
}

export interface Ledger {
  readonly folder: string;
  readonly plan: FarmPlan;
  readonly jobs: readonly Job[];
  /** Names of finished jobs. */
  readonly done: ReadonlySet<string>;
  readonly dropped: Readonly<Dropped>;
  readonly setAside: ReadonlyMap<string, SetAside>;
  /** For jobs done by two workers: workers that differed from two that agreed, and how often. */
  readonly wrongWorkers: ReadonlyMap<string, number>;
  /** Jobs meant for two workers that only one did. */
  readonly unchecked: ReadonlySet<string>;
  /** Jobs that have no result and are not set aside. */
  missing(): Job[];
  /** The same as the queue should hold them: twice for jobs done by two workers. */
  waiting(): Job[];
  /** Call when no other worker will come: a single answer then counts; jobs with different answers are set aside. */
  settle(): Promise<{ readonly unchecked: readonly string[]; readonly undecided: readonly SetAside[] }>;
  /** Counts a result once; it is on disk when this resolves. */
  take(bytes: Uint8Array): Promise<Decision>;
  /** False if it is not a job of this plan or is already done. */
  putAside(one: SetAside): Promise<boolean>;
  /** Retries the jobs that were set aside. */
  forgive(): Promise<number>;
  /** Reads the folder again: other processes may write results too. */
  refresh(): Promise<void>;
  /** A job's result, checked. */
  read(job: string): Promise<Result>;
}

const PLAN = 'plan.json';
const RESULT = '.result';

/** Creates the folder for a plan. Continues if it holds the same plan; refuses another. */
export async function createLedger(folder: string, plan: FarmPlan): Promise<Ledger> {
  const there = await readFile(join(folder, PLAN), 'utf8').catch(() => undefined);
  if (there !== undefined && !isSamePlan(JSON.parse(there) as FarmPlan, plan))
    refuse(
      folder,
      'is the folder of other work: another recording, other options, another version, or a recording that has changed',
      'name another folder with --farm, or remove this one',
    );
  await mkdir(join(folder, 'results'), { recursive: true });
  for (const name of ['failed', 'answers', 'checked']) await mkdir(join(folder, name), { recursive: true });
  if (there === undefined) await writeSafely(join(folder, PLAN), JSON.stringify(plan));
  return openLedger(folder, plan.version);
}

/** Same work, same output files. */
const isSamePlan = (x: FarmPlan, y: FarmPlan): boolean =>
  x.id === y.id && canonicalJson(x.observation.products) === canonicalJson(y.observation.products);

/** Opens a farm's folder; refuses one made by another version. */
export async function openLedger(folder: string, version: string): Promise<Ledger> {
  const text = await readFile(join(folder, PLAN), 'utf8').catch(() =>
    refuse(folder, 'is not a folder of a farm: it has no plan.json', 'name what farm submit made'),
  );
  const plan = JSON.parse(text) as FarmPlan;
  refuseOtherVersion(plan, version, folder);
  const jobs = jobsOf(plan);
  const names = new Set(jobs.map(({ id }) => id));
  const state = { done: new Set<string>(), dropped: noneDropped(), setAside: new Map<string, SetAside>() };
  const verified = new Set(jobs.flatMap(({ id, verified: of }) => (of ? [id] : [])));
  const checks = await openChecks(folder, plan);
  const pathOf = (job: string): string => join(folder, 'results', job + RESULT);

  const refresh = async (): Promise<void> => {
    for (const file of await readdir(join(folder, 'results'))) {
      const job = file.endsWith(RESULT) ? file.slice(0, -RESULT.length) : '';
      if (names.has(job)) state.done.add(job);
    }
    await checks.refresh();
    state.setAside.clear();
    for (const file of await readdir(join(folder, 'failed'))) {
      if (!file.endsWith('.json')) continue;
      const one = JSON.parse(await readFile(join(folder, 'failed', file), 'utf8')) as SetAside;
      if (names.has(one.job) && !state.done.has(one.job)) state.setAside.set(one.job, one);
    }
  };
  const drop = async (why: Dropping, count = 1): Promise<Decision> => {
    state.dropped[why] += count;
    await writeSafely(join(folder, 'dropped.json'), JSON.stringify(state.dropped));
    return why;
  };
  const read = async (job: string): Promise<Result> => {
    const result = decodeResult(await readFile(pathOf(job)), pathOf(job));
    // Without a server workers write here themselves.
    const wrong = wrongShape(plan, result.head) ?? wrongNumbers(plan, result);
    if (wrong !== undefined) refuse(pathOf(job), wrong, 'remove it and submit the job again');
    return result;
  };

  const merge = async (job: string, bytes: Uint8Array): Promise<void> => {
    await writeSafely(pathOf(job), bytes);
    state.done.add(job);
    state.setAside.delete(job);
  };
  const missing = (): Job[] => jobs.filter(({ id }) => !state.done.has(id) && !state.setAside.has(id));
  const putAside = async (one: SetAside): Promise<boolean> => {
    if (!names.has(one.job) || state.done.has(one.job)) return false;
    await writeSafely(join(folder, 'failed', `${one.job}.json`), JSON.stringify(one));
    state.setAside.set(one.job, one);
    return true;
  };
  const before = await readFile(join(folder, 'dropped.json'), 'utf8').catch(() => undefined);
  if (before !== undefined) state.dropped = droppedSchema.parse(JSON.parse(before));
  await refresh();
  return {
    folder,
    plan,
    jobs,
    refresh,
    read,
    done: state.done,
    dropped: state.dropped,
    setAside: state.setAside,
    get wrongWorkers() {
      return checks.wrong();
    },
    get unchecked() {
      return checks.unchecked();
    },
    missing,
    waiting: () =>
      missing().flatMap((job) => {
        if (!job.verified) return [job];
        const not = checks.answersOf(job.id).map(({ worker }) => worker);
        const copy = { ...job, verified: { not } };
        return not.length === 0 ? [copy, copy] : [copy];
      }),
    settle: async () => {
      const unchecked: string[] = [];
      const undecided: SetAside[] = [];
      for (const { id } of missing()) {
        const answers = checks.answersOf(id);
        if (answers.length === 0) continue;
        const workers = answers.map(({ worker }) => worker);
        if (answers.length === 1) {
          await merge(id, await answers[0].read());
          await checks.close(id, { agreed: workers, differed: [] });
          unchecked.push(id);
          continue;
        }
        const error = `${workers.join(' and ')} made different results of it, and no other worker decides between them`;
        const one = { job: id, failures: workers.map((worker) => ({ worker, error })) };
        if (await putAside(one)) undecided.push(one);
      }
      return { unchecked, undecided };
    },
    take: async (bytes) => {
      let result: Result;
      try {
        result = decodeResult(bytes, 'a result');
      } catch (error) {
        if (error instanceof CorellaError) return drop('damaged');
        throw error;
      }
      const { head } = result;
      if (head.protocol !== PROTOCOL || head.version !== version) return drop('damaged');
      if (head.plan !== plan.id || !names.has(head.job)) return drop('foreign');
      if ((wrongShape(plan, head) ?? wrongNumbers(plan, result)) !== undefined) return drop('damaged');
      if (state.done.has(head.job)) {
        const { head: kept } = await read(head.job);
        if (kept.attempt === head.attempt) return drop('duplicate');
        return drop(kept.sha256 === head.sha256 ? 'late' : 'differs');
      }
      if (verified.has(head.job)) {
        const outcome = await checks.add(bytes);
        if (typeof outcome === 'string') return outcome === 'waiting' ? outcome : drop(outcome);
        await merge(head.job, outcome.bytes);
        await checks.close(head.job, outcome);
        if (outcome.differed.length > 0) await drop('differs', outcome.differed.length);
        return 'merged';
      }
      await merge(head.job, bytes);
      return 'merged';
    },
    putAside,
    forgive: async () => {
      const count = state.setAside.size;
      for (const job of state.setAside.keys())
        await rm(join(folder, 'failed', `${job}.json`), { force: true });
      for (const job of state.setAside.keys()) await checks.forget(job);
      state.setAside.clear();
      return count;
    },
  };
}

/** For a worker without a server: writes its result where the ledger looks. False if one is already there. */
export async function handIn(folder: string, result: Result): Promise<boolean> {
  const path = join(folder, 'results', result.head.job + RESULT);
  if (await isThere(path)) return false;
  await writeSafely(path, encodeResult(result));
  return true;
}

export const hasResult = (folder: string, job: string): Promise<boolean> =>
  isThere(join(folder, 'results', job + RESULT));
