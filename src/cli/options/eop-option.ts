/** --eop and --orbits, for every command that depends on sky positions; warns if no table covers a date. */
import type { Command } from 'commander';
import { message } from '../../messages/index.js';
import { note } from '../report/terminal.js';

/** Reports dates outside the tables after the command is done, when no progress line is drawn. */
export function noteUnknownOrientation(command: Command): Command {
  const warnings: string[] = [];
  return command
    .hook('preAction', async () => {
      const { onUnknownOrientation } = await import('../../sky/earth/orientation.js');
      onUnknownOrientation((words) => warnings.push(words));
    })
    .hook('postAction', () => {
      for (const what of warnings.splice(0)) note(message('sky.orientation-unknown', { what }));
    });
}

export function useEop(command: Command): Command {
  return noteUnknownOrientation(command).hook('preAction', async () => {
    const { eop, orbits, oldOrbits } = command.opts<{ eop?: string; orbits?: string; oldOrbits?: boolean }>();
    const { useSky } = await import('../../sky/use-sky.js');
    await useSky({ eop, orbits, 'old-orbits': oldOrbits });
  });
}
