/** HTTP for a page of several machines: the few answers that differ from those of one machine. */
import { refuse } from '../../core/errors.js';
import type { Commands } from '../commands.js';
import type { Get } from '../http.js';
import type { Journal } from '../journal.js';
import type { Status } from '../messages.js';
import type { Joined } from './joined.js';

export function readsOfAll(joined: Joined, status: () => Status): Readonly<Record<string, Get>> {
  const elsewhere: Get = () =>
    refuse('page', "is each machine's own", "GET machines, and ask the machine's page");
  return {
    status: () => ({ json: status() }),
    plan: () => {
      const plan = joined.plan();
      return plan && { json: plan };
    },
    observation: () => ({ json: joined.observation() }),
    machines: () => ({ json: joined.machines() }),
    ...Object.fromEntries(
      [
        'sources',
        'antennas',
        'gains',
        'chain',
        'images/again',
        'images/latest.png',
        'images/latest.fits',
      ].map((name) => [name, elsewhere]),
    ),
  };
}

/** Commands go to all machines or to none, and are also logged here. */
export const steeringAll = (
  joined: Joined,
  own: Commands,
  journal: Journal,
): Pick<Commands, 'run' | 'acknowledge'> => ({
  run: async (name, body, who) => {
    const { from, fromTick, what } = await joined.command(name, body, who);
    const { number } = journal.add({ who, what, ...(fromTick !== '' && { fromTick, from }) });
    return { accepted: true, from, fromTick, journal: number };
  },
  acknowledge: (id, who) => own.acknowledge(id, who),
});
