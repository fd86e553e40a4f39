/** corella bench: each kernel's rate, and the fraction of this machine's own measured ceiling. */
import type { Command } from 'commander';
import { levelsUpTo, parseIsa, type Isa } from '../backend/cpu/levels.js';
import { loadNative } from '../backend/cpu/library.js';
import { openBackend } from '../backend/select.js';
import { benches, openPeers, runCase, type BenchRow } from '../bench/index.js';
import { refuse } from '../core/errors.js';
import { addBackendOptions, addExamples, parseCount, type BackendOptions } from './command.js';
import { openTerminal, table } from './terminal.js';

interface BenchOptions extends BackendOptions {
  readonly isa?: string;
  readonly peers?: true;
  readonly integrated?: true;
  readonly rounds: number;
}

/** A turn long enough to forget the timer, short enough that the machine's mood lasts through a round. */
const SECONDS_PER_TURN = 0.03;

export function registerBench(program: Command): void {
  const names = benches.map(({ kernel }) => kernel).join(', ');
  const command = program
    .command('bench')
    .description("each kernel's rate, and the fraction of this machine's own measured ceiling")
    .argument('[kernel]', `one of ${names}; all unless given`)
    .option('--isa <level>', 'instruction set of the cpu backend, or "all" for every one present')
    .option('--peers', 'also run the same work by other libraries, in turn, and print the ratio')
    .option('--integrated', 'the kernel as data stream in from the host, uploads included (cuda)')
    .option('--rounds <number>', 'rounds of turns; more give a steadier median', parseCount, 9)
    .action(run);
  addBackendOptions(command);
  addExamples(command, [
    ['bench', 'every kernel at the best instruction set'],
    ['bench correlate --peers', 'the correlator beside OpenBLAS, in turn'],
    ['bench correlate --backend cuda --json', 'the X-engine on a card, beside its int8 ceiling'],
    ['bench correlate --backend cuda --integrated', 'the same fed through the bus, 8-bit and 4-bit'],
    ['bench correlate --isa all --threads 1 --json', 'every level on one core, as an array of rows'],
  ]);
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
  for (const isa of levelsOf(options.isa)) {
    const backend = await openBackend(options.backend, {
      ...(options.threads === undefined ? {} : { threads: options.threads }),
      ...(isa === undefined ? {} : { isa }),
    });
    try {
      for (const bench of chosen) {
        const stage = terminal.stage(`${bench.kernel} on ${backend.description}`);
        const cases = bench.cases(backend);
        for (const [n, each] of cases.entries()) {
          const measuring = { rounds: options.rounds, secondsPerTurn: SECONDS_PER_TURN };
          rows.push(await runCase(bench.kernel, backend, each, peers, measuring));
          stage.update((n + 1) / cases.length);
        }
        stage.done();
      }
    } finally {
      await backend.close();
    }
  }
  if (rows.length === 0) {
    refuse('bench', `${wanted ?? 'no kernel'} has nothing to measure on this backend`, 'try --backend cuda');
  }
  terminal.result(rows, asTable(rows));
}

function levelsOf(text: string | undefined): readonly (Isa | undefined)[] {
  if (text === undefined) return [undefined];
  if (text !== 'all') return [parseIsa('--isa', text)];
  const library = loadNative();
  return 'best' in library ? [...levelsUpTo(library.best)].reverse() : [undefined];
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(0)} %`;

function asTable(rows: readonly BenchRow[]): string[] {
  const withPeers = rows.some((row) => row.ratio !== undefined);
  const head = [
    'kernel',
    'on',
    'parameters',
    'rate',
    '±',
    'of ceiling',
    ...(withPeers ? ['peer', 'ratio'] : []),
  ];
  return table(
    head,
    rows.map((row) => [
      row.kernel,
      `${row.isa ?? row.backend} ×${row.threads}`,
      Object.entries(row.parameters)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
      `${row.median.toPrecision(3)} ${row.unit}`,
      percent(row.spread),
      `${percent(row.fraction)} of ${row.ceiling.toPrecision(3)} (${row.ceilingName})`,
      ...(row.ratio === undefined
        ? []
        : [`${row.peer?.toPrecision(3) ?? ''} ${row.peerName ?? ''}`, `${row.ratio.toFixed(1)} ×`]),
    ]),
  );
}
