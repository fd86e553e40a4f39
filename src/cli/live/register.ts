/** The options of corella live; what runs it is loaded when it runs. */
import type { Command } from 'commander';
import { addLiveOptions, type GivenOptions } from './options.js';

export const registerLive = (program: Command): void => {
  addLiveOptions(program.command('live')).action(
    async (origins: readonly string[], given: GivenOptions, command: Command) =>
      (await import('../live.js')).run(origins, given, command),
  );
};
