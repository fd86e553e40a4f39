/** A machine among others of one night: it says how it fares, and is steered with them. */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import type { Closable } from '../../core/closing.js';
import type { Instant } from '../../core/instant.js';
import { refuse } from '../../core/errors.js';
import {
  answerBook,
  answerSteering,
  connectQueue,
  openServerWarning,
  Proofs,
  tellHealth,
  tellImage,
  type Access,
  type Book,
  type Health,
} from '../../farm/index.js';
import type { NightView, PlanView, Status } from '../../serve/index.js';
import { version } from '../../core/program/version.js';
import { accessOf } from '../farm/access-options.js';
import { adoptNight, type SteeredState } from './adopt.js';

export interface MachineOptions {
  readonly server?: string;
  readonly serverTokenFile?: string;
  readonly nkey?: string;
  readonly creds?: string;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly night?: string;
  readonly machine?: string;
}

export const addMachineOptions = (command: Command): Command =>
  command
    .optionsGroup('Several machines:')
    .option(
      '--server <url>',
      'a NATS server through which they are seen and steered together, like nats://head:4222',
    )
    .option('--server-token-file <path>', 'the token that it asks for')
    .option('--nkey <path>', 'or a file with the seed of an NKey')
    .option('--creds <path>', 'or a file of credentials')
    .option('--tls-ca <path>', 'the authority that signed its certificate')
    .option('--tls-cert <path>', 'our own certificate, where it asks for one')
    .option('--tls-key <path>', 'and its key')
    .option('--night <name>', 'name that all machines of one telescope share (default: night)')
    .option('--machine <name>', 'what this one is called (default: its host name)');

/** What a machine is asked for. */
export interface Steerable {
  readonly url: string;
  /** That lets one steer. */
  readonly token: string;
  readonly startedUnixS: number;
  status(): Status;
  plan(): PlanView | undefined;
  night(): NightView;
  /** Calls back with this machine's part of an image, about once a second. */
  onPart(machine: string, listener: (part: Uint8Array, start: Instant) => void): void;
  /** What may have been changed since the start; undefined before there are data. */
  steered(): SteeredState | undefined;
  bandHz(): readonly [number, number] | undefined;
  command(
    name: string,
    body: unknown,
    who: string,
    mode: 'run' | 'rehearse',
  ): Promise<{ from: string; fromTick: string }>;
}

/** Undefined where no server was named. */
export function accessOfMachine(options: MachineOptions): Promise<Access | undefined> {
  const { server, serverTokenFile, nkey, creds, tlsCa, tlsCert, tlsKey } = options;
  return accessOf({
    ...(server === undefined ? {} : { server }),
    ...(serverTokenFile === undefined ? {} : { tokenFile: serverTokenFile }),
    ...(nkey === undefined ? {} : { nkey }),
    ...(creds === undefined ? {} : { creds }),
    ...(tlsCa === undefined ? {} : { tlsCa }),
    ...(tlsCert === undefined ? {} : { tlsCert }),
    ...(tlsKey === undefined ? {} : { tlsKey }),
  });
}

/** Joins the others; nothing where no server was named. A server that goes away disturbs nothing. */
export async function joinMachines(
  options: MachineOptions,
  page: Steerable | undefined,
  say: (line: string) => void,
): Promise<Closable | undefined> {
  const { night = 'night' } = options;
  const access = await accessOfMachine(options);
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
  const silence = tellHealth(queue, night, () => healthOf(machine, page));
  const release = answerSteering(queue, night, machine, {
    proofs,
    rehearse: (command, body) => page.command(command, body, 'all machines', 'rehearse'),
    // All who steer share the token: whose it was, only they themselves say.
    run: (command, body, who) => page.command(command, body, `${who} (name not verified)`, 'run'),
  });
  const book = (): Book => {
    const plan = page.plan();
    const { minutes } = page.night();
    const steered = page.steered();
    return {
      ...{ machine, startedUnixS: page.startedUnixS, minutes: minutes.map((one) => ({ ...one })) },
      ...(plan && { plan: { ...plan } }),
      ...(steered && { steered }),
    };
  };
  const close = answerBook(queue, night, book, proofs);
  const adoption = adoptNight(queue, night, machine, page, proofs, say);
  page.onPart(machine, (part, start) => {
    if (!page.steered() || adoption.holdsAt(start)) tellImage(queue, night, machine, part);
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

/** Each second: who was away for less than this misses nothing. */
const TOLD_MINUTES = 5;

function healthOf(machine: string, page: Steerable): Health {
  const status = page.status();
  const band = page.bandHz();
  return {
    ...{ machine, version: version(), page: page.url, state: status.state, word: status.word },
    ...(band && { bandHz: [band[0], band[1]] as [number, number] }),
    ...(status.newestSample === undefined ? {} : { newestSample: status.newestSample }),
    ...(status.dataAgeS === undefined ? {} : { dataAgeS: status.dataAgeS }),
    ...(status.image && { imageAgeS: status.image.ageS }),
    ...(status.integration && { presentPercent: status.integration.presentPercent }),
    ...{ recording: status.recording.state, steerable: status.steerable },
    startedUnixS: page.startedUnixS,
    minutes: page
      .night()
      .minutes.slice(-TOLD_MINUTES)
      .map((one) => ({ ...one })),
  };
}
