/** The options of corella live; what runs it is loaded when it runs. */
import type { Command } from 'commander';
import { addLiveOptions, type LiveOptions } from './options.js';

export const registerLive = (program: Command): void => {
  const command = program.command('live');
  const flags = addLiveOptions(command);
  command.action(async (origins: readonly string[], options: LiveOptions) =>
    (await import('../live.js')).run(origins, options, flags),
  );
};
