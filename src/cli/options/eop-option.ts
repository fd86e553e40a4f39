/** --eop, for every command that knows where the sky stands; and the word to the user when no table reaches a date. */
import type { Command } from 'commander';
import { readEarthOrientation } from '../../sky/earth/orientation-file.js';
import { onUnknownOrientation, useEarthOrientation } from '../../sky/earth/orientation.js';

/** Says once the command is done which dates no table reaches, where no line of progress is drawn over it. */
export function noteUnknownOrientation(command: Command): Command {
  const words: string[] = [];
  return command
    .hook('preAction', () => {
      onUnknownOrientation((told) => words.push(told));
    })
    .hook('postAction', () => {
      for (const told of words.splice(0)) process.stderr.write(`note: ${told}\n`);
    });
}

export function addEopOption(command: Command): Command {
  return noteUnknownOrientation(command)
    .option(
      '--eop <path>',
      "the Earth's orientation: a finals2000A or EOP C04 file of the IERS, newer than the one built in",
    )
    .hook('preAction', async () => {
      const { eop } = command.opts<{ eop?: string }>();
      useEarthOrientation(eop === undefined ? 'built-in' : await readEarthOrientation(eop));
    });
}
