/**
 * The program: finds the command, and runs it. It imports what --version and the list of commands need; everything else is
 * loaded when it is asked for.
 */
import { Command, CommanderError } from 'commander';
import { commands, type CommandEntry } from './commands.js';
import { withNewSpellings } from './startup/renamed.js';
import { escaped } from './report/escaped.js';
import { version } from '../core/program/version.js';

/** Runs what process.argv asks for: exit code 0 where everything was written, 1 where nothing, 2 where some was left out. */
export async function runProgram(): Promise<number> {
  const program = new Command('corella')
    .description(
      "A radio telescope's correlator and camera: antenna voltages in, calibrated images of the sky out.",
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this list')
    // A command's own help shows its arguments; beside them here nothing would be left to wrap in 80 columns.
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      visibleCommands: (command) => [...command.commands],
    })
    .showHelpAfterError('(add --help for the options and examples)')
    .configureOutput({
      outputError: (text, write) => {
        write(escaped(text.replace(/^error: /, 'corella: ')));
      },
    })
    .exitOverride();
  const [first = '', second = ''] = process.argv.slice(2);
  const wanted = first === 'help' ? second : first;
  const entry = Object.hasOwn(commands, wanted) ? commands[wanted] : undefined;
  try {
    if (first === 'help' && !entry && second !== '' && !second.startsWith('-')) {
      const { explanationOf, looksLikeCode } = await import('./help.js');
      if (looksLikeCode(second)) {
        process.stdout.write(explanationOf(second));
        return 0;
      }
    }
    if (entry) await addCommand(program, entry);
    // For the list of commands, and for advice on what was meant, names and summaries do.
    else listCommands(program);
    await program.parseAsync(await askedWords());
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { report } = await import('./startup/report.js');
    return report(error, { failed: entry?.failure ?? 1 });
  }
}

function listCommands(program: Command): void {
  for (const [name, { group, summary }] of Object.entries(commands))
    program.command(name).helpGroup(`${group}:`).description(summary);
  program.addHelpText(
    'after',
    '\nStart with: corella demo\ncorella COMMAND --help shows what a command does,\ncorella help CODE what a message means.',
  );
}

/** With its options, and the code behind them. */
async function addCommand(program: Command, { load, about }: CommandEntry): Promise<void> {
  const register = await load();
  register(program);
  const { finishProgram } = await import('./startup/every-command.js');
  program.commands[0].description(about);
  finishProgram(program);
}

/** help of an unknown command is that command: commander knows what was meant, but says so of commands alone. */
async function askedWords(): Promise<string[]> {
  const old: { readonly from: string; readonly to: string }[] = [];
  process.argv = [
    ...process.argv.slice(0, 2),
    ...withNewSpellings(process.argv.slice(2), (from, to) => old.push({ from, to })),
  ];
  if (old.length > 0) {
    const { note } = await import('./report/terminal.js');
    const { message } = await import('../messages/index.js');
    for (const one of old) note(message('option.renamed', one));
  }
  const [node, script, first, second = '-', ...more] = process.argv;
  const isOther = second.startsWith('-') || second === 'help' || Object.hasOwn(commands, second);
  return first === 'help' && !isOther ? [node, script, second, ...more] : process.argv;
}
