/** Sky models named by --sources. */
import type { Command } from 'commander';
import type { CommonOptions } from './command.js';

/** Reads the sky model files named by --sources, before the work. */
export const prepareSources = (command: Command): Command =>
  command.hook('preAction', async () => {
    const options = command.opts<CommonOptions & { sources: string }>();
    const { reportSkyModels } = await import('./sky-options.js');
    await reportSkyModels(options.sources, options);
  });
