/** Common setup of every command after its options are known. */
import type { Command } from 'commander';
import { formatHelp, HELP_OPTION } from './help.js';
import { nameOptionsInErrors, refuseExcess } from '../options/command.js';
import { useFlagsOf } from '../options/in-flags.js';
import { refuseNamedTwice } from '../options/outputs.js';

export function finishProgram(program: Command): void {
  program.commands.forEach(setHelp);
  program.commands.forEach(nameOptionsInErrors);
  program.hook('preAction', (_, command) => {
    useFlagsOf(command);
  });
  program.hook('preAction', (_, command) => refuseNamedTwice(command));
  refuseExcess(program);
}

function setHelp(command: Command): void {
  command.configureHelp({ ...command.configureHelp(), formatHelp }).helpOption(...HELP_OPTION);
  command.commands.forEach(setHelp);
}
