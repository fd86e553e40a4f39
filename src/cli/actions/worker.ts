/** What corella worker does, loaded when it runs. */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { InterruptedError, stoppable } from '../../core/ending.js';
import { refuse } from '../../core/errors.js';
import { formatBytes, formatSeconds } from '../../core/units.js';
import {
  checkJob,
  connectQueue,
  openServerWarning,
  doJob,
  encodeResult,
  handIn,
  hasResult,
  hasWaitedLong,
  runWorker,
  writeSafely,
  type WorkerEvent,
  type Workplace,
} from '../../farm/index.js';
import { checkOutput, confineReading, isRemote } from '../../formats/index.js';
import { withBackend } from '../open.js';
import { refuseGiven } from '../options/command.js';
import { openTerminal, type Terminal } from '../report/terminal.js';
import { version } from '../../core/program/version.js';
import { accessOf } from '../farm/access-options.js';
import type { WorkerOptions } from '../farm/worker.js';

export async function run(options: WorkerOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  const { root: roots } = options;
  if (roots.length === 0)
    refuse(
      '--root',
      'is missing: a worker reads only what this allows',
      'name the folder that the recordings are in',
    );
  const access = await accessOf(options);
  if ((access === undefined) === (options.job === undefined))
    refuse(
      'worker',
      access ? 'takes jobs from --server or from --job, not both' : 'has neither --server nor --job',
      'give one of them',
    );
  if (options.job === undefined)
    refuseGiven(command, ['out'], 'is for --job: results of a queue go to its server');
  else refuseGiven(command, ['untilIdle'], 'is for --server: a job of a file is one');
  // Checked before the job runs.
  if (options.out !== undefined) await checkOutput(options.out);
  const places = roots.map((root) => (isRemote(root) ? root : resolve(root)));
  const release = await confineReading(places);
  await withBackend(options, async (backend) => {
    const place = {
      backend,
      version: version(),
      roots: places,
      name: options.name ?? `${hostname()}-${process.pid}`,
    };
    if (options.job !== undefined) await oneJob(options.job, options, place, terminal);
    else if (access) {
      const stop = stoppable(place.name);
      const say = (line: string): void => {
        terminal.say(line);
      };
      const begunMs = performance.now();
      const queue = await connectQueue(access, place.name, {
        waits: true,
        stop: stop.signal,
        onTrouble: say,
        givesUp: () => hasWaitedLong(begunMs, options.untilIdle),
      });
      const warning = openServerWarning(queue);
      if (warning !== undefined) say(warning);
      try {
        const account = await runWorker(queue, place, {
          stop: stop.signal,
          onTrouble: say,
          onEvent: (event) => {
            say(eventLine(event, place));
          },
          untilIdleS: options.untilIdle,
        }).catch((error: unknown) => {
          if (error instanceof InterruptedError) return undefined;
          throw error;
        });
        if (account)
          terminal.result({ name: place.name, version: place.version, backend: backend.kind, ...account }, [
            `${place.name}: ${account.jobs} jobs done, ${account.failed} failed; ${formatSeconds(account.busyS)} at work, ` +
              `${formatBytes(account.readBytes)} read, ${formatBytes(account.sentBytes)} handed over`,
          ]);
      } finally {
        stop.release();
        await queue.close();
      }
    }
  }).finally(release);
}

function eventLine(event: WorkerEvent, { name, version: own }: Workplace): string {
  switch (event.kind) {
    case 'waiting':
      return `${name}: no jobs for corella ${own} yet; waiting`;
    case 'done':
      return (
        `${name}: ${event.job.id}, ${formatSeconds(event.head.seconds)}, ${formatBytes(event.sentBytes)}` +
        (event.delivery > 1 ? `, taken up for the ${event.delivery}th time` : '')
      );
    case 'failed': {
      const { error } = event.failures[event.failures.length - 1];
      return `${name}: ${event.job} failed${event.isSetAside ? ' and is set aside' : `, ${event.failures.length} of 3`}: ${error}`;
    }
  }
}

/** A job file in, a result file out. */
async function oneJob(
  path: string,
  options: WorkerOptions,
  place: Workplace,
  terminal: Terminal,
): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() =>
    refuse(path, 'cannot be read', 'name a file that farm submit wrote'),
  );
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    refuse(path, 'is no JSON', 'name a file that farm submit wrote');
  }
  const job = checkJob(json, place.version, path);
  const folder = dirname(dirname(resolve(path)));
  if (options.out === undefined && (await hasResult(folder, job.id))) {
    terminal.result({ job: job.id, plan: job.plan, isNew: false }, [`${job.id}: has its result already`]);
    return;
  }
  const result = await doJob(job, place);
  const isNew = options.out === undefined ? await handIn(folder, result) : true;
  if (options.out !== undefined) await writeSafely(options.out, encodeResult(result));
  const { seconds, backend } = result.head;
  const out = options.out ?? join(folder, 'results', `${job.id}.result`);
  terminal.result({ job: job.id, plan: job.plan, path: out, isNew, backend, seconds }, [
    `${out}: ${formatBytes(result.body.length)}, ${formatSeconds(seconds)}`,
  ]);
}
