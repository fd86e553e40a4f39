/** Messages from a consumer whose server may die at any moment: a pull that died with it is answered by nobody. */
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { sleep } from './connect.js';

const EXPIRES_MS = 1000;
const GUARD_MS = 3000;

/** The next message, or undefined after a while. Throws where the consumer is gone. */
export async function nextMessage(consumer: Consumer, stop?: AbortSignal): Promise<JsMsg | undefined> {
  const state = { isGivenUp: false };
  const pull = consumer.next({ expires: EXPIRES_MS }).then((message) => {
    // It came after all, and nobody is waiting for it any more.
    if (state.isGivenUp) message?.nak();
    return message ?? undefined;
  });
  pull.catch(() => undefined);
  // Jobs may come faster than a guard runs out: each goes with its pull.
  const over = new AbortController();
  try {
    const message = await Promise.race([pull, sleep(GUARD_MS, stop, over.signal)]);
    if (!message) state.isGivenUp = true;
    return message ?? undefined;
  } finally {
    over.abort();
  }
}

/** As many as are there, up to a number, waiting a moment for the first. */
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
      // Only asking may fail here and be forgiven: what fails in the work on a message is a fault of ours.
      const next = await messages.next().catch(() => ({ done: true as const, value: undefined }));
      if (next.done === true) return came;
      came++;
      await onMessage(next.value);
    }
  } finally {
    clearTimeout(guard);
  }
}
