/** What corella bench does, loaded when it runs. */
import type { Backend } from '../../backend/backend.js';
import { parseIsa, type Isa } from '../../backend/cpu/levels.js';
import { loadNative } from '../../backend/cpu/library.js';
import { openBackend } from '../../backend/select.js';
import {
  benches,
  COMMANDS,
  integratedBench,
  openPeers,
  pickCases,
  receiveBench,
  runCase,
  type BenchRow,
  type KernelCases,
} from '../../bench/index.js';
import { beforeEnding } from '../../core/ending.js';
import { refuse } from '../../core/errors.js';
import { openBenchTable } from '../report/bench-table.js';
import { threadsOf } from '../options/command.js';
import { openTerminal } from '../report/terminal.js';
import type { BenchOptions } from '../bench.js';
import { runCommands } from './bench-commands.js';

/** These cases include their own reference. */
const ratioAlways = [integratedBench.kernel, receiveBench.kernel];
/**
 * A turn long enough to make the timer's error negligible, and short enough that the machine's speed is stable in a
 * round.
 */
const SECONDS_PER_TURN = 0.03;

export async function run(kernel: string | undefined, options: BenchOptions): Promise<void> {
  if (kernel === COMMANDS) return runCommands(options);
  if (options.large) refuse('--large', 'is of commands', `corella bench ${COMMANDS} --large`);
  const terminal = openTerminal(options);
  const wanted = options.integrated ? `${kernel ?? 'correlate'}-integrated` : kernel;
  const chosen = wanted === undefined ? benches : benches.filter((bench) => bench.kernel === wanted);
  if (chosen.length === 0) {
    refuse(
      'bench',
      `'${wanted ?? ''}' is not a kernel`,
      `choose ${[...benches.map((b) => b.kernel), COMMANDS].join(', ')}`,
    );
  }
  const peers = options.peers ? await openPeers() : undefined;
  for (const { name, reason } of peers?.absent ?? []) terminal.say(`peer ${name} is left out: ${reason}`);
  const rows: BenchRow[] = [];
  // On a terminal the rows are printed already; --json prints one complete document, however the run ends.
  const finish = (): void => {
    terminal.result({ rows }, []);
  };
  const callOff = options.json ? beforeEnding(finish) : (): void => undefined;
  try {
    for (const isa of levelsOf(options.isa)) {
      const backend = await openBackend(options.backend, {
        ...threadsOf(options),
        isa,
      });
      try {
        terminal.say(`backend ${backend.kind}: ${backend.description}`);
        const all = chosen.map(({ kernel: name, cases }) => ({ kernel: name, cases: cases(backend) }));
        for (const picked of pickCases(all, options.only ?? new Map<string, string>())) {
          await runKernel(picked, backend);
        }
      } finally {
        await backend.close();
      }
    }
    if (rows.length === 0) {
      refuse(
        'bench',
        `${wanted ?? 'no kernel'} has nothing to measure on this backend`,
        'try --backend cpu or cuda; corella devices lists those that are here',
      );
    }
  } finally {
    callOff();
    if (rows.length > 0) finish();
  }

  async function runKernel(some: KernelCases, backend: Backend): Promise<void> {
    const withRatio = peers !== undefined || ratioAlways.includes(some.kernel);
    const table = openBenchTable(some, backend, { withRatio });
    const stage = terminal.stage(some.kernel);
    terminal.show(table.head);
    for (const [n, each] of some.cases.entries()) {
      stage.at(n / some.cases.length, `${n + 1} of ${some.cases.length}, ${table.describe(each)}`);
      const measuring = { rounds: options.rounds ?? 9, secondsPerTurn: SECONDS_PER_TURN };
      const row = await runCase(some.kernel, backend, each, peers, measuring);
      rows.push(row);
      terminal.show([table.line(row)]);
    }
    stage.done();
  }
}

function levelsOf(text: string | undefined): readonly (Isa | undefined)[] {
  if (text === undefined) return [undefined];
  if (text !== 'all') return [parseIsa('--isa', text)];
  const library = loadNative();
  return 'best' in library ? [...library.levels].reverse() : [undefined];
}
