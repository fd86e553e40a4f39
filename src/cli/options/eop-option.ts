/** --eop, for every command that depends on where the sky is; and the word to the user when no table reaches a date. */
import type { Command } from 'commander';
import { message } from '../../messages/index.js';
import { readEarthOrientation } from '../../sky/earth/orientation-file.js';
import { note } from '../report/terminal.js';
import { onUnknownOrientation, useEarthOrientation } from '../../sky/earth/orientation.js';

/** Says once the command is done which dates no table reaches, where no line of progress is drawn over it. */
export function noteUnknownOrientation(command: Command): Command {
  const words: string[] = [];
  return command
    .hook('preAction', () => {
      onUnknownOrientation((told) => words.push(told));
    })
    .hook('postAction', () => {
      for (const what of words.splice(0)) note(message('sky.orientation-unknown', { what }));
    });
}

export function useEop(command: Command): Command {
  return noteUnknownOrientation(command).hook('preAction', async () => {
    const { eop } = command.opts<{ eop?: string }>();
    useEarthOrientation(eop === undefined ? 'built-in' : await readEarthOrientation(eop));
  });
}
