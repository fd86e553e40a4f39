/** The options of corella live; the code that runs it is loaded at run time. */
import type { Command } from 'commander';
import { addLiveOptions, type LiveOptions } from './options.js';

export const registerLive = (program: Command): void => {
  const command = program.command('live');
  const flags = addLiveOptions(command);
  command.action(async (origins: readonly string[], options: LiveOptions) =>
    (await import('../live.js')).run(origins, options, flags),
  );
};
