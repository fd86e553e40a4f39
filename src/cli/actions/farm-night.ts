/** What corella farm night does, loaded when it runs. */
import { userInfo } from 'node:os';
import { refuse } from '../../core/errors.js';
import { formatHz, formatSeconds } from '../../core/units.js';
import {
  connectQueue,
  receiveHealth,
  openServerWarning,
  steerAll,
  type Health,
  type Queue,
  type SteerAnswer,
} from '../../farm/index.js';
import { tokenOf } from '../../serve/index.js';
import { PartlyDone } from '../report/outcome.js';
import { openTerminal, table } from '../report/terminal.js';
import { accessOf } from '../farm/access-options.js';
import { showNight } from '../farm/night-page.js';
import type { NightOptions } from '../farm/night.js';

export async function run(name: string, options: NightOptions): Promise<void> {
  const terminal = openTerminal(options);
  const reached = (await accessOf(options)) ?? { server: 'nats://127.0.0.1:4222' };
  if (options.page !== undefined && options.steer !== undefined)
    refuse('--page', 'and --steer exclude each other', 'steer by the page, or without it');
  const queue = await connectQueue(reached, 'corella farm night');
  const warning = openServerWarning(queue);
  if (warning !== undefined) terminal.say(warning);
  try {
    if (options.page !== undefined) {
      await showNight(queue, name, reached, options, terminal);
      return;
    }
    if (options.steer === undefined) {
      const machines = await receiveHealth(queue, name);
      terminal.result(
        { night: name, machines },
        machines.length === 0 ? [`no machine of ${name} was found`] : table(HEAD, machines.map(rowOf)),
      );
      return;
    }
    const answers = await steer(queue, name, options.steer, options);
    terminal.result(
      { night: name, answers },
      answers.map(
        (one) =>
          `${one.machine}: ${one.isReady ? `from ${one.from ?? ''}, tick ${one.fromTick ?? ''}` : (one.why ?? '')}`,
      ),
    );
    const silent = answers.filter(({ isReady }) => !isReady).map(({ machine }) => machine);
    if (silent.length > 0) throw new PartlyDone(`${silent.join(', ')} did not do what the others did`);
  } finally {
    await queue.close();
  }
}

async function steer(
  queue: Queue,
  night: string,
  text: string,
  { machines, pageTokenFile }: NightOptions,
): Promise<SteerAnswer[]> {
  const parts = /^(\w+)\s*(\{.*\})?$/s.exec(text.trim());
  if (!parts)
    refuse('--steer', `'${text}' is no command`, 'write it like: flags {"inputs":["stand17"],"flag":true}');
  let body: unknown;
  try {
    body = JSON.parse(parts.at(2) ?? '{}');
  } catch {
    refuse('--steer', `'${parts[2]}' is no JSON`, 'write it like: {"seconds":5}');
  }
  const who =
    machines?.split(',').map((one) => one.trim()) ??
    (await receiveHealth(queue, night)).map(({ machine }) => machine);
  return steerAll(queue, night, {
    command: parts[1],
    body: body as Record<string, unknown>,
    machines: who,
    ...(pageTokenFile !== undefined && { token: await tokenOf(pageTokenFile, 'refuse') }),
    who: `${userInfo().username}, all machines`,
  });
}

const HEAD = ['machine', 'band', 'state', 'newest sample', 'age', 'present', 'recording', 'page'];

const rowOf = (one: Health): string[] => [
  one.machine,
  one.bandHz ? `${formatHz(one.bandHz[0])} to ${formatHz(one.bandHz[1])}` : '–',
  one.word,
  one.newestSample ?? '–',
  one.dataAgeS === undefined ? '–' : formatSeconds(one.dataAgeS),
  one.presentPercent === undefined ? '–' : `${one.presentPercent.toFixed(1)} %`,
  one.recording,
  one.page,
];
