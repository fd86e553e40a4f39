/**
 * Images of an observation's machines, and each machine's state, over NATS. Images are published as they are made,
 * without waiting for receivers: a machine that is not connected misses them. Large images are sent in pieces that any
 * server accepts.
 */
import { randomUUID } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { z } from 'zod';
import { CHUNK_BYTES } from '../queue/chunks.js';
import { onJson, onMessage, type Queue } from '../queue/connect.js';
import { nats } from '../queue/nats.js';
import type { Proofs } from './proofs.js';
import { healthSchema, machineSubject, minuteSchema, subjectWord, type Health } from './health.js';

const IMAGE = 'Corella-Image';
const PIECE = 'Corella-Piece';
const MOST_PIECES = 1024;

const stateSubject = (observation: string): string => `corella.${subjectWord(observation)}.book`;

/** Publishes an image; it is not kept if the server is away. */
export function publishImage(queue: Queue, observation: string, machine: string, bytes: Uint8Array): void {
  const { connection } = queue;
  if (!queue.isUp()) return;
  const id = randomUUID();
  const pieces = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  for (let n = 0; n < pieces; n++) {
    const head = nats().headers();
    head.set(IMAGE, id);
    head.set(PIECE, `${n}/${pieces}`);
    connection.publish(
      machineSubject(observation, 'image', machine),
      bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES),
      {
        headers: head,
      },
    );
  }
}

const stateSchema = z.looseObject({
  machine: z.string(),
  startedUnixS: z.number(),
  minutes: z.array(minuteSchema),
  plan: z.looseObject({}).exactOptional(),
  /** What may have been changed since the start, once there are data. */
  steered: z
    .strictObject({ flagged: z.array(z.int()), integrationS: z.number(), recording: z.boolean() })
    .exactOptional(),
});
/** What data a machine has of the observation, and what it makes. */
export type MachineState = z.infer<typeof stateSchema>;

/** Answers requests for this machine's state; returns the function that stops it. */
export const answerState = (
  queue: Queue,
  observation: string,
  machineState: () => MachineState,
  proofs: Proofs,
): (() => void) =>
  onMessage(queue, stateSubject(observation), (message) => {
    if (!message.reply || queue.connection.isClosed()) return;
    const text = JSON.stringify(machineState());
    message.respond(text, { headers: proofs.headersFor(message.reply, text) });
  });

interface MachineListener {
  readonly health?: (health: Health) => void;
  readonly image?: (bytes: Uint8Array) => void;
  readonly machineState?: (machineState: MachineState) => void;
  /** If given, states from machines with another token are refused: they would steer this machine. */
  readonly proofs?: Proofs;
  readonly refused?: (machine: string, why: string) => void;
}

interface MachineListening {
  /** Asks all machines for their state; answers come one by one. */
  ask(): void;
  end(): void;
}

/** Reassembles images. One at a time per machine: a new image means that a piece of the previous one was lost. */
function gathering(): (message: Msg, image: (bytes: Uint8Array) => void) => void {
  const begun = new Map<string, { readonly id: string; readonly pieces: (Uint8Array | undefined)[] }>();
  return ({ subject, headers: head, data }, image) => {
    const id = head?.get(IMAGE) ?? '';
    const [n, of] = (head?.get(PIECE) ?? '').split('/').map(Number);
    if (id === '' || !(of >= 1 && of <= MOST_PIECES) || !(n >= 0 && n < of)) return;
    const before = begun.get(subject);
    const one =
      before?.id === id && before.pieces.length === of
        ? before
        : { id, pieces: new Array<Uint8Array | undefined>(of).fill(undefined) };
    begun.set(subject, one);
    // Copied: the client reuses its memory.
    one.pieces[n] = Uint8Array.prototype.slice.call(data);
    if (one.pieces.some((piece) => piece === undefined)) return;
    begun.delete(subject);
    image(Buffer.concat(one.pieces as Uint8Array[]));
  };
}

/** Subscribes to those messages of an observation's machines that have a callback in `listener`. */
export function listenToNight(
  queue: Queue,
  observation: string,
  { health, image, machineState, proofs, refused }: MachineListener,
): MachineListening {
  const { connection } = queue;
  const pieces = gathering();
  const inbox = nats().createInbox();
  const ends: (() => void)[] = [];
  if (health) ends.push(onJson(queue, machineSubject(observation, 'health'), healthSchema, health));
  if (machineState)
    ends.push(
      onJson(queue, inbox, stateSchema, (state, message) => {
        const refusal = proofs?.refusal(message);
        if (refusal === undefined) machineState(state);
        else refused?.(state.machine, refusal);
      }),
    );
  if (image)
    ends.push(
      onMessage(queue, machineSubject(observation, 'image'), (message) => {
        pieces(message, image);
      }),
    );
  return {
    ask: () => {
      if (!connection.isClosed()) connection.publish(stateSubject(observation), '', { reply: inbox });
    },
    end: () => {
      for (const end of ends) end();
    },
  };
}
