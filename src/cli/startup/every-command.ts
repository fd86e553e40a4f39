/** What holds for every command, once its options are known. */
import type { Command } from 'commander';
import { nameOptionsInErrors, refuseExcess } from '../options/command.js';
import { refuseNamedTwice } from '../options/outputs.js';

export function finishProgram(program: Command): void {
  program.commands.forEach(nameOptionsInErrors);
  program.hook('preAction', (_, command) => refuseNamedTwice(command));
  refuseExcess(program);
}
