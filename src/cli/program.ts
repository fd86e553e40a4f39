/** The program: finds the command, runs it, and turns what goes wrong into one line and an exit code. */
import { Command, CommanderError } from 'commander';
import { InterruptedError } from '../core/ending.js';
import { HELP_OPTION, nameOptionsInErrors, refuseExcess } from './options/command.js';
import { refuseNamedTwice } from './options/outputs.js';
import { commands } from './commands.js';
import { escaped } from './report/escaped.js';
import { failureText } from './report/failure.js';
import { errorText } from './report/json.js';
import { Differs, EXIT_PARTLY, NotPassed, PartlyDone } from './report/outcome.js';
import { version } from './report/version.js';

/** Runs what process.argv asks for: exit code 0 where everything was written, 1 where nothing, 2 where some was left out. */
export async function runProgram(): Promise<number> {
  const program = new Command('corella')
    .description(
      "A radio telescope's correlator and camera: antenna voltages in, calibrated images of the sky out.",
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption(...HELP_OPTION)
    // A command's own help shows its arguments; beside them here nothing would be left to wrap in 80 columns.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError('(add --help for the options and examples)')
    .configureOutput({
      outputError: (text, write) => {
        write(escaped(text.replace(/^error: /, 'corella: ')));
      },
    })
    .exitOverride();
  // All of them for --help and for advice on what was meant.
  const [wanted = ''] = process.argv.slice(2);
  const load = Object.hasOwn(commands, wanted) ? [commands[wanted]] : Object.values(commands);
  for (const register of await Promise.all(load.map((loaded) => loaded()))) register(program);
  program.commands.forEach(nameOptionsInErrors);
  program.hook('preAction', (_, command) => refuseNamedTwice(command));
  refuseExcess(program);
  try {
    await program.parseAsync(askedWords());
    return 0;
  } catch (error) {
    return report(error);
  }
}

/** help of an unknown command is that command: commander knows what was meant, but says so of commands alone. */
function askedWords(): string[] {
  const [node, script, first, second = '-', ...more] = process.argv;
  const isOther = second.startsWith('-') || second === 'help' || Object.hasOwn(commands, second);
  return first === 'help' && !isOther ? [node, script, second, ...more] : process.argv;
}

function report(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (error instanceof PartlyDone) {
    process.stderr.write(`corella: ${escaped(error.message)}\n`);
    return EXIT_PARTLY;
  }
  if (error instanceof NotPassed || error instanceof Differs) {
    process.stderr.write(`corella: ${escaped(error.message)}
`);
    return 1;
  }
  // Of compare 1 means that files differ.
  const failed = process.argv[2] === 'compare' ? 2 : 1;
  if (process.argv.includes('--json')) process.stdout.write(`${errorText(error, process.argv[2])}\n`);
  // Commander has said so already.
  if (error instanceof CommanderError) return failed;
  process.stderr.write(failureText(error));
  return error instanceof InterruptedError ? error.exitCode : failed;
}
