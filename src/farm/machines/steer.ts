/**
 * One command for all machines of an observation, or for none. Two rounds: first every machine reports whether it could
 * apply the command from a future instant; only if all can, all apply it. The machines cut at the same instants, so the
 * change takes effect at the same sample everywhere.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { refuse } from '../../core/errors.js';
import { formatInstant } from '../../core/instant.js';
import { messageOf } from '../words.js';
import { onJson, sleep, type Queue } from '../queue/connect.js';
import { nats } from '../queue/nats.js';
import { subjectWord } from './health.js';
import { Proofs } from './proofs.js';

/** A change takes effect this far ahead: time for both rounds and the current block. */
const AHEAD_S = 2;
const ANSWER_MS = 700;
/** A prepared command that was never confirmed is forgotten after this time. */
const FORGET_MS = 10_000;

const callSchema = z.discriminatedUnion('round', [
  z.strictObject({
    round: z.literal('prepare'),
    id: z.string(),
    command: z.string(),
    body: z.record(z.string(), z.unknown()),
    who: z.string().max(200),
  }),
  z.strictObject({ round: z.literal('commit'), id: z.string() }),
  z.strictObject({ round: z.literal('abort'), id: z.string() }),
]);
const answerSchema = z.strictObject({
  machine: z.string(),
  isReady: z.boolean(),
  why: z.string().exactOptional(),
  from: z.string().exactOptional(),
  fromTick: z.string().exactOptional(),
});
/** A machine's answer to a round. */
export type SteerAnswer = z.infer<typeof answerSchema>;

/** When a command takes effect. */
interface Holds {
  readonly from: string;
  readonly fromTick: string;
}

/** What a machine can do. */
interface Steered {
  /** From the token of its page; commands without it are refused. */
  readonly proofs: Proofs;
  /** Refuses what `run` would refuse; changes nothing. */
  rehearse(command: string, body: unknown): Promise<Holds>;
  run(command: string, body: unknown, who: string): Promise<Holds>;
}

const subjectOf = (observation: string): string => `corella.${subjectWord(observation)}.steer`;

/** Answers both rounds; returns the function that stops it. */
export function answerSteering(
  queue: Queue,
  observation: string,
  machine: string,
  steered: Steered,
): () => void {
  const prepared = new Map<
    string,
    { readonly command: string; readonly body: unknown; readonly who: string }
  >();
  const answer = async (call: z.infer<typeof callSchema>): Promise<SteerAnswer | undefined> => {
    if (call.round === 'abort') {
      prepared.delete(call.id);
      return undefined;
    }
    if (call.round === 'prepare') {
      const { command, body, who, id } = call;
      const holds = await steered.rehearse(command, body);
      prepared.set(id, { command, body, who });
      setTimeout(() => prepared.delete(id), FORGET_MS).unref();
      return { machine, isReady: true, from: holds.from, fromTick: holds.fromTick };
    }
    const one =
      prepared.get(call.id) ?? refuse('steer', 'nothing of that name was prepared here', 'steer again');
    prepared.delete(call.id);
    const holds = await steered.run(one.command, one.body, one.who);
    return { machine, isReady: true, from: holds.from, fromTick: holds.fromTick };
  };
  return onJson(queue, subjectOf(observation), callSchema, (call, message) => {
    const refusal = steered.proofs.refusal(message);
    void (refusal === undefined ? answer(call) : Promise.reject(new Error(refusal)))
      .catch((error: unknown): SteerAnswer => ({ machine, isReady: false, why: messageOf(error) }))
      .then((said) => {
        if (!said || !message.reply || queue.connection.isClosed()) return;
        const text = JSON.stringify(said);
        message.respond(text, { headers: steered.proofs.headersFor(message.reply, text) });
      });
  });
}

interface Round {
  readonly observation: string;
  readonly proofs: Proofs;
  readonly machines: readonly string[];
}

/** One round, until all have answered or the time is over. Without the token a machine can only refuse. */
async function round(
  queue: Queue,
  { observation, proofs, machines }: Round,
  call: z.infer<typeof callSchema>,
): Promise<Map<string, SteerAnswer>> {
  const answers = new Map<string, SteerAnswer>();
  const proven = new Set<string>();
  const inbox = nats().createInbox();
  const done = new AbortController();
  const end = onJson(queue, inbox, answerSchema, (answer, message) => {
    const { machine, isReady } = answer;
    const isProven = proofs.refusal(message) === undefined;
    if (!isProven && (isReady || proven.has(machine))) return;
    if (isProven) proven.add(machine);
    answers.set(machine, answer);
    if (machines.every((one) => answers.has(one))) done.abort();
  });
  const [subject, text] = [subjectOf(observation), JSON.stringify(call)];
  queue.connection.publish(subject, text, { reply: inbox, headers: proofs.headersFor(subject, text) });
  await sleep(ANSWER_MS, done.signal);
  end();
  return answers;
}

interface SteerRequest {
  readonly command: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly who: string;
  /** Token of the machines' pages. */
  readonly token?: string;
  /** The machines that must be able to; either all of them apply it or none. */
  readonly machines: readonly string[];
}

/** Steers all machines. Refused if one cannot or does not answer; then no machine has changed anything. */
export async function steerAll(
  queue: Queue,
  observation: string,
  request: SteerRequest,
): Promise<SteerAnswer[]> {
  const { command, who, machines, token } = request;
  if (token === undefined)
    refuse(
      'steer',
      "needs the token of the machines' pages",
      'give `page-token-file`, the file that each machine has as page.token-file',
    );
  if (machines.length === 0)
    refuse(observation, 'no machine of this observation answered', 'check the name and the server');
  const aheadS = Date.now() / 1000 + AHEAD_S;
  const from = formatInstant({ unixSeconds: Math.floor(aheadS), fraction: aheadS % 1 }, 6);
  const id = randomUUID();
  // Values in the body itself take precedence; `stop` has no instant.
  const body = command === 'stop' || 'from' in request.body ? request.body : { ...request.body, from };
  const all = { observation, machines, proofs: new Proofs(token) };
  const abort = (): Promise<unknown> =>
    round(queue, { ...all, machines: [] }, { round: 'abort', id }).catch(() => undefined);
  const ready = await round(queue, all, { round: 'prepare', id, command, body: { ...body }, who });
  const unable = machines.flatMap((one) => {
    const said = ready.get(one);
    return said?.isReady === true ? [] : [`${one}: ${said?.why ?? 'no answer'}`];
  });
  if (unable.length > 0) {
    await abort();
    refuse(
      observation,
      `nothing was changed; ${unable.join('; ')}`,
      'put that right, or name the machines with --machines',
    );
  }
  const moments = new Set([...ready.values()].map((one) => one.from));
  if (moments.size > 1) {
    await abort();
    refuse(
      observation,
      `nothing was changed; it would take effect at ${[...moments].join(' and ')} on different machines`,
      'start all with products.visibilities.align: utc and the same products.visibilities.integration',
    );
  }
  const done = await round(queue, all, { round: 'commit', id });
  return machines.map(
    (machine) =>
      done.get(machine) ?? {
        machine,
        isReady: false,
        why: 'no answer to the command; look at its page',
      },
  );
}
