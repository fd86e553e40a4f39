/**
 * A machine that joins an observation late, or restarts, adopts the others' current state: flags, integration length,
 * whether files are written. Until then its images do not match theirs.
 */
import { parseInstant, secondsBetween, type Instant } from '../../core/instant.js';
import type { Queue } from '../queue/connect.js';
import { listenToNight, type MachineState } from './images.js';
import type { Proofs } from './proofs.js';

/** What may have been changed since the start. */
export type SteeredState = NonNullable<MachineState['steered']>;

interface Adopter {
  /** Undefined while nothing can be steered. */
  steered(): SteeredState | undefined;
  command(
    name: string,
    body: unknown,
    who: string,
    mode: 'run' | 'rehearse',
  ): Promise<{ readonly from: string }>;
}

export interface Adoption {
  /** Whether an image that begins then is made with the others' settings. */
  holdsAt(start: Instant): boolean;
  end(): void;
}

const LOOK_MS = 200;
/** Time allowed for the others' answers. */
const ANSWERS_MS = 800;

/** Of several machines, the one that has run longest; differences between the machines are reported. */
export function elderOf(
  machineStates: readonly MachineState[],
  machine: string,
  say: (line: string) => void,
): SteeredState | undefined {
  const others = machineStates
    .filter((machineState) => machineState.machine !== machine && machineState.steered)
    .sort((x, y) => x.startedUnixS - y.startedUnixS);
  const kinds = new Set(others.map(({ steered }) => JSON.stringify(steered)));
  if (kinds.size > 1)
    say(
      `the other machines differ in their flags or integrations: ${others[0].machine}, the eldest, is followed`,
    );
  return others.at(0)?.steered;
}

/** The commands that turn one state into another. Pure. */
export function commandsBetween(
  own: SteeredState,
  wanted: SteeredState,
): readonly (readonly [name: string, body: Readonly<Record<string, unknown>>])[] {
  const more = wanted.flagged.filter((input) => !own.flagged.includes(input));
  const fewer = own.flagged.filter((input) => !wanted.flagged.includes(input));
  return [
    ...(more.length > 0 ? [['flags', { inputs: more, flag: true }] as const] : []),
    ...(fewer.length > 0 ? [['flags', { inputs: fewer, flag: false }] as const] : []),
    ...(own.integrationS === wanted.integrationS
      ? []
      : [['integration', { seconds: wanted.integrationS }] as const]),
    ...(own.recording === wanted.recording
      ? []
      : [['recording', { do: wanted.recording ? 'start' : 'stop' }] as const]),
  ];
}

/** Begins as soon as there is something to steer. */
export function adoptNight(
  queue: Queue,
  observation: string,
  machine: string,
  page: Adopter,
  proofs: Proofs,
  say: (line: string) => void,
): Adoption {
  const machineStates = new Map<string, MachineState>();
  const ears = listenToNight(queue, observation, {
    machineState: (machineState) => {
      machineStates.set(machineState.machine, machineState);
    },
    proofs,
    refused: (other, why) => {
      if (other !== machine)
        say(
          `not following ${other}, whose page has another token (${why}): give all machines one page.token-file`,
        );
    },
  });
  let since: Instant | 'always' | undefined;
  let isAsking = false;
  const adopt = async (): Promise<void> => {
    ears.ask();
    await new Promise((resolve) => setTimeout(resolve, ANSWERS_MS));
    const [own, wanted] = [page.steered(), elderOf([...machineStates.values()], machine, say)];
    const commands = own && wanted ? commandsBetween(own, wanted) : [];
    let latest: Instant | undefined;
    for (const [name, body] of commands) {
      try {
        const from = parseInstant((await page.command(name, body, 'the other machines', 'run')).from);
        if (!latest || secondsBetween(latest, from) > 0) latest = from;
      } catch (error) {
        say(`not as the other machines have it: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (commands.length > 0) say(`as the other machines: ${commands.map(([name]) => name).join(', ')}`);
    since = latest ?? 'always';
    ears.end();
  };
  const timer = setInterval(() => {
    if (isAsking || !page.steered()) return;
    isAsking = true;
    clearInterval(timer);
    void adopt();
  }, LOOK_MS);
  return {
    holdsAt: (start) => since === 'always' || (since !== undefined && secondsBetween(since, start) > -1e-6),
    end: () => {
      clearInterval(timer);
      ears.end();
    },
  };
}
