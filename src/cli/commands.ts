/** Every command, in the order of --help. A new command is one file and one line here. */
import type { RegisterCommand } from './command.js';

export const commands: readonly RegisterCommand[] = [];
