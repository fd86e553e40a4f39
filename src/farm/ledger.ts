/**
 * The truth of a farm: a folder with the plan and one file a finished job. A result counts when it lies there under its
 * job's name, whole and on the disk; whatever comes for that job afterwards is dropped and counted. Queues may be lost.
 *
 *   night.farm/plan.json · jobs/N.json (without a server) · results/JOB.result · failed/JOB.json · dropped.json
 */
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CorellaError, refuse } from '../core/errors.js';
import { jobsOf, PROTOCOL, refuseOtherVersion, type Failure, type FarmPlan, type Job } from './plan.js';
import { wrongShape } from './shape.js';
import { decodeResult, encodeResult, type Result, type ResultHead } from './result.js';
import { messageOf } from './words.js';

/** What became of a result that came. */
export type Verdict =
  | 'merged'
  /** The same result again: its word was lost, or its collector ended before it gave it. */
  | 'duplicate'
  /** Another attempt at a job that was done meanwhile: equal, and not needed. */
  | 'late'
  /** Another attempt that gave other bytes: machines that do not compute alike. */
  | 'differs'
  /** Of no job of this plan. */
  | 'foreign'
  /** Cut short, changed on the way, or of another version. */
  | 'damaged';

export type Dropped = Record<Exclude<Verdict, 'merged'>, number>;
const droppedSchema = z.object({
  ...{ duplicate: z.number(), late: z.number(), differs: z.number() },
  ...{ foreign: z.number(), damaged: z.number() },
});
const noneDropped = (): Dropped => ({ duplicate: 0, late: 0, differs: 0, foreign: 0, damaged: 0 });

/** A job that nobody could do. */
export interface SetAside {
  readonly job: string;
  readonly failures: readonly Failure[];
}

export interface Ledger {
  readonly folder: string;
  readonly plan: FarmPlan;
  readonly jobs: readonly Job[];
  /** Names of jobs that are done. */
  readonly done: ReadonlySet<string>;
  readonly dropped: Readonly<Dropped>;
  readonly setAside: ReadonlyMap<string, SetAside>;
  /** Jobs that have neither a result nor been set aside. */
  missing(): Job[];
  /** Counts a result once; when this resolves it is on the disk. */
  take(bytes: Uint8Array): Promise<Verdict>;
  putAside(one: SetAside): Promise<void>;
  /** Lets jobs that were set aside be tried again. */
  forgive(): Promise<number>;
  /** Looks again at what is there: others may write results, too. */
  refresh(): Promise<void>;
  /** A job's result, checked. */
  read(job: string): Promise<Result>;
}

const PLAN = 'plan.json';
const RESULT = '.result';

/** Makes the folder for a plan; one that holds another plan is refused, the same goes on. */
export async function createLedger(folder: string, plan: FarmPlan): Promise<Ledger> {
  const there = await readFile(join(folder, PLAN), 'utf8').catch(() => undefined);
  if (there !== undefined && !isSamePlan(JSON.parse(there) as FarmPlan, plan))
    refuse(
      folder,
      'is the folder of other work: another recording, other options, another version, or a recording that has changed',
      'name another folder with --farm, or remove this one',
    );
  await mkdir(join(folder, 'results'), { recursive: true });
  await mkdir(join(folder, 'failed'), { recursive: true });
  if (there === undefined) await writeSafely(join(folder, PLAN), JSON.stringify(plan));
  return openLedger(folder, plan.version);
}

/** Of the command line in a product's history nothing depends: a server may have moved. */
function isSamePlan(x: FarmPlan, y: FarmPlan): boolean {
  const text = ({ id, product }: FarmPlan): string =>
    JSON.stringify([id, product], (key, value: unknown) => (key === 'history' ? undefined : value));
  return text(x) === text(y);
}

