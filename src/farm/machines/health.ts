/** Health of an observation's machines: each publishes it every second; others may subscribe. */
import { z } from 'zod';
import { onJson, sleep, type Queue } from '../queue/connect.js';

/** A minute since 1970 in which a machine has integrations. */
export const minuteSchema = z.looseObject({
  minute: z.int(),
  presentPercent: z.number(),
  written: z.int(),
  integrations: z.int(),
  seconds: z.number(),
});

export const healthSchema = z.looseObject({
  machine: z.string(),
  version: z.string(),
  /** Address of its own page. */
  page: z.string(),
  /** Centres of its first and last channel. */
  bandHz: z.tuple([z.number(), z.number()]).exactOptional(),
  state: z.string(),
  word: z.string(),
  newestSample: z.string().exactOptional(),
  dataAgeS: z.number().exactOptional(),
  imageAgeS: z.number().exactOptional(),
  presentPercent: z.number().exactOptional(),
  recording: z.string(),
  steerable: z.boolean(),
  /** Start of this process. */
  startedUnixS: z.number(),
  /** The most recent minutes. */
  minutes: z.array(minuteSchema),
});
export type Health = z.infer<typeof healthSchema>;

const EVERY_MS = 1000;
/** One word of a NATS subject. */
export const subjectWord = (name: string): string => name.replaceAll(/[^\w-]/g, '_');
/** A subject of an observation and a machine; by default of all its machines. */
export const machineSubject = (observation: string, what: string, machine?: string): string =>
  `corella.${subjectWord(observation)}.${what}.${machine === undefined ? '*' : subjectWord(machine)}`;

/** Publishes it every second; returns the function that stops it. The observation continues without a server. */
export function publishHealth(queue: Queue, observation: string, health: () => Health): () => void {
  const report = (): void => {
    if (!queue.isUp()) return;
    const now = health();
    queue.connection.publish(machineSubject(observation, 'health', now.machine), JSON.stringify(now));
  };
  report();
  const timer = setInterval(report, EVERY_MS);
  return () => {
    clearInterval(timer);
  };
}

/** The latest message from every machine that publishes within a while. */
export async function receiveHealth(queue: Queue, observation: string): Promise<Health[]> {
  const latest = new Map<string, Health>();
  const end = onJson(queue, machineSubject(observation, 'health'), healthSchema, (health) =>
    latest.set(health.machine, health),
  );
  await sleep(2500);
  end();
  return [...latest.values()].sort(
    (x, y) => (x.bandHz?.[0] ?? 0) - (y.bandHz?.[0] ?? 0) || x.machine.localeCompare(y.machine),
  );
}
