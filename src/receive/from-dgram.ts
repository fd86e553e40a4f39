/** Packets from a Node socket: for small arrays, and for machines without the native library. */
import { Bell, surveyedBy, type Arrivals } from './arrivals.js';
import { kernelDropsAt, openSocket } from './dgram-socket.js';
import type { OpenFedRing } from './from-capture.js';
import { planListening } from './listen.js';
import type { RingPlan } from './plan.js';
import type { ListenOrigin } from './survey-socket.js';

export async function arriveByDgram(
  plan: RingPlan,
  settings: ListenOrigin,
  open: OpenFedRing,
): Promise<Arrivals> {
  const bell = new Bell();
  const ring = open(plan, bell.ring);
  const { socket: given } = settings;
  if (given?.by === 'native') throw new Error("a native socket for Node's ring");
  const listening = planListening(settings);
  const { socket, dropped } = given?.handOver() ?? { socket: await openSocket(listening), dropped: 0 };
  if (given) socket.setRecvBufferSize(listening.receiveBufferBytes);
  const port = socket.address().port;
  const surveyed = given && surveyedBy(given, dropped);
  let state: 'listening' | 'stopped' = 'listening';
  let quietSince = process.hrtime.bigint();
  socket.on('message', (datagram) => {
    quietSince = process.hrtime.bigint();
    ring.feed(datagram, BigInt(Date.now()) * 1_000_000n);
  });
  const stop = (): void => {
    if (state === 'stopped') return;
    state = 'stopped';
    clearInterval(silence);
    ring.flush();
    socket.close();
    bell.ring();
  };
  // A broken socket ends the stream; received packets are delivered.
  socket.on('error', stop);
  const flushNs = BigInt(plan.flushMs) * 1_000_000n;
  const silence = setInterval(
    () => {
      if (process.hrtime.bigint() - quietSince < flushNs) return;
      quietSince = process.hrtime.bigint();
      ring.flush();
    },
    Math.max(10, plan.flushMs / 4),
  );
  // The kernel doubles the requested size and reports the doubled value.
  const dropsNow = (): number | undefined => {
    const all = kernelDropsAt(port);
    return all === undefined ? undefined : all - dropped;
  };
  let drops = dropsNow();
  const bufferBytes = socket.getRecvBufferSize() / (process.platform === 'linux' ? 2 : 1);
  return {
    plan,
    description: `Node's socket at ${settings.listen.address}:${port}`,
    next: async () => {
      for (;;) {
        const block = ring.take();
        if (block) return block;
        if (state === 'stopped') return undefined;
        await bell.rung();
      }
    },
    stop,
    account: () => ring.account(),
    surveyed,
    socket: () => {
      if (state === 'listening') drops = dropsNow();
      return { port, receiveBufferBytes: bufferBytes, kernelDrops: drops };
    },
    close: async () => {
      stop();
      await ring.close();
    },
  };
}
