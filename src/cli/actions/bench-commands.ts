/** What corella bench commands does: every command in a process of its own. */
import { openBackend } from '../../backend/select.js';
import {
  commandCases,
  COMMANDS,
  fileSizes,
  findPeers,
  measureCase,
  openFiles,
  perData,
  pickCases,
  type CommandRow,
} from '../../bench/index.js';
import { beforeEnding } from '../../core/ending.js';
import { closingAfter } from '../../core/closing.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import { threadsOf } from '../options/command.js';
import { openTable, openTerminal } from '../report/terminal.js';
import type { BenchOptions } from '../bench.js';

const ROUNDS = 3;

export function runCommands(options: BenchOptions): Promise<void> {
  for (const flag of ['isa', 'peers', 'integrated', 'backend'] as const)
    if (options[flag] !== undefined && options[flag] !== 'auto')
      refuse(`--${flag}`, 'is of kernels, and commands run as users run them', 'leave it out');
  const terminal = openTerminal(options);
  const all = commandCases(
    Object.values(fileSizes).filter(({ name }) => options.large === true || name !== 'large'),
  );
  const cases = pickCases([{ kernel: COMMANDS, cases: all }], options.only ?? new Map<string, string>());
  const rows: CommandRow[] = [];
  const callOff = options.json
    ? beforeEnding(() => {
        terminal.result({ rows: [], commands: rows }, []);
      })
    : (): void => undefined;
  const stage = terminal.stage(COMMANDS);
  const table = openTable([
    { head: 'command', width: Math.max(...all.map(({ parameters }) => parameters.command.length)) },
    ...['file', 'CPU s', 'wall s', 'memory', 'kernels s'].map((head) => ({ head, width: 8 })),
    { head: 'ratio', width: 7 },
    { head: 'measured beside', width: 0 },
  ]);
  return closingAfter(async (closers) => {
    const files = await openFiles([process.execPath, process.argv[1]], closers);
    const peers = await findPeers();
    for (const name of peers.absent) terminal.say(`${name} is left out: it is not installed`);
    const backend = await openBackend('cpu', threadsOf(options)).catch(() => undefined);
    if (backend) closers.keep(backend);
    terminal.show(table.head);
    const add = (row: CommandRow): void => {
      rows.push(row);
      terminal.show([table.line(cellsOf(row))]);
    };
    const some = cases.flatMap((picked) => picked.cases);
    for (const [n, one] of some.entries()) {
      const { command, file } = one.parameters;
      stage.at(n / some.length, `${n + 1} of ${some.length}, ${command}, ${file}`);
      const settings = {
        corella: [process.execPath, process.argv[1]],
        files,
        peers,
        rounds: options.rounds ?? ROUNDS,
      };
      try {
        add(await measureCase(one, { ...settings, backend: backend?.kind === 'cpu' ? backend : undefined }));
      } catch (error) {
        if (!(error instanceof CorellaError)) throw error;
        terminal.say(`${command} of the ${file} file is left out: ${error.message}`);
        continue;
      }
      const before = n > 0 ? some[n - 1] : undefined;
      const [less, more] = rows.slice(-2);
      const isLast = n === some.length - 1 || some[n + 1].each !== one.each;
      if (isLast && before?.each === one.each && less.command === one.each.command)
        add(perData(one.each, [less, more], [before.size, one.size]));
    }
    stage.done();
    if (rows.length === 0) refuse('bench', 'no command could be measured', 'see above why');
    terminal.result({ rows: [], commands: rows }, []);
  }).finally(callOff);
}

const seconds = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

const cellsOf = (row: CommandRow): string[] => [
  row.command,
  row.file,
  seconds(row.cpuS),
  seconds(row.wallS),
  formatBytes(row.peakBytes),
  row.kernelsS === undefined ? '' : seconds(row.kernelsS),
  row.ratio === undefined ? '' : `${row.ratio.toFixed(1)} ×`,
  row.peerCpuS === undefined ? '' : `${row.peer ?? ''}, ${seconds(row.peerCpuS)} s`,
];