/** Opens a farm's folder; made by another version it is refused. */
export async function openLedger(folder: string, version: string): Promise<Ledger> {
  const text = await readFile(join(folder, PLAN), 'utf8').catch(() =>
    refuse(folder, 'is no folder of a farm: it has no plan.json', 'name what farm submit made'),
  );
  const plan = JSON.parse(text) as FarmPlan;
  refuseOtherVersion(plan, version, folder);
  const jobs = jobsOf(plan);
  const names = new Set(jobs.map(({ id }) => id));
  const state = { done: new Set<string>(), dropped: noneDropped(), setAside: new Map<string, SetAside>() };
  const pathOf = (job: string): string => join(folder, 'results', job + RESULT);

  const refresh = async (): Promise<void> => {
    for (const file of await readdir(join(folder, 'results'))) {
      const job = file.endsWith(RESULT) ? file.slice(0, -RESULT.length) : '';
      if (names.has(job)) state.done.add(job);
    }
    state.setAside.clear();
    for (const file of await readdir(join(folder, 'failed'))) {
      if (!file.endsWith('.json')) continue;
      const one = JSON.parse(await readFile(join(folder, 'failed', file), 'utf8')) as SetAside;
      if (names.has(one.job) && !state.done.has(one.job)) state.setAside.set(one.job, one);
    }
  };
  const drop = async (why: Exclude<Verdict, 'merged'>): Promise<Verdict> => {
    state.dropped[why]++;
    await writeSafely(join(folder, 'dropped.json'), JSON.stringify(state.dropped));
    return why;
  };
  const headOf = async (job: string): Promise<ResultHead> => (await read(job)).head;
  const read = async (job: string): Promise<Result> => decodeResult(await readFile(pathOf(job)), pathOf(job));

  const before = await readFile(join(folder, 'dropped.json'), 'utf8').catch(() => undefined);
  if (before !== undefined) state.dropped = droppedSchema.parse(JSON.parse(before));
  await refresh();
  return {
    ...{ folder, plan, jobs, refresh, read },
    get done() {
      return state.done;
    },
    get dropped() {
      return state.dropped;
    },
    get setAside() {
      return state.setAside;
    },
    missing: () => jobs.filter(({ id }) => !state.done.has(id) && !state.setAside.has(id)),
    take: async (bytes) => {
      let head: ResultHead;
      try {
        ({ head } = decodeResult(bytes, 'a result'));
      } catch (error) {
        if (error instanceof CorellaError) return drop('damaged');
        throw error;
      }
      if (head.protocol !== PROTOCOL || head.version !== version) return drop('damaged');
      if (head.plan !== plan.id || !names.has(head.job)) return drop('foreign');
      if (wrongShape(plan, head) !== undefined) return drop('damaged');
      if (state.done.has(head.job)) {
        const kept = await headOf(head.job);
        if (kept.attempt === head.attempt) return drop('duplicate');
        return drop(kept.sha256 === head.sha256 ? 'late' : 'differs');
      }
      await writeSafely(pathOf(head.job), bytes);
      state.done.add(head.job);
      state.setAside.delete(head.job);
      return 'merged';
    },
    putAside: async (one) => {
      if (!names.has(one.job) || state.done.has(one.job)) return;
      await writeSafely(join(folder, 'failed', `${one.job}.json`), JSON.stringify(one));
      state.setAside.set(one.job, one);
    },
    forgive: async () => {
      const count = state.setAside.size;
      for (const job of state.setAside.keys())
        await rm(join(folder, 'failed', `${job}.json`), { force: true });
      state.setAside.clear();
      return count;
    },
  };
}

/** For a worker without a server: its result goes where the ledger looks. False where one was there already. */
export async function handIn(folder: string, result: Result): Promise<boolean> {
  const path = join(folder, 'results', result.head.job + RESULT);
  if (await isThere(path)) return false;
  await writeSafely(path, encodeResult(result));
  return true;
}

export const hasResult = (folder: string, job: string): Promise<boolean> =>
  isThere(join(folder, 'results', job + RESULT));

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** On the disk under its name, whole, or not there: written aside, synced, renamed, and the folder synced. */
export async function writeSafely(path: string, contents: Uint8Array | string): Promise<void> {
  const aside = `${path}.${process.pid}.part`;
  try {
    const file = await open(aside, 'w');
    try {
      await file.writeFile(contents);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
    const folder = await open(join(path, '..'), 'r');
    await folder.sync().catch(() => undefined);
    await folder.close();
  } catch (error) {
    await rm(aside, { force: true });
    throw new CorellaError(
      {
        where: path,
        what: `cannot be written: ${messageOf(error)}`,
        fix: 'make room there, then collect again',
      },
      { cause: error },
    );
  }
}
