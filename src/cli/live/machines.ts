/** One of several machines of an observation: it publishes its status and receives commands. */
import { hostname } from 'node:os';
import type { Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import {
  adoptNight,
  answerState,
  answerSteering,
  connectQueue,
  openServerWarning,
  Proofs,
  publishHealth,
  publishImage,
  type MachineState,
  type Health,
} from '../../farm/index.js';
import type { Steerable } from '../../serve/index.js';
import { version } from '../../core/program/version.js';
import { accessOf } from '../farm/access-options.js';
import type { MachineOptions } from './options.js';

/** Joins the others; undefined without a server. A server that disconnects does no harm. */
export async function joinMachines(
  options: MachineOptions,
  page: Steerable | undefined,
  say: (line: string) => void,
): Promise<Closable | undefined> {
  const { night = 'night' } = options;
  const access = await accessOf(options);
  if (!access) return undefined;
  if (!page)
    refuse(
      '--server',
      'is for a night with a page: what is steered is steered through it',
      'leave out --no-page, or give --page PORT',
    );
  const machine = options.machine ?? hostname();
  const queue = await connectQueue(access, `corella live ${machine}`);
  const warning = openServerWarning(queue);
  if (warning !== undefined) say(warning);
  const proofs = new Proofs(page.token);
  const silence = publishHealth(queue, night, () => healthOf(machine, page));
  const release = answerSteering(queue, night, machine, {
    proofs,
    rehearse: (command, body) => page.command(command, body, 'all machines', 'rehearse'),
    // All users share the token, so names in commands are not verified.
    run: (command, body, who) => page.command(command, body, `${who} (name not verified)`, 'run'),
  });
  const machineState = (): MachineState => {
    const plan = page.plan();
    const { minutes } = page.night();
    const steered = page.steered();
    return {
      machine,
      startedUnixS: page.startedUnixS,
      minutes: minutes.map((one) => ({ ...one })),
      ...(plan && { plan: { ...plan } }),
      ...(steered && { steered }),
    };
  };
  const close = answerState(queue, night, machineState, proofs);
  const adoption = adoptNight(queue, night, machine, page, proofs, say);
  page.onPart(machine, (part, start) => {
    if (!page.steered() || adoption.holdsAt(start)) publishImage(queue, night, machine, part);
  });
  say(`machine ${machine} of ${night}, at ${access.server}`);
  return {
    close: async () => {
      silence();
      release();
      close();
      adoption.end();
      await queue.close();
    },
  };
}

/** Repeated each second: machines that were away for less than this receive everything. */
const MINUTES_SHOWN = 5;

function healthOf(machine: string, page: Steerable): Health {
  const status = page.status();
  const band = page.bandHz();
  return {
    machine,
    version: version(),
    page: page.url,
    state: status.state,
    word: status.word,
    ...(band && { bandHz: [band[0], band[1]] as [number, number] }),
    ...(status.newestSample === undefined ? {} : { newestSample: status.newestSample }),
    ...(status.dataAgeS === undefined ? {} : { dataAgeS: status.dataAgeS }),
    ...(status.image && { imageAgeS: status.image.ageS }),
    ...(status.integration && { presentPercent: status.integration.presentPercent }),
    recording: status.recording.state,
    steerable: status.steerable,
    startedUnixS: page.startedUnixS,
    minutes: page
      .night()
      .minutes.slice(-MINUTES_SHOWN)
      .map((one) => ({ ...one })),
  };
}
