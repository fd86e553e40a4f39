/** What corella farm status does, loaded when it runs. */
import { formatBytes, formatSeconds } from '../../core/units.js';
import { connectQueue, openLedger, queueStatus, type Ledger, type WorkerStatus } from '../../farm/index.js';
import { openTerminal, table } from '../report/terminal.js';
import { version } from '../../core/program/version.js';
import { accessOf } from '../farm/access-options.js';
import type { Options } from '../options/own.js';
import type { statusOptions } from '../farm/status.js';

export async function run(folder: string, options: Options<typeof statusOptions>): Promise<void> {
  const terminal = openTerminal(options);
  const ledger = await openLedger(folder, version());
  const reached = await accessOf(options);
  const queue = reached && (await connectQueue(reached, 'corella status'));
  try {
    const waits = queue && (await queueStatus(queue, ledger.plan));
    const setAside = [...ledger.setAside.values()];
    terminal.result(
      {
        folder,
        plan: ledger.plan.id,
        version: ledger.plan.version,
        jobs: ledger.jobs.length,
        done: ledger.done.size,
        missing: ledger.missing().length,
        setAside,
        dropped: ledger.dropped,
        queue: waits,
        wrongWorkers: Object.fromEntries(ledger.wrongWorkers),
      },
      [
        `${ledger.done.size} of ${ledger.jobs.length} jobs done` +
          (waits
            ? `; ${waits.jobs} on the queue, ${waits.taken} of them in work, ${waits.resultMessages} messages of results waiting`
            : ''),
        ...droppedLines(ledger),
        ...setAside.map(({ job, failures }) => `set aside: ${job}: ${failures.at(-1)?.error ?? ''}`),
        ...(waits && waits.workers.length > 0
          ? ['', ...table(WORKER_HEAD, waits.workers.map(workerRow))]
          : []),
      ],
    );
  } finally {
    await queue?.close();
  }
}

const WORKER_HEAD = ['worker', 'backend', 'jobs', 'failed', 'a minute', 'busy', 'read', 'handed over', 'at'];

const workerRow = (one: WorkerStatus): string[] => [
  one.name,
  one.backend,
  String(one.jobs),
  String(one.failed),
  ((60 * one.jobs) / Math.max(one.upS, 1e-3)).toFixed(1),
  `${Math.round((100 * one.busyS) / Math.max(one.upS, 1e-3))} % of ${formatSeconds(one.upS)}`,
  formatBytes(one.readBytes),
  formatBytes(one.sentBytes),
  one.job ?? '–',
];

/** Dropped results with reasons; identical duplicates are not reported. */
export function droppedLines({
  dropped,
  wrongWorkers,
  unchecked,
}: Pick<Ledger, 'dropped' | 'wrongWorkers' | 'unchecked'>): string[] {
  const { duplicate, late, differs, foreign, damaged } = dropped;
  return [
    ...[...wrongWorkers].map(
      ([worker, jobs]) =>
        `WRONG: ${worker} differed from two workers that agree in ${jobs} job${jobs === 1 ? '' : 's'}; what else it made is in this result: take it off the farm, and submit again`,
    ),
    ...(unchecked.size > 0 ? [`${unchecked.size} jobs were not checked: one worker alone did them`] : []),
    ...(duplicate + late > 0
      ? [`dropped: ${duplicate} duplicate results, ${late} of jobs that were finished already`]
      : []),
    ...(differs > 0
      ? [
          `${differs} results of one job DIFFERED: machines that do not compute alike; take one --backend for all`,
        ]
      : []),
    ...(foreign + damaged > 0 ? [`dropped: ${foreign} results of other work, ${damaged} damaged ones`] : []),
  ];
}
