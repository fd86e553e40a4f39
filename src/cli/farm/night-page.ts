/** corella farm night --page: all machines of an observation on one page. */
import { stoppable } from '../../core/ending.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { listenToNight, steerAll, type Access, type Queue } from '../../farm/index.js';
import {
  openPage,
  pageAddress,
  JoinedPage,
  tokenOf,
  type JoinedMachine,
  type PlanView,
} from '../../serve/index.js';
import { pageLines, tokenIsFor } from '../live/page-lines.js';
import type { Terminal } from '../report/terminal.js';
import { version } from '../../core/program/version.js';

interface PageOptions {
  readonly page?: string | true;
  readonly pageTokenFile?: string;
  readonly json?: boolean;
}

/** Runs until a signal arrives. */
export async function showNight(
  queue: Queue,
  night: string,
  { server }: Access,
  options: PageOptions,
  terminal: Terminal,
): Promise<void> {
  const say = (line: string): void => {
    terminal.say(line);
  };
  const { pageTokenFile } = options;
  const token = pageTokenFile === undefined ? undefined : await tokenOf(pageTokenFile, 'refuse');
  const stop = stoppable('farm night');
  const joined = new JoinedPage({
    night,
    onFrame: (frame) => {
      page.state.newest = joined.newest;
      page.state.show(frame);
    },
    onChange: ({ machine, what }) => {
      say(`${machine} ${what}`);
      page.note(machine, what);
    },
    onNew: () => {
      ears.ask();
    },
    steer: async (command, body, who, machines) => {
      const answers = await steerAll(queue, night, {
        command,
        body: body as Record<string, unknown>,
        machines,
        who: `${who}, all machines`,
        token,
      });
      const bad = answers.filter(({ isReady }) => !isReady);
      if (bad.length > 0)
        refuse(
          'steer',
          bad.map(({ machine, why }) => `${machine}: ${why ?? 'no answer'}`).join('; '),
          'the others did it: look at the pages of these',
        );
      const [{ from = '', fromTick = '' }] = answers;
      return { from, fromTick };
    },
  });
  const page = await openPage({
    ...pageAddress(options.page === true ? undefined : options.page),
    token,
    facts: {
      description: `the machines of ${night}, at ${server}`,
      backend: 'several machines',
      version: version(),
      isLive: true,
      folder: '.',
    },
    joined,
    stop: () => undefined,
    say,
  });
  // Spectra are only on each machine's own page.
  page.state.spectra = { at: () => [] };
  let damaged = '';
  const ears = listenToNight(queue, night, {
    health: (health) => {
      joined.word(health);
    },
    machineState: (book) => {
      joined.stateOf({
        ...book,
        ...(book.plan && { plan: book.plan as unknown as PlanView }),
      } as JoinedMachine);
      page.publish('plan');
    },
    image: (bytes) => {
      try {
        joined.image(bytes);
      } catch (error) {
        if (!(error instanceof CorellaError)) throw error;
        // Logged once, since it repeats every second.
        if (error.message !== damaged) say(error.message);
        damaged = error.message;
      }
    },
  });
  ears.ask();
  for (const line of pageLines(page, {
    tokenFile: pageTokenFile,
    tokenOption: '--page-token-file',
    tokenIs: tokenIsFor(options),
    shows: 'the sky of all machines',
  }))
    say(line);
  try {
    await new Promise<void>((resolve) => {
      stop.signal.addEventListener('abort', () => {
        resolve();
      });
    });
  } finally {
    ears.end();
    await page.close();
    stop.release();
  }
}
