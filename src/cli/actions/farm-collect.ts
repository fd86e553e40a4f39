/** What corella farm collect does, loaded when it runs. */
import { textOf } from '../../messages/index.js';
import { stoppable } from '../../core/ending.js';
import { refuse } from '../../core/errors.js';
import { formatBytes, formatSeconds } from '../../core/units.js';
import {
  collect,
  connectQueue,
  mergeProducts,
  openLedger,
  openServerWarning,
  type Access,
  type CollectEvent,
  type Ledger,
} from '../../farm/index.js';
import { checkOutputs } from '../../formats/index.js';
import { skyModelsOf, gainsFactsOf, gainsLinesOf, lackingOf } from '../../observation/index.js';
import { withBackend } from '../open.js';
import { reportSkyModels } from '../options/sky-options.js';
import { PartlyDone } from '../report/outcome.js';
import { railLines } from '../../products/report/index.js';
import { openTerminal, type Terminal } from '../report/terminal.js';
import { version } from '../../core/program/version.js';
import { accessOf } from '../farm/access-options.js';
import { droppedLines } from './farm-status.js';
import type { CollectOptions } from '../farm/collect.js';

export async function run(folder: string, options: CollectOptions): Promise<void> {
  const terminal = openTerminal(options);
  const ledger = await openLedger(folder, version());
  const { plan } = ledger;
  if (options.out !== undefined && plan.observation.products.length > 1)
    refuse('--out', 'renames one product, and the observation has several', 'leave it out');
  // Images from visibilities are made here, as in one process.
  const backend =
    options.backend === 'auto' && plan.work.backend !== 'cuda' ? plan.work.backend : options.backend;
  await withBackend({ ...options, backend }, async (opened) => {
    const merging = {
      version: version(),
      backend: opened,
      outs: [options.out],
      overwrite: options.overwrite ?? plan.observation.overwrite,
    };
    const { overwrite } = merging;
    await checkOutputs({ paths: options.out === undefined ? plan.outputs : [options.out], overwrite });
    const access = await accessOf(options);
    const rates = access ? await gather(ledger, access, options, terminal) : undefined;
    refuseUnfinished(ledger);
    for (const model of skyModelsOf(plan.observation)) await reportSkyModels(model, options);
    const writing = terminal.stage('write');
    const { missingSamples, saturated, backends, paths, planned } = await mergeProducts(ledger, merging);
    const seconds = writing.done(paths.join(', '));
    const made = planned.products.map(({ name, paths: own, facts }) => ({
      name,
      paths: own,
      facts: facts(),
    }));
    const { jobs, dropped, wrongWorkers, unchecked } = ledger;
    terminal.result(
      {
        paths,
        jobs: jobs.length,
        dropped,
        missingSamples,
        saturated,
        backends,
        ...rates,
        wrongWorkers: Object.fromEntries(wrongWorkers),
        unchecked: unchecked.size,
        seconds,
        ...gainsFactsOf(made),
      },
      [
        `${paths.join(', ')}: from ${jobs.length} job${jobs.length === 1 ? '' : 's'}, ${formatSeconds(seconds)}`,
        ...(rates
          ? [
              `${rates.merged} results in ${formatSeconds(rates.collectS)}: ${rates.jobsPerS.toFixed(1)} jobs a second, ${formatBytes(rates.bytesPerS)} a second`,
            ]
          : []),
        ...(missingSamples > 0
          ? [`${missingSamples} samples were missing; the weights are lower there`]
          : []),
        ...railLines(saturated, Infinity),
        ...(backends.length > 1
          ? [
              `made by ${backends.join(' and ')}: they agree to rounding, not bit for bit; --backend at farm submit takes one`,
            ]
          : []),
        ...made.flatMap(gainsLinesOf),
        ...droppedLines(ledger),
      ],
    );
    const lacking = lackingOf(made);
    if (lacking.length > 0) throw new PartlyDone(lacking.map(textOf).join('\n'));
  });
}

interface Rates {
  readonly merged: number;
  readonly collectS: number;
  readonly jobsPerS: number;
  readonly bytesPerS: number;
}

async function gather(
  ledger: Ledger,
  access: Access,
  options: CollectOptions,
  terminal: Terminal,
): Promise<Rates> {
  const stop = stoppable(ledger.folder);
  const stage = terminal.stage('collect');
  const begun = performance.now();
  const count = { merged: 0, bytes: 0 };
  const of = ledger.jobs.length;
  const say = (line: string): void => {
    terminal.say(line);
  };
  const onEvent = (event: CollectEvent): void => {
    switch (event.kind) {
      case 'result':
        if (event.decision === 'merged') count.merged++;
        if (event.decision === 'differs')
          say('a job gave other bytes when it was done again: machines that do not compute alike');
        count.bytes += event.sizeBytes;
        break;
      case 'set-aside':
        say(`${event.job} is set aside: ${event.errors.join('; ')}`);
        break;
      case 'unchecked':
        say(
          `${event.jobs} jobs could not be checked by a second worker, since there was none: they are used unchecked`,
        );
        break;
      case 'put-back':
        say(`${event.jobs} jobs were on no queue any more, and are put back`);
    }
    stage.update({ done: ledger.done.size, of, unit: 'jobs' });
  };
  const queue = await connectQueue(access, 'corella collect', {
    waits: true,
    stop: stop.signal,
    onTrouble: say,
  });
  const warning = openServerWarning(queue);
  if (warning !== undefined) say(warning);
  try {
    await collect(queue, ledger, { timeoutS: options.timeout, onEvent, onTrouble: say, stop: stop.signal });
  } finally {
    stop.release();
    await queue.close();
  }
  const collectS = (performance.now() - begun) / 1000;
  stage.done(`${ledger.done.size} of ${of} jobs`);
  return {
    merged: count.merged,
    collectS,
    jobsPerS: count.merged / collectS,
    bytesPerS: count.bytes / collectS,
  };
}

/** An incomplete file is written only on request. */
function refuseUnfinished(ledger: Ledger): void {
  const { setAside, jobs, folder } = ledger;
  if (setAside.size > 0) {
    const [first] = setAside.values();
    refuse(
      folder,
      `${setAside.size} of ${jobs.length} jobs failed and ${setAside.size === 1 ? 'is' : 'are'} set aside; ${first.job}: ${first.failures.at(-1)?.error ?? ''}`,
      'correct it, then farm submit again: finished jobs stay finished',
    );
  }
  const missing = new Set(ledger.missing().map(({ id }) => id));
  if (missing.size > 0) {
    const numbers = jobs.flatMap(({ id }, n) => (missing.has(id) ? [n] : []));
    refuse(
      folder,
      `${missing.size} of ${jobs.length} jobs have no result yet: ${rangesOf(numbers)}`,
      'do those (sbatch --array takes the list), or collect from a --server',
    );
  }
}

/** 3,7-9 */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const n of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === n - 1) last[1] = n;
    else ranges.push([n, n]);
  }
  return ranges.map(([first, end]) => (first === end ? String(first) : `${first}-${end}`)).join(',');
}
