/** corella bench: each kernel's rate, and its fraction of this machine's measured ceiling. */
import type { Command } from 'commander';
import type { Backend } from '../backend/backend.js';
import { parseIsa, type Isa } from '../backend/cpu/levels.js';
import { loadNative } from '../backend/cpu/library.js';
import { openBackend } from '../backend/select.js';
import {
  benches,
  integratedBench,
  openPeers,
  parseOnly,
  pickCases,
  receiveBench,
  runCase,
  type BenchRow,
  type KernelCases,
} from '../bench/index.js';
import { beforeEnding } from '../core/ending.js';
import { refuse } from '../core/errors.js';
import { openBenchTable } from './report/bench-table.js';
import { threadsOf } from './options/command.js';
import { openTerminal } from './report/terminal.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field, whole, words } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { computing, given } from './options/shared.js';

const changes = 'never';
const benchOptions = z.strictObject({
  isa: field(words('the name of an instruction set, or all'), {
    flag: '--isa <level>',
    changes,
    help: 'instruction set of the cpu backend, or "all" for every one present',
  }),
  peers: field(given, {
    flag: '--peers',
    changes,
    help: 'also run the same work by other libraries, in turn, and print the ratio',
  }),
  integrated: field(given, {
    flag: '--integrated',
    changes,
    help: 'measure the kernel with data streaming in from the host, uploads included (cuda)',
  }),
  rounds: field(whole, {
    flag: '--rounds <number>',
    changes,
    range: { least: 1 },
    default: 9,
    help: 'rounds of measurements; more give a steadier median',
  }),
  only: field(
    z.string().transform((text) => parseOnly(text)),
    {
      flag: '--only <name=value,...>',
      changes,
      help: 'only the cases with these parameters, like channels=4096,taps=8',
    },
  ),
  ...computing,
});
type BenchOptions = Options<typeof benchOptions>;

/** These cases include their own reference. */
const ratioAlways = [integratedBench.kernel, receiveBench.kernel];
/**
 * A turn long enough to make the timer's error negligible, and short enough that the machine's speed is stable in a
 * round.
 */
const SECONDS_PER_TURN = 0.03;

export function registerBench(program: Command): void {
  const names = benches.map(({ kernel }) => kernel).join(', ');
  const command = program.command('bench').argument('[kernel]', `one of ${names}; all by default`);
  addFields(command, benchOptions).action(run);
  addHelp(command, {
    common: ['--backend', '--threads', '--isa', '--peers', '--rounds', '--only', '--json'],
    examples: [
      ['bench', 'every kernel at the best instruction set'],
      ['bench correlate --peers', 'the correlator beside OpenBLAS, in turn'],
      ['bench correlate --backend cuda --json', 'the X-engine on a card, beside its int8 ceiling'],
      ['bench correlate --backend cuda --integrated', 'the same fed through the bus, 8-bit and 4-bit'],
      ['bench receive', "packets by a loopback socket, the native ring beside TypeScript's"],
      ['bench channelise --only channels=4096,taps=8', 'one case, by its parameters'],
      ['bench correlate --isa all --threads 1 --json', 'every level on one core, for machines'],
    ],
  });
}

async function run(kernel: string | undefined, options: BenchOptions): Promise<void> {
  const terminal = openTerminal(options);
  const wanted = options.integrated ? `${kernel ?? 'correlate'}-integrated` : kernel;
  const chosen = wanted === undefined ? benches : benches.filter((bench) => bench.kernel === wanted);
  if (chosen.length === 0) {
    refuse('bench', `'${wanted ?? ''}' is not a kernel`, `choose ${benches.map((b) => b.kernel).join(', ')}`);
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
        ...(isa === undefined ? {} : { isa }),
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
        'try --backend cpu or cuda; corella devices says which are here',
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
      const measuring = { rounds: options.rounds, secondsPerTurn: SECONDS_PER_TURN };
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
