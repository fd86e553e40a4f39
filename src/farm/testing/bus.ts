/** A message bus within one process that works like a NATS server: for tests of the messages. */
import { headers as emptyHeaders, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import type { Queue } from '../queue/connect.js';

interface Publishing {
  readonly reply?: string;
  readonly headers?: MsgHdrs;
}

export interface Bus {
  /** A connected client. */
  readonly queue: Queue;
  /** All published messages. */
  readonly seen: readonly { readonly subject: string; readonly text: string; readonly headers?: MsgHdrs }[];
}

export function openBus(): Bus {
  const listeners = new Set<{
    readonly subject: string;
    readonly callback: (error: null, message: Msg) => void;
  }>();
  const seen: { subject: string; text: string; headers?: MsgHdrs }[] = [];
  const publish = (
    subject: string,
    data: string | Uint8Array = '',
    { reply, headers }: Publishing = {},
  ): void => {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    seen.push({ subject, text: new TextDecoder().decode(bytes), headers });
    const message = {
      subject,
      data: bytes,
      reply,
      headers: headers ?? emptyHeaders(),
      json: () => JSON.parse(new TextDecoder().decode(bytes)) as unknown,
      respond: (answer?: string | Uint8Array, options?: Publishing) => {
        if (reply !== undefined) publish(reply, answer, options);
        return reply !== undefined;
      },
    } as unknown as Msg;
    for (const one of [...listeners])
      if (one.subject === subject)
        queueMicrotask(() => {
          one.callback(null, message);
        });
  };
  const connection = {
    publish,
    isClosed: () => false,
    subscribe: (subject: string, { callback }: { callback: (error: null, message: Msg) => void }) => {
      const one = { subject, callback };
      listeners.add(one);
      return { unsubscribe: () => listeners.delete(one) };
    },
  };
  return { seen, queue: { connection, isUp: () => true } as unknown as Queue };
}
