/**
 * The program: finds the command and runs it. Imports only what --version and the list of commands need; everything
 * else is loaded on demand.
 */
import { Command, CommanderError } from 'commander';
import { commands, type CommandEntry } from './commands.js';
import { withNewSpellings } from './startup/renamed.js';
import { escaped } from './report/escaped.js';
import { version } from '../core/program/version.js';

/** Runs the command of process.argv: exit code 0 if everything was written, 1 if nothing, 2 if some was left out. */
export async function runProgram(): Promise<number> {
  const program = new Command('corella')
    .description(
      "A radio telescope's correlator and camera: antenna voltages in, calibrated images of the sky out.",
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this list')
    // A command's own help shows its arguments; here they would leave too little of the 80 columns.
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
    // The list of commands, and suggestions for misspelt names, need only names and summaries.
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

/** Adds a command with its options and code. */
async function addCommand(program: Command, { load, about }: CommandEntry): Promise<void> {
  const register = await load();
  register(program);
  const { finishProgram } = await import('./startup/every-command.js');
  program.commands[0].description(about);
  finishProgram(program);
}

/** For help of an unknown command, run that name: commander suggests names only for commands. */
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
