/** --feeds: how feeds are held, where a file does not state it. */
import { Option, type Command } from 'commander';
import { refuse } from '../../core/errors.js';
import type { FeedsWord } from '../../stages/index.js';
import { mounts } from '../../telescope/telescope.js';

export interface FeedsOptions {
  readonly feeds?: FeedsWord;
}

export const addFeedsOption = (command: Command): Command =>
  command.addOption(
    new Option(
      '--feeds <kind>',
      'how the feeds are held, their rotation not being applied in the data: altaz, equatorial, fixed; or corrected, applied already (default: what the telescope and the file state)',
    ).argParser(parseFeeds),
  );

function parseFeeds(text: string): FeedsWord {
  const words = [...mounts, 'corrected'] as const;
  return (
    words.find((word) => word === text) ??
    refuse('--feeds', `'${text}' is not understood`, `write ${words.join(', ')}`)
  );
}
