/** Messages from a consumer whose server may die at any moment: a pull that died with it is never answered. */
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { sleep } from './connect.js';

const EXPIRES_MS = 1000;
const GUARD_MS = 3000;

/** The next message, or undefined after a while. Throws if the consumer is gone. */
export async function nextMessage(consumer: Consumer, stop?: AbortSignal): Promise<JsMsg | undefined> {
  const state = { isGivenUp: false };
  const pull = consumer.next({ expires: EXPIRES_MS }).then((message) => {
    // It arrived after all, but the wait is over.
    if (state.isGivenUp) message?.nak();
    return message ?? undefined;
  });
  pull.catch(() => undefined);
  // Jobs may arrive faster than a guard expires: each guard ends with its pull.
  const over = new AbortController();
  try {
    const message = await Promise.race([pull, sleep(GUARD_MS, stop, over.signal)]);
    if (!message) state.isGivenUp = true;
    return message ?? undefined;
  } finally {
    over.abort();
  }
}

/** As many as are available, up to a number, waiting a moment for the first. */
export async function someMessages(
  consumer: Consumer,
  most: number,
  onMessage: (message: JsMsg) => Promise<void>,
): Promise<number> {
  const batch = await consumer.fetch({ max_messages: most, expires: EXPIRES_MS });
  const guard = setTimeout(() => {
    batch.stop();
  }, GUARD_MS);
  let came = 0;
  const messages = batch[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Only the request may fail without consequence; a failure in processing a message is our own fault.
      const next = await messages.next().catch(() => ({ done: true as const, value: undefined }));
      if (next.done === true) return came;
      came++;
      await onMessage(next.value);
    }
  } finally {
    clearTimeout(guard);
  }
}
