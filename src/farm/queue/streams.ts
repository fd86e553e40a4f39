/** What the server stores for us: two streams, jobs and results; each message until it is acknowledged. */
import type { Consumer, ConsumerInfo, JetStreamManager } from '@nats-io/jetstream';
import { refuse } from '../../core/errors.js';
import type { FarmPlan } from '../job.js';
import { messageOf } from '../words.js';
import type { Queue } from './connect.js';
import { jetStreams } from './nats.js';

export const JOBS = 'CORELLA_JOBS';
export const RESULTS = 'CORELLA_RESULTS';

/** Versions have dots, which separate the words of a subject. */
const word = (text: string): string => text.replaceAll(/[^\w-]/g, '_');
const workersOf = (version: string): string => `workers-${word(version)}`;
const collectorOf = (plan: string): string => `collector-${plan}`;

export const jobSubject = ({ version, id }: Pick<FarmPlan, 'version' | 'id'>): string =>
  `corella.jobs.${word(version)}.${id}`;
export const resultSubject = (plan: string): string => `corella.results.${plan}`;

const SECOND = 1e9;

const isMissing = (error: unknown): boolean => /not found|no stream/i.test(messageOf(error));

async function ensureStream(manager: JetStreamManager, name: string, subjects: string[]): Promise<void> {
  try {
    await manager.streams.info(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
    // A message is removed when acknowledged; the window is for messages sent twice.
    await manager.streams.add({
      name,
      subjects,
      retention: jetStreams().RetentionPolicy.Workqueue,
      storage: jetStreams().StorageType.File,
      duplicate_window: 120 * SECOND,
    });
  }
}

export async function ensureStreams(manager: JetStreamManager): Promise<void> {
  await ensureStream(manager, JOBS, ['corella.jobs.>']);
  await ensureStream(manager, RESULTS, ['corella.results.>']);
}

/** Workers of one version share a consumer: a worker of another version has none and learns so before a job. */
export async function ensureWorkers(
  manager: JetStreamManager,
  version: string,
  timeoutS: number,
): Promise<void> {
  const durable_name = workersOf(version);
  const ack_wait = Math.round(timeoutS * SECOND);
  try {
    const { config } = await manager.consumers.info(JOBS, durable_name);
    if (config.ack_wait !== ack_wait) await manager.consumers.update(JOBS, durable_name, { ack_wait });
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.consumers.add(JOBS, {
      durable_name,
      ack_policy: jetStreams().AckPolicy.Explicit,
      ack_wait,
      max_ack_pending: 100_000,
      filter_subject: `corella.jobs.${word(version)}.>`,
    });
  }
}

/** The consumer for jobs of this version; undefined if there are none yet. Refused if only other versions have jobs. */
export async function findWorkers(
  queue: Queue,
  version: string,
): Promise<{ consumer: Consumer; timeoutS: number } | undefined> {
  const manager = await queue.manager();
  const name = workersOf(version);
  let info: ConsumerInfo;
  try {
    info = await manager.consumers.info(JOBS, name);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const others: string[] = [];
    try {
      for await (const one of manager.consumers.list(JOBS)) others.push(one.name);
    } catch (missing) {
      if (!isMissing(missing)) throw missing;
    }
    if (others.length === 0) return undefined;
    const versions = others.map((one) => one.replace('workers-', '').replaceAll('_', '.'));
    return refuse(
      'worker',
      `the jobs there are for corella ${versions.join(', ')}, and this is ${version}`,
      'install the same version on every machine, or submit with this one',
    );
  }
  return {
    consumer: await queue.js.consumers.get(JOBS, name),
    timeoutS: (info.config.ack_wait ?? 30 * SECOND) / SECOND,
  };
}

/** A collector's consumer for the results of its plan, from the first unacknowledged one. */
export async function freshCollector(queue: Queue, plan: string): Promise<Consumer> {
  const manager = await queue.manager();
  const durable_name = collectorOf(plan);
  // Messages that another collector left unacknowledged are delivered again at once, without waiting for its timeout.
  await manager.consumers.delete(RESULTS, durable_name).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  await manager.consumers.add(RESULTS, {
    durable_name,
    ack_policy: jetStreams().AckPolicy.Explicit,
    ack_wait: 60 * SECOND,
    max_ack_pending: 100_000,
    filter_subject: resultSubject(plan),
  });
  return queue.js.consumers.get(RESULTS, durable_name);
}

/** Number of messages of a subject in a stream. */
export async function waitingOn(manager: JetStreamManager, stream: string, subject: string): Promise<number> {
  const { state } = await manager.streams.info(stream, { subjects_filter: subject });
  return state.subjects?.[subject] ?? 0;
}

/** Jobs of a version that workers are doing, and jobs that wait. */
export async function inHand(
  manager: JetStreamManager,
  version: string,
): Promise<{ readonly taken: number; readonly waiting: number }> {
  const { num_ack_pending, num_pending } = await manager.consumers.info(JOBS, workersOf(version));
  return { taken: num_ack_pending, waiting: num_pending };
}
