/** corella bench: each kernel's rate, and its fraction of this machine's measured ceiling. */
import type { Command } from 'commander';
import { benchNames, COMMANDS, parseOnly } from '../bench/index.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { field, whole, words } from '../fields/index.js';
import { addFields, type Options } from './options/own.js';
import { computing, given } from './options/shared.js';
import { whenRun } from './options/command.js';

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
    help: 'rounds of measurements; more give a steadier median (default: 9, of commands 3)',
  }),
  only: field(
    z.string().transform((text) => parseOnly(text)),
    {
      flag: '--only <name=value,...>',
      changes,
      help: 'only the cases with these parameters, like channels=4096,taps=8',
    },
  ),
  large: field(given, {
    flag: '--large',
    changes,
    help: 'commands also with a recording of 2 GB and 53 million values of visibilities, and what each costs for its data',
  }),
  ...computing,
});
export type BenchOptions = Options<typeof benchOptions>;

export function registerBench(program: Command): void {
  const command = program
    .command('bench')
    .argument('[kernel]', `one of ${benchNames.join(', ')}, all by default; or ${COMMANDS}: whole commands`);
  addFields(command, benchOptions).action(whenRun(async () => (await import('./actions/bench.js')).run));
  addHelp(command, {
    common: ['--backend', '--threads', '--isa', '--peers', '--rounds', '--only', '--large', '--json'],
    examples: [
      ['bench', 'every kernel at the best instruction set'],
      ['bench correlate --peers', 'the correlator beside OpenBLAS, in turn'],
      ['bench correlate --backend cuda --json', 'the X-engine on a card, beside its int8 ceiling'],
      ['bench correlate --backend cuda --integrated', 'the same fed through the bus, 8-bit and 4-bit'],
      ['bench receive', "packets by a loopback socket, the native ring beside TypeScript's"],
      ['bench channelise --only channels=4096,taps=8', 'one case, by its parameters'],
      ['bench commands --only command=inspect', 'CPU time and memory of one command, beside h5py'],
      ['bench commands --large', 'every command, beside its kernels, WSClean and h5py'],
      ['bench correlate --isa all --threads 1 --json', 'every level on one core, for machines'],
    ],
  });
}
