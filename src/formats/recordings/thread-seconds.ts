/** VDIF threads are side by side in a file: some recorders write wrong seconds in every other one. */
import { refuse } from '../../core/errors.js';
import type { VdifHeader } from '../../core/vdif-header.js';

type ThreadHeader = Pick<VdifHeader, 'thread' | 'seconds'>;

/** Each thread's seconds minus those of its neighbour in the file: the most frequent difference, in whole seconds. */
function secondsBeside(
  headers: readonly ThreadHeader[],
  threads: readonly number[],
  beside: number,
): Map<number, number> {
  const found = new Map(threads.map((thread) => [thread, [] as number[]]));
  let latest = headers.find(({ thread }) => thread === beside)?.seconds ?? 0;
  for (const { thread, seconds } of headers) {
    if (thread === beside) latest = seconds;
    found.get(thread)?.push(seconds - latest);
  }
  return new Map([...found].map(([thread, differences]) => [thread, mostFrequent(differences)]));
}

/** Zero if none is more frequent than all others together, or if there is only one: that is not a pattern. */
function mostFrequent(values: readonly number[]): number {
  const times = new Map<number, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  const [value, count] = [...times].reduce((best, now) => (now[1] > best[1] ? now : best), [0, 0]);
  return count >= 2 && 2 * count > values.length ? value : 0;
}

/** Threads of one recording never differ by more. */
const MOST_APART_S = 2;

/** The offset to add to each thread's seconds so that they agree with one thread's. */
export function secondsOfOneThread(
  path: string,
  headers: readonly ThreadHeader[],
  threads: readonly number[],
  secondsOfThread: number | undefined,
): Map<number, number> {
  if (secondsOfThread === undefined) return new Map();
  if (!threads.includes(secondsOfThread))
    refuse(
      path,
      `has no thread ${secondsOfThread}`,
      `it has threads ${threads.join(', ')}: name one of them`,
    );
  const beside = secondsBeside(headers, threads, secondsOfThread);
  return new Map([...beside].map(([thread, seconds]) => [thread, -seconds]));
}

/** Threads with neighbouring frames but different seconds: some are wrong, and the user knows which. */
export function refuseLyingThreads(
  path: string,
  headers: readonly ThreadHeader[],
  threads: readonly number[],
): void {
  const beside = secondsBeside(headers, threads, headers[0].thread);
  const awayS = (thread: number): number => beside.get(thread) ?? 0;
  const apart = threads.filter((thread) => Math.abs(awayS(thread)) > MOST_APART_S);
  if (apart.length === 0) return;
  const others = threads.filter((thread) => !apart.includes(thread));
  const away = `${Math.abs(awayS(apart[0]))} s ${awayS(apart[0]) > 0 ? 'later' : 'earlier'}`;
  refuse(
    path,
    `its threads ${apart.join(', ')} say ${away} than ${others.join(', ')} beside them`,
    `take the seconds of one that is right for all, source.seconds-of: ${apart[0]} or source.seconds-of: ${others[0]}`,
  );
}
